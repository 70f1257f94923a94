"""Shapes for the head phantom: distances to bodies, to tubes, and to the folds of a random wave.

Distances are in mm, negative inside. Points come as three arrays of one shape, in mm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]  # single precision paints faster, and a micrometre is near enough
Points = Sequence[Floats]


def ellipsoid(p: Points, centre: Sequence[float], radii: Sequence[float]) -> Floats:
    """Return the distance to an ellipsoid, to first order near its surface.

    Examples
    --------
    >>> at = tuple(np.array([v]) for v in (12.0, 0.0, 0.0))
    >>> ellipsoid(at, (0, 0, 0), (10, 20, 30))
    array([2.])
    """
    scaled = [(v - c) / r for v, c, r in zip(p, centre, radii)]
    level = np.sqrt(sum(s**2 for s in scaled))
    slope = np.sqrt(sum((s / r) ** 2 for s, r in zip(scaled, radii)))
    # level / slope has no value at the very centre: there it is the shortest radius.
    return np.asarray((level - 1) * np.where(level > 1e-6, level / np.maximum(slope, 1e-9), min(radii)))


def tube(p: Points, nodes: Sequence[Sequence[float]]) -> Floats:
    """Return the distance to a chain of tapered rods, each node being (x, y, z, radius).

    Examples
    --------
    >>> at = tuple(np.array([v]) for v in (5.0, 0.0, 3.0))
    >>> tube(at, [(0, 0, 0, 1), (10, 0, 0, 3)])
    array([1.])
    """
    nearest = np.full_like(p[0], np.inf)
    for here, there in pairwise(nodes):
        step = [float(b - a) for a, b in zip(here[:3], there[:3])]
        along = sum((v - a) * d for v, a, d in zip(p, here, step)) / sum(d**2 for d in step)
        t = np.clip(along, 0, 1)
        away = np.sqrt(sum((v - a - t * d) ** 2 for v, a, d in zip(p, here, step)))
        np.minimum(nearest, away - (here[3] + t * (there[3] - here[3])), out=nearest)
    return nearest


def blend(first: Floats, second: Floats, width: float) -> Floats:
    """Return the union of two bodies, their seam rounded over `width` mm.

    Examples
    --------
    >>> blend(np.array([1.0]), np.array([9.0]), 4.0), blend(np.array([0.0]), np.array([0.0]), 4.0)
    (array([1.]), array([-1.]))
    """
    overlap = np.maximum(width - np.abs(first - second), 0) / width
    return np.asarray(np.minimum(first, second) - overlap**2 * width / 4)


@dataclass(frozen=True)
class Waves:
    """A smooth random function of space with one wavelength: plane waves in random directions.

    Its zeros wind about like sulci, half a wavelength apart.
    """

    vectors: Floats  # (n, 3), wave vectors in radians per mm
    phases: Floats

    @classmethod
    def draw(cls, wavelength: float, rng: np.random.Generator, count: int = 24) -> Waves:
        """Draw directions and phases.

        Examples
        --------
        >>> Waves.draw(20.0, np.random.default_rng(0)).vectors.shape
        (24, 3)
        """
        directions = rng.standard_normal((count, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return cls(2 * np.pi / wavelength * directions, rng.uniform(0, 2 * np.pi, count))

    def __call__(self, p: Points) -> Floats:
        """Return the function, of variance 1."""
        total = np.zeros_like(p[0])
        for k, phase in zip(self.vectors.tolist(), self.phases.tolist()):
            total += np.cos(k[0] * p[0] + k[1] * p[1] + k[2] * p[2] + phase)
        return np.asarray(total * math.sqrt(2 / len(self.phases)))

    def to_zeros(self, p: Points, normal: Points) -> Floats:
        """Return the distance to the nearest zero within the plane across `normal`, from value and slope."""
        value = np.zeros_like(p[0])
        slope = [np.zeros_like(value) for _ in range(3)]
        for k, phase in zip(self.vectors.tolist(), self.phases.tolist()):
            angle = k[0] * p[0] + k[1] * p[1] + k[2] * p[2] + phase
            value += np.cos(angle)
            sine = np.sin(angle)
            for axis in range(3):
                slope[axis] -= k[axis] * sine
        across = sum(s * n for s, n in zip(slope, normal))
        steepness = np.sqrt(sum((s - across * n) ** 2 for s, n in zip(slope, normal)))
        # A wave A sin(q t) has value v and slope s at distance atan(q v / s) / q from its zero.
        q = float(np.linalg.norm(self.vectors[0])) * math.sqrt(2 / 3)
        near = np.arctan2(q * np.abs(value), steepness) / q
        # Where the wave is faint, two zeros meet and neither is well defined: there the distance is made larger.
        usual = q * math.sqrt(1.5 * len(self.phases))
        faint = np.maximum(1 - np.hypot(q * value, steepness) / (0.25 * usual), 0)
        return np.asarray(near + 10.0 * faint)
