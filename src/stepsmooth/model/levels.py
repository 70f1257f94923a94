"""Level models: the step (mu, z) of AltMin, for levels that are free, known, or known up to a shift.

A level model is anything with the methods of `LevelModel`. `start` and `update` minimise
sum_i w_i |r_i - mu_{z_i}|^2, the one from nothing, the other from levels that it must not make worse;
`directions` says how the levels may move while the labels stay, `near` from where.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from stepsmooth.model.arrays import Floats, Ints
from stepsmooth.model.kmeans import kmeans, kmeans_1d, lloyd

# Up to here each update solves the 1-D problem exactly; a longer signal takes Lloyd steps from the last
# levels, which is as good (the levels hardly move) and needs no sorting.
EXACT_UP_TO = 20_000
N_LLOYD = 3
# A long signal starts from the exact solution for so many of its points, one drawn from each of as many stretches.
N_FOR_START = 1 << 17


class LevelModel(Protocol):
    """How levels and labels follow from the residual y - f, an (n, p) array."""

    def directions(self, n_levels: int) -> Floats:
        """Return the (M, q) matrix whose columns span the ways in which the levels may move."""

    def near(self, means: Floats) -> Floats:
        """Return levels (M, p) of this model to start from, given the mean of y under each label."""

    def start(self, residual: Floats, weights: Floats) -> tuple[Floats, Ints]:
        """Return levels (M, p) and labels (n,) with no earlier levels to go by."""

    def update(self, residual: Floats, weights: Floats, levels: Floats) -> tuple[Floats, Ints]:
        """Return levels and labels whose sum of squares is not above that of `levels`."""


@dataclass
class FreeLevels:
    """M levels about which nothing is known: k-means, exact on a line.

    Examples
    --------
    >>> residual = np.array([[0.0], [4.0], [1.0], [5.0]])
    >>> FreeLevels(2).start(residual, np.ones(4))
    (array([[0.5],
           [4.5]]), array([0, 1, 0, 1]))
    """

    n_levels: int
    seed: int = 0

    def directions(self, n_levels: int) -> Floats:
        """Return the identity: each level moves on its own."""
        return np.eye(n_levels)

    def near(self, means: Floats) -> Floats:
        """Return the means themselves."""
        return means

    def start(self, residual: Floats, weights: Floats) -> tuple[Floats, Ints]:
        """Return the 1-D k-means, exact up to a few hundred thousand points; for vectors the best of ten k-means++."""
        if residual.shape[1] == 1 and len(residual) <= 2 * N_FOR_START:
            levels, labels = kmeans_1d(residual[:, 0], self.n_levels, weights)
            return levels[:, None], labels
        if residual.shape[1] == 1:
            ends = np.linspace(0, len(residual), N_FOR_START + 1).astype(np.int64)
            some = np.random.RandomState(self.seed).randint(ends[:-1], ends[1:])
            levels, _ = kmeans_1d(residual[some, 0], self.n_levels, weights[some])
            return self.update(residual, weights, levels[:, None])
        n_levels = min(self.n_levels, len(np.unique(residual, axis=0)))
        return kmeans(residual, n_levels, weights, np.random.RandomState(self.seed))

    def update(self, residual: Floats, weights: Floats, levels: Floats) -> tuple[Floats, Ints]:
        """Return the exact 1-D k-means of a short signal, else where Lloyd's algorithm leads."""
        if residual.shape[1] == 1 and len(residual) <= EXACT_UP_TO:
            return self.start(residual, weights)
        levels, labels, _ = lloyd(residual, weights, levels, max_iter=N_LLOYD)
        return levels, labels


@dataclass
class KnownLevels:
    """Levels that are given exactly: only the labels are free, and f is not centred.

    Examples
    --------
    >>> KnownLevels(np.array([[0.0], [1.0]])).start(np.array([[0.2], [0.9]]), np.ones(2))
    (array([[0.],
           [1.]]), array([0, 1]))
    """

    levels: Floats

    def directions(self, n_levels: int) -> Floats:
        """Return no direction: nothing moves."""
        return np.zeros((n_levels, 0))

    def near(self, means: Floats) -> Floats:
        """Return the given levels."""
        return self.levels

    def start(self, residual: Floats, weights: Floats) -> tuple[Floats, Ints]:
        """Return the given levels, and labels up to a shift: f, which nothing is known of yet, will carry it."""
        return self.levels, ShiftedLevels(self.levels).start(residual, weights)[1]

    def update(self, residual: Floats, weights: Floats, levels: Floats) -> tuple[Floats, Ints]:
        """Return the given levels and the nearest one of each point."""
        return self.levels, nearest_level(residual, self.levels)


