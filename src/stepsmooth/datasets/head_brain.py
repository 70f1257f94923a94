"""The brain of the head phantom: folded cortex, fissures, ventricles, deep nuclei, cerebellum and stem.

A folded cortex needs no surface mesh. Sulci are sheets that enter the brain across its surface, along the
zeros of a random wave; whatever lies near a sheet or the surface is CSF, then cortex, then white matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .head_shapes import Floats, Points, Waves, blend, ellipsoid, tube
from .tissues import BRAINWEB_3T

NAMES = tuple(BRAINWEB_3T)
CSF, GM, WM, VESSELS, DURA = (NAMES.index(name) for name in ("CSF", "GM", "WM", "vessels", "dura"))

_CENTRE, _RADII = (0.0, -4.0, 12.0), (65.0, 80.0, 60.0)
_CORTEX = 2.7  # mm thick
_RADIAL = 0.75  # 1: sulci point straight at the centre; 0: they wind as they like


@dataclass(frozen=True)
class Brain:
    """What differs from one brain to the next."""

    folds: Waves
    wander: tuple[Waves, Waves, Waves]  # of the sulci on their way in
    depths: Waves
    gaps: Waves
    ventricles: float  # width, 1 on average

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Brain:
        """Draw a brain.

        Examples
        --------
        >>> bool(0.8 < Brain.draw(np.random.default_rng(0)).ventricles < 1.35)
        True
        """
        return cls(
            folds=Waves.draw(24.5, rng, 40),
            wander=(Waves.draw(38.0, rng, 8), Waves.draw(38.0, rng, 8), Waves.draw(38.0, rng, 8)),
            depths=Waves.draw(55.0, rng, 12),
            gaps=Waves.draw(40.0, rng, 12),
            ventricles=float(rng.uniform(0.85, 1.3)),
        )


def cerebrum(p: Points) -> Floats:
    """Return the distance to the cerebrum's hull: an ellipsoid with a flat base, and the temporal lobes.

    Examples
    --------
    >>> at = tuple(np.array([v]) for v in (0.0, -4.0, 12.0))
    >>> bool(cerebrum(at)[0] < -20)
    True
    """
    side = (np.abs(p[0]), p[1], p[2])
    base = -12.0 + 5.0 * np.tanh((p[1] - 30.0) / 15.0) - p[2]
    upper = -blend(-ellipsoid(p, _CENTRE, _RADII), -base, 14.0)  # the intersection, its edge rounded
    return blend(upper, ellipsoid(side, (41.0, 8.0, -20.0), (22.0, 36.0, 20.0)), 10.0)


def cerebellum(p: Points) -> Floats:
    """Return the distance to the cerebellum's hull: two lobes that meet in the middle.

    Examples
    --------
    >>> at = tuple(np.array([v]) for v in (20.0, -52.0, -38.0))
    >>> bool(cerebellum(at)[0] < -15)
    True
    """
    side = (np.abs(p[0]), p[1], p[2])
    return blend(
        ellipsoid(side, (22.0, -53.0, -40.0), (28.0, 27.0, 21.0)),
        ellipsoid(p, (0.0, -50.0, -36.0), (12.0, 22.0, 20.0)),
        6.0,
    )


def stem(p: Points) -> Floats:
    """Return the distance to midbrain, pons and cord.

    Examples
    --------
    >>> at = tuple(np.array([v]) for v in (0.0, -22.0, -30.0))
    >>> bool(stem(at)[0] < -10)
    True
    """
    return tube(p, [(0, -14, -4, 12), (0, -18, -18, 11), (0, -20, -30, 14), (0, -28, -52, 8), (0, -36, -110, 6)])


def paint_brain(p: Points, brain: Brain) -> NDArray[np.uint8]:
    """Return the tissue of points within the skull.

    Examples
    --------
    >>> at = tuple(np.array([v]) for v in (0.0, -20.0, -26.0))
    >>> NAMES[paint_brain(at, Brain.draw(np.random.default_rng(0)))[0]]
    'WM'
    """
    labels = np.full(np.shape(p[0]), CSF, dtype=np.uint8)
    hull, little = cerebrum(p), cerebellum(p)
    # The tentorium halfway between the two, and the falx in the fissure between the hemispheres.
    tent = (np.abs(hull - little) < 1.4) & (hull > 0) & (hull < 5) & (p[1] < -18)
    falx = (np.abs(p[0]) < 0.8) & (hull > -26) & (_core(p) > 6) & (p[2] > 0)
    labels[tent | falx] = DURA

    within = hull < 0
    q = tuple(v[within] for v in p)
    labels[within] = np.where(labels[within] == DURA, DURA, _paint_cerebrum(q, -hull[within], brain))
    within = (little < 0) & ~within
    q = tuple(v[within] for v in p)
    labels[within] = _paint_cerebellum(q, -little[within], brain)
    labels[(stem(p) < 0) & ((labels == CSF) | (hull > -20) & (p[2] < -2))] = WM
    labels[ellipsoid(p, (0.0, -37.0, -32.0), (7.0, 4.5, 9.0)) < 0] = CSF  # fourth ventricle
    labels[_vessels(p)] = VESSELS
    return labels


def _core(p: Points) -> Floats:
    """Return the distance to the middle of the brain, where the hemispheres are joined."""
    return ellipsoid(p, (0.0, -6.0, 2.0), (30.0, 46.0, 27.0))


def _fissures(p: Points) -> tuple[Floats, Floats]:
    """Return the distances to the median fissure and to the Sylvian fissures with the insula at their end."""
    median = np.hypot(p[0], np.maximum(-_core(p), 0))
    side, rise = np.abs(p[0]), p[2] - (2.0 + 0.28 * (p[1] - 4.0))  # the plane of the Sylvian fissure rises
    cleft = np.sqrt(rise**2 + np.maximum(40.0 - side, 0) ** 2 + np.maximum(np.abs(p[1] - 6.0) - 30.0, 0) ** 2)
    bend = 40.0 - 0.006 * (p[1] - 6.0) ** 2
    beyond = np.maximum(np.abs(rise) - 11.0, 0) ** 2 + np.maximum(np.abs(p[1] - 6.0) - 25.0, 0) ** 2
    insula = np.sqrt((side - bend) ** 2 + beyond)
    return median, np.minimum(cleft, insula)


def _paint_cerebrum(p: Points, depth: Floats, brain: Brain) -> NDArray[np.uint8]:
    median, sylvian = _fissures(p)
    # Where the hemispheres are joined there is no cortex, so no sulcus either.
    surface = np.minimum(np.minimum(depth, sylvian), median + np.maximum(-3.0 * _core(p), 0))
    # Sulci run across the surface: the wave is taken nearer to where the ray from the centre meets the ellipsoid.
    level = np.sqrt(sum(((v - c) / r) ** 2 for v, c, r in zip(p, _CENTRE, _RADII)))
    stretch = np.maximum(level, 0.05) ** _RADIAL
    on = tuple((v - c) / stretch + c + 2.4 * w(p) for v, c, w in zip(p, _CENTRE, brain.wander))
    normal = tuple((v - c) / r**2 for v, c, r in zip(p, _CENTRE, _RADII))
    length = np.sqrt(sum(n**2 for n in normal)) + 1e-6
    sheet = brain.folds.to_zeros(on, tuple(n / length for n in normal)) * np.clip(stretch, 0.6, 1.1)
    reach = np.clip(16.0 + 5.0 * brain.depths(on), 9.0, 25.0)
    sulcus = np.hypot(sheet, np.maximum(surface - reach, 0))
    gap = np.clip(0.6 + 0.25 * brain.gaps(on), 0.3, 1.2)
    from_csf = np.minimum(np.minimum(depth, median - 1.3), np.minimum(sylvian - 1.4, sulcus - gap))
    labels = np.where(from_csf < 0, CSF, np.where(from_csf < _CORTEX, GM, WM)).astype(np.uint8)
    nuclei, ventricles = _deep(p, brain.ventricles)
    labels[(nuclei < 0) & (labels == WM)] = GM
    labels[ventricles < 0] = CSF
    return labels


def _deep(p: Points, width: float) -> tuple[Floats, Floats]:
    """Return the distances to the deep grey nuclei and to the ventricles."""
    side = (np.abs(p[0]), p[1], p[2])
    horn = [(11, 30, 6, 4 * width), (9, 14, 16, 5 * width), (9, -8, 19, 4.5 * width), (14, -26, 15, 5.5 * width)]
    back = [(14, -26, 15, 5.5 * width), (22, -38, 5, 6 * width), (20, -60, 5, 2 * width)]
    down = [(22, -38, 5, 6 * width), (30, -22, -12, 3 * width), (31, 0, -18, 2)]
    lateral = np.minimum(np.minimum(tube(side, horn), tube(side, back)), tube(side, down))
    lateral = np.maximum(lateral, 0.9 - side[0])  # the septum
    third = ellipsoid(p, (0.0, -10.0, 0.0), (2.2 * width, 13.0, 11.0))
    caudate = tube(side, [(15, 24, 4, 6.5), (17, 6, 13, 5), (18, -14, 17, 3), (20, -26, 14, 2)])
    turned = (side[0] + 0.22 * (p[1] - 4.0), p[1], p[2])
    putamen = ellipsoid(turned, (27.5, 4.0, 1.0), (5.0, 19.0, 11.0))
    pallidum = ellipsoid(turned, (19.5, 0.0, -1.0), (3.5, 10.0, 7.0))
    thalamus = ellipsoid((side[0] + 0.3 * (p[1] + 16.0), p[1], p[2]), (11.0, -16.0, 5.0), (8.0, 14.0, 9.0))
    hippocampus = tube(side, [(24, -36, -4, 3), (28, -22, -15, 4), (26, -4, -19, 5)])
    nuclei = np.minimum.reduce([caudate, putamen, pallidum, thalamus, hippocampus])
    return nuclei, np.minimum(lateral, third)


def _paint_cerebellum(p: Points, depth: Floats, brain: Brain) -> NDArray[np.uint8]:
    """Paint folia: sheets that fan out from the stem, 6 mm apart at the surface."""
    y, z = p[1] + 28.0, p[2] + 34.0
    radius = np.hypot(y, z)
    turn = (np.arctan2(z, -y) + 0.10 * brain.depths(p)) / 0.20
    sheet = np.abs(turn - np.round(turn)) * 0.20 * radius
    reach = np.where(np.round(turn) % 3 == 0, 15.0, 8.0)  # every third fissure is a deep one
    folium = np.hypot(sheet, np.maximum(depth - reach, 0)) - 0.45
    from_csf = np.minimum(depth, folium)
    labels = np.where(from_csf < 0, CSF, np.where(from_csf < 1.7, GM, WM)).astype(np.uint8)
    labels[ellipsoid((np.abs(p[0]), p[1], p[2]), (15.0, -48.0, -36.0), (6.0, 5.0, 4.0)) < 0] = GM  # dentate nucleus
    return labels


def _vessels(p: Points) -> NDArray[np.bool_]:
    """Return where the arteries at the base and the middle cerebral arteries run."""
    side = (np.abs(p[0]), p[1], p[2])
    carotid = tube(side, [(13, 6, -34, 2.4), (11, 12, -20, 2.4), (13, 8, -12, 2.2)])
    middle = tube(side, [(13, 8, -12, 2.0), (30, 8, -8, 1.7), (42, 6, 2, 1.6), (56, -4, 0, 1.2)])
    front = tube(side, [(11, 10, -12, 1.6), (1.6, 30, -4, 1.6), (1.4, 42, 10, 1.5), (1.2, 20, 34, 1.2)])
    basilar = tube(p, [(0, -4, -22, 1.8), (0, -10, -50, 1.8)])
    return np.asarray(np.minimum.reduce([carotid, middle, front, basilar]) < 0)
