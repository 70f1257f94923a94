"""The classes: a level, a variance and a share each, and what a block or voxel says about its class.

An observation of class k under the field f has mean `gain * level_k + shift` with gain = e^f, shift = 0 if f
multiplies, and gain = 1, shift = f if it adds. A small uniform component takes what belongs to no class.
"""

from dataclasses import dataclass, replace

import numpy as np
from numba import njit, prange

from stepsmooth.grid.chunks import CHUNK, add_sums, channels_first, probabilities, weighted_sum
from stepsmooth.model.arrays import Floats, Ints

# The share of observations that belong to no class.
OUTLIERS = 0.01
# Sums are taken over pieces of this many observations, in a fixed order, so that they do not depend on threads.
PIECE = 8 * CHUNK
# So many pieces are worth several threads: on fewer they wait for each other longer than they work.
MANY = 32


@dataclass(frozen=True)
class Classes:
    """Levels (M, p), noise variances (M, p) and proportions (M,), with the density of the outliers.

    Classes that are `alike` have one variance in common, and keep it so.
    """

    levels: Floats
    variances: Floats
    proportions: Floats
    outlier_density: float
    alike: bool = False

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
        return replace(
            self, levels=self.levels[which], variances=self.variances[which], proportions=share / share.sum()
        )


def outlier_density(Y: Floats) -> float:
    """Return the density of a uniform distribution over the box that the observations fill."""
    spans = np.ptp(Y, axis=0)
    return float(np.prod(1.0 / np.where(spans > 0.0, spans, 1.0)))


def gain_and_shift(f: Floats, multiplicative: bool) -> tuple[Floats, Floats]:
    """Return what f does to a level."""
    return (np.exp(f), np.zeros_like(f)) if multiplicative else (np.ones_like(f), f)