@dataclass
class ShiftedLevels:
    """Levels known up to one common shift (in logs: known ratios, the setting of Kim et al.).

    On a line the best shift is found exactly: as the shift s grows, point i changes its label where r_i - s
    crosses a midpoint, and between two crossings the sum of squares is a parabola in s.

    Examples
    --------
    >>> levels, labels = ShiftedLevels(np.array([[0.0], [1.0]])).start(np.array([[7.0], [8.0], [8.0]]), np.ones(3))
    >>> levels.ravel(), labels
    (array([7., 8.]), array([0, 1, 1]))
    """

    levels: Floats

    def directions(self, n_levels: int) -> Floats:
        """Return one column of ones: all levels move together."""
        return np.ones((n_levels, 1))

    def near(self, means: Floats) -> Floats:
        """Return the given levels, unshifted."""
        return self.levels

    def start(self, residual: Floats, weights: Floats) -> tuple[Floats, Ints]:
        """Return the best shift: exact on a line, from the mean for vectors."""
        if residual.shape[1] == 1:
            shift = np.array([best_shift(residual[:, 0], self.levels[:, 0], weights)])
        else:
            shift = np.average(residual, axis=0, weights=weights) - self.levels.mean(axis=0)
        return self._descend(residual, weights, shift)

    def update(self, residual: Floats, weights: Floats, levels: Floats) -> tuple[Floats, Ints]:
        """Alternate labels and shift from the last shift."""
        return self._descend(residual, weights, (levels - self.levels)[0])

    def _descend(self, residual: Floats, weights: Floats, shift: Floats) -> tuple[Floats, Ints]:
        labels = nearest_level(residual, self.levels + shift)
        for _ in range(300):
            shift = np.average(residual - self.levels[labels], axis=0, weights=weights)
            moved = nearest_level(residual, self.levels + shift)
            if np.array_equal(moved, labels):
                break
            labels = moved
        return self.levels + shift, labels


def nearest_level(residual: Floats, levels: Floats) -> Ints:
    """Return the label of the nearest level of each row, the lower one on a tie."""
    if residual.shape[1] == 1 and np.all(np.diff(levels[:, 0]) > 0):
        middle = (levels[1:, 0] + levels[:-1, 0]) / 2.0
        return np.searchsorted(middle, residual[:, 0], side="left").astype(np.int64)
    squared = sum((residual[:, c, None] - levels[None, :, c]) ** 2 for c in range(levels.shape[1]))
    return np.asarray(np.argmin(squared, axis=1), dtype=np.int64)


def best_shift(r: Floats, levels: Floats, weights: Floats) -> float:
    """Return the s that minimises sum_i w_i min_k (r_i - mu_k - s)^2, exactly, for ascending mu."""
    offset = np.average(r, weights=weights)  # so that squares of a large offset do not eat the digits
    r = r - offset
    total, gaps = weights.sum(), np.diff(levels)
    # From s = -infinity on all points have the top label; at s = r_i - midpoint_k point i falls from k + 1 to k.
    crossings = (r[:, None] - ((levels[1:] + levels[:-1]) / 2.0)[None, :]).ravel()
    order = np.argsort(crossings, kind="stable")
    drop = (weights[:, None] * gaps[None, :]).ravel()[order]
    drop2 = (weights[:, None] * (2.0 * r[:, None] * gaps - (levels[1:] ** 2 - levels[:-1] ** 2))).ravel()[order]
    linear = np.sum(weights * (r - levels[-1])) + np.concatenate([[0.0], np.cumsum(drop)])
    square = np.sum(weights * (r - levels[-1]) ** 2) + np.concatenate([[0.0], np.cumsum(drop2)])
    # Each label pattern has its parabola; its vertex bounds the true minimum from above wherever it lies.
    least = square - linear**2 / total
    # Evenly spaced levels tie with themselves, shifted by a gap: the lowest shift wins, not rounding.
    first = int(np.argmax(least <= least.min() + 1e-12 * np.abs(square).max()))
    return float(offset + linear[first] / total)


def level_model(n_levels: int, known: Floats | None, free_shift: bool, seed: int) -> LevelModel:
    """Return the model of levels that are free, known, or known up to a shift.

    Examples
    --------
    >>> level_model(3, None, False, 0)
    FreeLevels(n_levels=3, seed=0)
    """
    if known is None:
        return FreeLevels(n_levels, seed)
    return ShiftedLevels(known) if free_shift else KnownLevels(known)


def candidate_set(h: Floats, levels: Floats, *, multiplicative: bool = False) -> Floats:
    """Return the M values that f may take at each point if the levels are known (Kim et al.).

    Parameters
    ----------
    h : (n,) array
        The observed composite: f + mu_z, or f mu_z if `multiplicative`.
    levels : (M,) array
        The levels, or only their differences (ratios if `multiplicative`): a common shift (scale) of the
        levels shifts (scales) all candidates alike.
    multiplicative : bool

    Returns
    -------
    (n, M) array
        Column k holds h - mu_k, or a_k h with a_k = 1 / mu_k. The true f is one entry of each row.

    Examples
    --------
    >>> candidate_set(np.array([2.0, 6.0]), np.array([1.0, 2.0]), multiplicative=True)
    array([[2., 1.],
           [6., 3.]])
    """
    h, levels = np.asarray(h, dtype=np.float64), np.asarray(levels, dtype=np.float64)
    if multiplicative and not np.all(levels > 0):
        raise ValueError(f"levels must be positive if multiplicative, got a smallest level of {levels.min():g}.")
    return h[:, None] / levels if multiplicative else h[:, None] - levels
