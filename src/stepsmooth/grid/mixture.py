"""The classes: a level, a variance and a share each, and what a block or voxel says about its class.

An observation of class k under the field f has mean `gain * level_k + shift` with gain = e^f, shift = 0 if f
multiplies, and gain = 1, shift = f if it adds. A small uniform component takes what belongs to no class.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from stepsmooth.model.arrays import Floats, Ints

# The share of observations that belong to no class.
OUTLIERS = 0.01
# Sums are taken over pieces of this many observations, in a fixed order, so that they do not depend on threads.
PIECE = 4096


@dataclass(frozen=True)
class Classes:
    """Levels (M, p), noise variances (M, p) and proportions (M,), with the density of the outliers."""

    levels: Floats
    variances: Floats
    proportions: Floats
    outlier_density: float

    @property
    def count(self) -> int:
        """Return M."""
        return len(self.levels)

    def ordered(self) -> "Classes":
        """Return the classes by ascending level of the first channel."""
        return self.chosen(np.lexsort(self.levels.T[::-1]))

    def chosen(self, which: Ints) -> "Classes":
        """Return some of the classes, or the same in another order."""
        share = self.proportions[which]
        return Classes(self.levels[which], self.variances[which], share / share.sum(), self.outlier_density)


def outlier_density(Y: Floats) -> float:
    """Return the density of a uniform distribution over the box that the observations fill."""
    spans = np.ptp(Y, axis=0)
    return float(np.prod(1.0 / np.where(spans > 0.0, spans, 1.0)))


def gain_and_shift(f: Floats, multiplicative: bool) -> tuple[Floats, Floats]:
    """Return what f does to a level."""
    return (np.exp(f), np.zeros_like(f)) if multiplicative else (np.ones_like(f), f)


def posterior(Y: Floats, gain: Floats, shift: Floats, weights: Floats, classes: Classes) -> tuple[Floats, float]:
    """Return the probabilities of the classes (n, M), less than one in sum by the outliers' part, and log p(Y).

    Examples
    --------
    >>> classes = Classes(np.array([[0.0], [1.0]]), np.full((2, 1), 0.01), np.full(2, 0.5), 0.5)
    >>> q, loglik = posterior(np.array([[0.0], [1.0]]), np.ones(2), np.zeros(2), np.ones(2), classes)
    >>> q.round(2)
    array([[1., 0.],
           [0., 1.]])
    """
    with np.errstate(divide="ignore"):
        logs = np.log((1.0 - OUTLIERS) * classes.proportions)
    logs = logs - 0.5 * np.sum(np.log(2.0 * np.pi * classes.variances), axis=1)
    outlier = float(np.log(OUTLIERS * classes.outlier_density))
    q = np.empty((len(Y), classes.count))
    parts = np.zeros(-(-len(Y) // PIECE))
    # Threads cost more than they save on a small problem; the sums are the same either way.
    run = _posterior_threads if len(parts) >= 16 else _posterior
    run(Y, gain, shift, weights, classes.levels, 0.5 / classes.variances, logs, outlier, q, parts)
    return q, float(np.sum(parts))


@njit(cache=True)
def _piece(
    piece: int,
    Y: Floats,
    gain: Floats,
    shift: Floats,
    weights: Floats,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    outlier: float,
    q: Floats,
) -> float:
    n, p = Y.shape
    n_levels = len(levels)
    total = 0.0
    for i in range(piece * PIECE, min((piece + 1) * PIECE, n)):
        top = outlier
        for k in range(n_levels):
            value = logs[k]
            for c in range(p):
                value -= precision[k, c] * (Y[i, c] - gain[i] * levels[k, c] - shift[i]) ** 2
            q[i, k] = value
            top = max(top, value)
        mass = np.exp(outlier - top)
        for k in range(n_levels):
            q[i, k] = np.exp(q[i, k] - top)
            mass += q[i, k]
        for k in range(n_levels):
            q[i, k] /= mass
        total += weights[i] * (top + np.log(mass))
    return total


@njit(cache=True)
def _posterior(
    Y: Floats,
    gain: Floats,
    shift: Floats,
    weights: Floats,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    outlier: float,
    q: Floats,
    parts: Floats,
) -> None:
    for piece in range(len(parts)):
        parts[piece] = _piece(piece, Y, gain, shift, weights, levels, precision, logs, outlier, q)


@njit(parallel=True, cache=True)
def _posterior_threads(
    Y: Floats,
    gain: Floats,
    shift: Floats,
    weights: Floats,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    outlier: float,
    q: Floats,
    parts: Floats,
) -> None:
    for piece in prange(len(parts)):
        parts[piece] = _piece(piece, Y, gain, shift, weights, levels, precision, logs, outlier, q)


# A class of few observations takes its variance from the others: as if this many observations had the pooled one.
POOLED = 10.0


def update_classes(
    Y: Floats, gain: Floats, shift: Floats, weights: Floats, q: Floats, classes: Classes, *, keep_levels: bool = False
) -> Classes:
    """Return the classes that are best for given probabilities and a given field."""
    weighted = q * weights[:, None]
    mass = weighted.sum(axis=0)
    levels = classes.levels
    if not keep_levels:
        information = weighted.T @ gain**2
        moment = weighted.T @ (gain[:, None] * (Y - shift[:, None]))
        found = information > 1e-8 * information.sum()
        levels = np.where(found[:, None], moment / np.where(found, information, 1.0)[:, None], levels)
    return with_spread(Y, gain, shift, weighted, mass, levels, classes)


def with_spread(
    Y: Floats, gain: Floats, shift: Floats, weighted: Floats, mass: Floats, levels: Floats, classes: Classes
) -> Classes:
    """Return classes with given levels, and the variances and proportions of the weighted observations."""
    squares = np.empty_like(levels)
    for k in range(len(levels)):
        squares[k] = weighted[:, k] @ (Y - gain[:, None] * levels[k] - shift[:, None]) ** 2
    pooled = squares.sum(axis=0) / max(mass.sum(), 1e-300)
    floor = 1e-10 * np.var(Y, axis=0) + 1e-300
    variances = np.maximum((squares + POOLED * pooled) / (mass[:, None] + POOLED), floor)
    share = np.maximum(mass, 1e-12 * mass.sum() + 1e-300)
    return Classes(levels, variances, share / share.sum(), classes.outlier_density)
