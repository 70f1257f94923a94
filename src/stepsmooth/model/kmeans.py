"""k-means: exact on a line by dynamic programming, Lloyd's algorithm elsewhere.

On a line an optimal cluster is an interval of the sorted values, so the best partition follows from the best
partitions of the prefixes; the best last cut is monotone in the prefix, which makes each layer O(n log n)
(Wang & Song 2011; Gronlund et al. 2017). No seed is needed, and the answer is the global minimum.
"""

import numpy as np
from numba import njit

from stepsmooth.model.arrays import Floats, Ints


def kmeans_1d(y: Floats, n_levels: int, weights: Floats | None = None) -> tuple[Floats, Ints]:
    """Return the exact weighted k-means of values on a line.

    Parameters
    ----------
    y : (n,) array
    n_levels : int
        If y has fewer distinct values, that many levels are returned.
    weights : (n,) array of positive numbers, optional

    Returns
    -------
    levels : (M,) array, ascending
    labels : (n,) array of 0..M-1

    Examples
    --------
    >>> kmeans_1d(np.array([0.0, 10.0, 1.0, 11.0]), 2)
    (array([ 0.5, 10.5]), array([0, 1, 0, 1]))
    """
    weights = np.ones_like(y) if weights is None else weights
    order = np.argsort(y, kind="stable")
    values, mass = y[order], weights[order]
    # Equal values belong together: merging them also makes a weight of 2 equal to a point given twice.
    first = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    if len(first) < len(values):
        mass, values = np.add.reduceat(mass, first), values[first]
    n_levels = min(n_levels, len(values))
    # Costs are differences of prefix sums: centred, so that a large offset does not eat the digits.
    starts = _best_cuts(values - values[len(values) // 2], mass, n_levels)
    total = np.add.reduceat(mass, starts)
    levels = (
        values[starts]
        + np.add.reduceat(mass * (values - np.repeat(values[starts], _lengths(starts, len(values)))), starts) / total
    )
    labels = np.searchsorted(values[starts], y, side="right") - 1
    return levels, labels.astype(np.int64)


def _lengths(starts: Ints, n: int) -> Ints:
    return np.diff(np.append(starts, n))


@njit(cache=True)
def _best_cuts(values: Floats, mass: Floats, n_levels: int) -> Ints:
    """Return where each of the optimal intervals of sorted distinct values starts."""
    n = len(values)
    w, s, q = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    for i in range(n):
        w[i + 1] = w[i] + mass[i]
        s[i + 1] = s[i] + mass[i] * values[i]
        q[i + 1] = q[i] + mass[i] * values[i] * values[i]

    def cost(i: int, j: int) -> float:  # of the interval [i, j)
        m, share = s[j] - s[i], w[j] - w[i]
        if share <= 0.0:  # lost in the rounding of all weights
            return 0.0
        return float(max(q[j] - q[i] - m * m / share, 0.0))

    best = np.empty(n + 1)
    for j in range(1, n + 1):
        best[j] = cost(0, j)
    cuts = np.zeros((n_levels, n + 1), dtype=np.int32)
    stack = np.empty((128, 4), dtype=np.int64)
    for k in range(1, n_levels):
        following = np.full(n + 1, np.inf)
        last = k == n_levels - 1
        # The last layer is asked for the whole array only.
        stack[0] = (n if last else k + 1, n, k, n)
        top = 1
        while top > 0:
            top -= 1
            lo, hi, opt_lo, opt_hi = stack[top]
            if lo > hi:
                continue
            j = (lo + hi) // 2
            value, where = np.inf, opt_lo
            for i in range(max(opt_lo, k), min(opt_hi, j - 1) + 1):
                c = best[i] + cost(i, j)
                if c < value:
                    value, where = c, i
            following[j] = value
            cuts[k, j] = where
            if lo < hi:
                stack[top] = (lo, j - 1, opt_lo, where)
                stack[top + 1] = (j + 1, hi, where, opt_hi)
                top += 2
        best = following
    starts = np.zeros(n_levels, dtype=np.int64)
    j = n
    for k in range(n_levels - 1, 0, -1):
        starts[k] = cuts[k, j]
        j = starts[k]
    return starts


def kmeans(
    Y: Floats, n_levels: int, weights: Floats, random_state: np.random.RandomState, n_init: int = 10
) -> tuple[Floats, Ints]:
    """Return the best of `n_init` runs of Lloyd's algorithm from k-means++ seeds, for (n, p) data.

    Examples
    --------
    >>> Y = np.array([[0.0, 0.0], [5.0, 5.0], [0.0, 1.0], [5.0, 6.0]])
    >>> levels, labels = kmeans(Y, 2, np.ones(4), np.random.RandomState(0))
    >>> labels[0] == labels[2], labels[0] == labels[1]
    (np.True_, np.False_)
    """
    from sklearn.cluster import kmeans_plusplus  # takes a while to load, and values on a line do without it

    best: tuple[float, Floats, Ints] | None = None
    for _ in range(n_init):
        seeds, _ = kmeans_plusplus(Y, n_levels, sample_weight=weights, random_state=random_state)
        levels, labels, inertia = lloyd(Y, weights, seeds)
        if best is None or inertia < best[0]:
            best = inertia, levels, labels
    assert best is not None
    return best[1], best[2]


def lloyd(Y: Floats, weights: Floats, levels: Floats, max_iter: int = 300) -> tuple[Floats, Ints, float]:
    """Return levels, labels and the weighted sum of squares of Lloyd's algorithm from the given levels.

    An emptied cluster keeps its level, so the sum of squares never increases.
    """
    levels = np.array(levels, dtype=np.float64)
    labels = np.full(len(Y), -1, dtype=np.int64)
    if Y.shape[1] == 1 and np.all(np.diff(levels[:, 0]) > 0):
        inertia = _lloyd_1d(np.ascontiguousarray(Y[:, 0]), weights, levels[:, 0], labels, max_iter)
    else:
        inertia = _lloyd(np.ascontiguousarray(Y), weights, levels, labels, max_iter)
    return levels, labels, inertia


@njit(cache=True)
def _lloyd_1d(y: Floats, weights: Floats, levels: Floats, labels: Ints, max_iter: int) -> float:
    """Do as `_lloyd`, for ascending levels on a line: the label is the number of midpoints below y."""
    n_levels = len(levels)
    inertia = 0.0
    for _ in range(max_iter):
        middle = (levels[1:] + levels[:-1]) / 2.0
        mass, sums = np.zeros(n_levels), np.zeros(n_levels)
        inertia, changed = 0.0, False
        for i in range(len(y)):
            label = 0
            for k in range(n_levels - 1):
                label += y[i] > middle[k]
            changed |= labels[i] != label
            labels[i] = label
            d = y[i] - levels[label]
            inertia += weights[i] * d * d
            mass[label] += weights[i]
            sums[label] += weights[i] * d
        if not changed:
            break
        for k in range(n_levels):
            if mass[k] > 0.0:
                levels[k] += sums[k] / mass[k]
    return inertia


@njit(cache=True)
def _lloyd(Y: Floats, weights: Floats, levels: Floats, labels: Ints, max_iter: int) -> float:
    n, p = Y.shape
    n_levels = len(levels)
    inertia = 0.0
    for _ in range(max_iter):
        mass, sums = np.zeros(n_levels), np.zeros((n_levels, p))
        inertia, changed = 0.0, False
        for i in range(n):
            nearest, label = np.inf, 0
            for k in range(n_levels):
                d = 0.0
                for c in range(p):
                    d += (Y[i, c] - levels[k, c]) ** 2
                if d < nearest:
                    nearest, label = d, k
            changed = changed or labels[i] != label
            labels[i] = label
            inertia += weights[i] * nearest
            mass[label] += weights[i]
            for c in range(p):
                # Deviations from the old level: no digits are lost to a large offset.
                sums[label, c] += weights[i] * (Y[i, c] - levels[label, c])
        if not changed:
            break
        for k in range(n_levels):
            if mass[k] > 0.0:
                for c in range(p):
                    levels[k, c] += sums[k, c] / mass[k]
    return inertia
