"""The head around the brain: meninges, skull, face, eyes, muscle, fat and skin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .head_brain import DURA, NAMES, VESSELS, Brain, cerebellum, cerebrum, paint_brain, stem
from .head_shapes import Floats, Points, Waves, blend, ellipsoid, tube

AIR, FAT, MUSCLE, SKIN, SKULL, AROUND_FAT, MARROW = (
    NAMES.index(name) for name in ("background", "fat", "muscle", "muscle/skin", "skull", "around fat", "marrow")
)
_SKIN = 2.4  # mm thick


@dataclass(frozen=True)
class Head:
    """What differs from one head to the next."""

    scale: Floats  # (3,)
    bends: tuple[Waves, Waves, Waves]  # so that no head is symmetric
    thickness: Waves
    fibres: Waves
    brain: Brain

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Head:
        """Draw a head.

        Examples
        --------
        >>> Head.draw(np.random.default_rng(0)).scale.shape
        (3,)
        """
        bends = (Waves.draw(110.0, rng, 6), Waves.draw(110.0, rng, 6), Waves.draw(110.0, rng, 6))
        return cls(
            scale=rng.uniform(0.95, 1.01, 3),
            bends=bends,
            thickness=Waves.draw(60.0, rng, 8),
            fibres=Waves.draw(34.0, rng, 12),
            brain=Brain.draw(rng),
        )


def paint_head(points: Points, head: Head) -> NDArray[np.uint8]:
    """Return the tissue at each point, in mm to the right, forward and up from the middle of the brain.

    Examples
    --------
    >>> at = tuple(np.array([v, 500.0]) for v in (0.0, -20.0, -26.0))
    >>> [NAMES[k] for k in paint_head(at, Head.draw(np.random.default_rng(0)))]
    ['WM', 'background']
    """
    p: Points = tuple(v / s for v, s in zip(points, head.scale.tolist()))
    labels = np.full(p[0].shape, AIR, dtype=np.uint8)
    near = ellipsoid(p, (0.0, 0.0, 0.0), (105.0, 125.0, 125.0)) < 0  # nothing beyond is worth the arithmetic
    p = tuple(v[near] for v in p)
    p = tuple(v + 1.3 * bend(p) for v, bend in zip(p, head.bends))
    inner = _cavity(p)
    labels[near] = _paint_outside(p, inner, head)
    cavity = inner < 0
    inside = np.flatnonzero(near)[cavity]
    labels[inside] = paint_brain(tuple(v[cavity] for v in p), head.brain)
    return labels


def _cavity(p: Points) -> Floats:
    """Return the distance to the inner side of the dura."""
    brain = blend(blend(cerebrum(p), cerebellum(p), 14.0), stem(p) - 1.5, 10.0)
    full = blend(brain, ellipsoid(p, (0.0, -8.0, 4.0), (58.0, 74.0, 30.0)), 10.0) - 2.2
    return -blend(-full, _sella(p), 6.0)  # the bone that rises between the temporal lobes


def _sella(p: Points) -> Floats:
    """Return the distance to the middle of the base of the skull."""
    return blend(ellipsoid(p, (0.0, 22.0, -34.0), (19.0, 24.0, 20.0)), tube(p, [(0, 4, -26, 9), (0, -6, -52, 9)]), 10.0)


def _temporal(p: Points) -> Floats:
    """Return 0 to 1: how much of a temporal muscle lies on the skull here."""
    away = ((p[1] - 28.0) / 36.0) ** 2 + ((p[2] + 8.0) / 42.0) ** 2 + ((np.abs(p[0]) - 66.0) / 26.0) ** 2
    return np.clip(1.6 * (1 - away), 0, 1)


def _outline(p: Points, inner: Floats) -> Floats:
    """Return the distance to the skin."""
    side = (np.abs(p[0]), p[1], p[2])
    vault = inner - 12.6 - 6.0 * _temporal(p)
    face = ellipsoid(p, (0.0, 46.0, -52.0), (54.0, 47.0, 56.0))
    neck = tube(p, [(0, -22, -60, 52), (0, -26, -130, 54)])
    nose = tube(p, [(0, 88, -20, 6), (0, 101, -44, 9)])
    wings = tube(side, [(0, 95, -46, 8), (9, 92, -48, 6)])
    ear = np.maximum(
        ellipsoid(side, (81.0, -16.0, -26.0), (7.0, 17.0, 27.0)), -ellipsoid(side, (88, -8, -24), (6, 10, 15))
    )
    body = blend(blend(vault, face, 22.0), neck, 24.0)
    return blend(blend(body, np.minimum(nose, wings), 9.0), ear, 5.0)


def _paint_outside(p: Points, inner: Floats, head: Head) -> NDArray[np.uint8]:
    side = (np.abs(p[0]), p[1], p[2])
    outline, temporal = _outline(p, inner), _temporal(p)
    wave, fibre = head.thickness(p), head.fibres(p)
    bone = 6.6 + 0.8 * wave + 1.5 * np.clip((-p[1] - 60) / 30, 0, 1)
    labels = np.full(outline.shape, FAT, dtype=np.uint8)
    # Deep in face and neck: muscle in bundles, with fat between.
    deep = (inner > bone + 6) & (outline < -_SKIN - 3.5 - 1.5 * wave)
    labels[deep] = np.where(np.abs(fibre) < 0.22, AROUND_FAT, MUSCLE)[deep]
    labels[(temporal > 0.15) & (outline < -_SKIN - 2.0)] = MUSCLE
    labels[(temporal > 0.15) & (inner < bone + 1.5)] = AROUND_FAT
    _paint_face(labels, p, inner, outline)
    labels[outline > -_SKIN] = SKIN
    shell = inner < bone
    labels[shell] = SKULL
    labels[shell & (np.abs(inner - bone / 2 - 0.4) < 1.3 + 0.5 * wave) & (p[2] > -40)] = MARROW
    base = _sella(p)
    labels[base < 0] = SKULL
    labels[(base < -2.5) & (inner > 3.5)] = MARROW
    sphenoid = ellipsoid(side, (7.0, 26.0, -30.0), (6.0, 10.0, 8.0))
    labels[sphenoid < 0] = AIR
    labels[inner < 1.1] = DURA
    sinus = np.hypot(p[0], inner - 0.6) < 3.4
    transverse = np.hypot(p[2] + 22.0 + 0.15 * (p[1] + 60), inner - 0.4) < 3.2
    labels[(sinus & (p[2] > -18) & (side[1] < 60)) | (transverse & (p[1] < -34))] = VESSELS
    frontal = ellipsoid(side, (9.0, 83.0, -6.0), (9.0, 4.0, 9.0))
    labels[(frontal < 0) & (inner > 2)] = AIR
    labels[outline > 0] = AIR
    return labels


def _paint_face(labels: NDArray[np.uint8], p: Points, inner: Floats, outline: Floats) -> None:
    """Paint orbits, jaw, airways and the great vessels of the neck, in place."""
    side = (np.abs(p[0]), p[1], p[2])
    free = inner > 3
    jaw = ellipsoid(side, (0.0, 62.0, -64.0), (34.0, 26.0, 17.0))
    cheek = tube(side, [(46, 62, -42, 5), (58, 30, -40, 3.5), (62, 6, -34, 3.5)])
    labels[((np.minimum(jaw, cheek) < 0) & free)] = SKULL
    labels[((np.minimum(jaw + 4, cheek + 2.4) < 0) & free)] = MARROW

    orbit = tube(side, [(31, 78, -26, 18), (30, 64, -26, 17), (17, 32, -22, 5)])
    wall = (orbit < 2.2) & (orbit > 0) & (p[1] < 76)
    labels[wall & free] = SKULL
    labels[(orbit < 0) & free] = AROUND_FAT
    straps = [tube(side, [(31 + dx, 66, -26 + dz, 1.6), (18, 34, -22, 1.2)]) for dx, dz in ((12, 0), (-12, 0), (0, 12))]
    labels[(np.minimum.reduce(straps) < 0) & free] = MUSCLE
    eye = ellipsoid(side, (31.0, 74.0, -26.0), (12.0, 12.0, 12.0))
    labels[eye < 0] = MUSCLE
    labels[eye < -1.3] = VESSELS  # vitreous fluid
    labels[ellipsoid(side, (31.0, 82.0, -26.0), (4.6, 2.2, 4.6)) < 0] = MUSCLE  # lens

    nasal = np.maximum(ellipsoid(p, (0.0, 74.0, -44.0), (10.0, 24.0, 16.0)), 1.1 - side[0])
    antrum = ellipsoid(side, (25.0, 62.0, -50.0), (11.0, 13.0, 11.0))
    throat = tube(p, [(0, 52, -50, 7), (0, 26, -56, 8), (0, 20, -120, 9)])
    ear_canal = tube(side, [(84, -12, -32, 2.6), (56, -14, -34, 2.6)])
    air = np.minimum.reduce([nasal, antrum, throat, ear_canal])
    labels[(air < 1.6) & free & (outline < -1)] = SKIN  # mucosa
    labels[(air < 0) & free] = AIR
    turbinates = np.minimum(
        tube(side, [(6, 64, -50, 2), (6, 82, -50, 2)]), tube(side, [(6, 62, -40, 1.8), (6, 82, -40, 1.8)])
    )
    labels[(turbinates < 0) & free] = SKIN
    neck = np.minimum(
        tube(side, [(28, 2, -46, 3.2), (30, 0, -130, 4)]), tube(side, [(36, -8, -46, 4.2), (37, -6, -130, 5)])
    )
    labels[(neck < 0) & free] = VESSELS