def constants(classes: Classes) -> tuple[Floats, Floats, float]:
    """Return half precisions (M, p), log weights (M,), and the log density of the outliers."""
    with np.errstate(divide="ignore"):
        logs = np.log((1.0 - OUTLIERS) * classes.proportions)
    logs = logs - 0.5 * np.sum(np.log(2.0 * np.pi * classes.variances), axis=1)
    return 0.5 / classes.variances, logs, float(np.log(OUTLIERS * classes.outlier_density))


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
    q = np.empty((len(Y), classes.count))
    parts = np.zeros(-(-len(Y) // PIECE))
    # Threads cost more than they save on a small problem; the sums are the same either way.
    run = _posterior_threads if len(parts) >= MANY else _posterior
    run(Y, gain, shift, weights, classes.levels, *constants(classes), q, parts)
    return q, float(np.sum(parts))


@dataclass(frozen=True)
class Sums:
    """Sums over observations, weighted by the probability of each class: all that a step of EM needs.

    Mass and information gain^2 (M,); gain * residual and residual^2 (M, p), residuals from the classes' levels.
    """

    loglik: float
    mass: Floats
    information: Floats
    pull: Floats
    squares: Floats

    def moved(self, by: Floats) -> Floats:
        """Return the squares (M, p) from levels that moved."""
        return np.asarray(self.squares - 2.0 * by * self.pull + by**2 * self.information[:, None])


def class_sums(Y: Floats, gain: Floats, shift: Floats, weights: Floats, classes: Classes) -> Sums:
    """Return the sums over observations under their field."""
    M, p = classes.levels.shape
    parts = np.zeros((max(-(-len(Y) // PIECE), 1), 1 + M * (2 + 2 * p)))
    run = _sums_threads if len(parts) >= MANY else sums_of_pieces
    run(Y, gain, shift, weights, classes.levels, *constants(classes), parts)
    total = parts.sum(axis=0)
    table = total[1:].reshape(M, 2 + 2 * p)
    return Sums(float(total[0]), table[:, 0], table[:, 1], table[:, 2 : 2 + p], table[:, 2 + p :])


@njit(cache=True)
def _posterior_piece(
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
    M, p = levels.shape
    y, share, density, total = np.empty((p, CHUNK)), np.empty((M, CHUNK)), np.empty(CHUNK), 0.0
    for low in range(piece * PIECE, min((piece + 1) * PIECE, len(Y)), CHUNK):
        n = min(CHUNK, len(Y) - low)
        here = slice(low, low + n)
        channels_first(Y, low, n, y)
        probabilities(y, gain[here], shift[here], levels, precision, logs, outlier, share, density)
        total += weighted_sum(weights[here], density)
        for i in range(n):
            for k in range(M):
                q[low + i, k] = share[k, i]
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
        parts[piece] = _posterior_piece(piece, Y, gain, shift, weights, levels, precision, logs, outlier, q)


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
        parts[piece] = _posterior_piece(piece, Y, gain, shift, weights, levels, precision, logs, outlier, q)


@njit(cache=True)
def _sums_piece(
    piece: int,
    Y: Floats,
    gain: Floats,
    shift: Floats,
    weights: Floats,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    outlier: float,
    part: Floats,
) -> None:
    M, p = levels.shape
    y, q, density = np.empty((p, CHUNK)), np.empty((M, CHUNK)), np.empty(CHUNK)
    for low in range(piece * PIECE, min((piece + 1) * PIECE, len(Y)), CHUNK):
        n = min(CHUNK, len(Y) - low)
        here = slice(low, low + n)
        channels_first(Y, low, n, y)
        probabilities(y, gain[here], shift[here], levels, precision, logs, outlier, q, density)
        part[0] += weighted_sum(weights[here], density)
        for k in range(M):
            mass = q[k]
            for i in range(n):
                mass[i] *= weights[low + i]
            add_sums(y, gain[here], shift[here], mass, levels[k], part[1 + k * (2 + 2 * p) :])


@njit(cache=True)
def sums_of_pieces(
    Y: Floats,
    gain: Floats,
    shift: Floats,
    weights: Floats,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    outlier: float,
    parts: Floats,
) -> None:
    """Put the sums of each piece into its part, one piece after the other."""
    for piece in range(len(parts)):
        _sums_piece(piece, Y, gain, shift, weights, levels, precision, logs, outlier, parts[piece])


@njit(parallel=True, cache=True)
def _sums_threads(
    Y: Floats,
    gain: Floats,
    shift: Floats,
    weights: Floats,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    outlier: float,
    parts: Floats,
) -> None:
    for piece in prange(len(parts)):
        _sums_piece(piece, Y, gain, shift, weights, levels, precision, logs, outlier, parts[piece])


# A class of few observations takes its variance from the others: as if this many observations had the pooled one.
POOLED = 10.0


def least_variance(Y: Floats) -> Floats:
    """Return the variance below which no class goes, (p,)."""
    # Observations are in units of about one, and equal ones have no spread.
    return np.asarray(1e-10 * np.var(Y, axis=0) + 1e-20)


def updated(sums: Sums, classes: Classes, floor: Floats, *, keep_levels: bool = False) -> Classes:
    """Return the classes that are best for given sums and a given field."""
    step = np.zeros_like(classes.levels)
    if not keep_levels:
        found = sums.information > 1e-8 * sums.information.sum()
        step = np.where(found[:, None], sums.pull / np.where(found, sums.information, 1.0)[:, None], 0.0)
    return with_spread(classes, classes.levels + step, sums.mass, sums.moved(step), floor)


def with_spread(classes: Classes, levels: Floats, mass: Floats, squares: Floats, floor: Floats) -> Classes:
    """Return classes with given levels, and the variances and proportions that masses and squares ask for."""
    pooled = squares.sum(axis=0) / max(mass.sum(), 1e-300)
    own = (squares + POOLED * pooled) / (mass[:, None] + POOLED)
    variances = np.maximum(np.broadcast_to(pooled, own.shape) if classes.alike else own, floor)
    share = np.maximum(mass, 1e-12 * mass.sum() + 1e-300)
    return replace(classes, levels=levels, variances=variances, proportions=share / share.sum())
