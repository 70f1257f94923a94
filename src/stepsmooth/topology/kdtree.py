"""A balanced k-d tree with bounding boxes, laid out for compiled loops.

Nodes lie as in a heap: the children of node v are 2 v + 1 and 2 v + 2, and all leaves have the same depth. Splitting
by rank rather than by position, the tree stays balanced when points coincide.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from stepsmooth.model.arrays import Floats, Ints

LEAF = 8  # most points of a leaf
# Among more points than MANY, the pivot is one of so many of them, at the rank that is looked for.
MANY, N_SAMPLE = 200, 45
STRIDE = 2_654_435_761  # between them, modulo the number of points: hardly ever in step with a lattice


@dataclass(frozen=True)
class KDTree:
    """Points in the order of the leaves, with the range and the box of each node.

    Attributes
    ----------
    points : (n, d) array
        The points, in the order of the leaves.
    order : (n,) array of ints
        Row of the caller's array that each point came from.
    begin, end : (nodes,) arrays of ints
        Each node holds `points[begin:end]`.
    low, high : (nodes, d) arrays
        Corners of the bounding boxes.
    """

    points: Floats
    order: Ints
    begin: Ints
    end: Ints
    low: Floats
    high: Floats


def build(X: Floats) -> KDTree:
    """Return the tree of the points, in O(n log n).

    Examples
    --------
    >>> tree = build(np.arange(20.0)[::-1, None])
    >>> tree.points[:, 0].min(), int(tree.end[0]), tree.high[0]
    (np.float64(0.0), 20, array([19.]))
    """
    n, d = X.shape
    depth = max(0, int(np.ceil(np.log2(n / LEAF))))
    nodes = 2 ** (depth + 1) - 1
    points, order = np.ascontiguousarray(X, dtype=np.float64).copy(), np.arange(n, dtype=np.int64)
    begin, end = np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
    low, high = np.empty((nodes, d)), np.empty((nodes, d))
    end[0] = n
    _split(points, order, begin, end, low, high)
    return KDTree(points, order, begin, end, low, high)


@njit(cache=True)
def _split(points: Floats, order: Ints, begin: Ints, end: Ints, low: Floats, high: Floats) -> None:
    """Order the points node by node: each is cut at the median of its widest side."""
    nodes, d = low.shape
    sample = np.empty(N_SAMPLE)
    for v in range(nodes):
        b, e = begin[v], end[v]
        for a in range(d):
            low[v, a], high[v, a] = points[b, a], points[b, a]
        for i in range(b + 1, e):
            for a in range(d):
                t = points[i, a]
                if t < low[v, a]:
                    low[v, a] = t
                elif t > high[v, a]:
                    high[v, a] = t
        if 2 * v + 2 >= nodes:
            continue
        widest = 0
        for a in range(1, d):
            if high[v, a] - low[v, a] > high[v, widest] - low[v, widest]:
                widest = a
        middle = (b + e) // 2
        _select(points, order, b, e - 1, middle, widest, sample)
        begin[2 * v + 1], end[2 * v + 1] = b, middle
        begin[2 * v + 2], end[2 * v + 2] = middle, e


@njit(cache=True)
def _swap(points: Floats, order: Ints, i: int, j: int) -> None:
    order[i], order[j] = order[j], order[i]
    for a in range(points.shape[1]):
        t = points[i, a]
        points[i, a] = points[j, a]
        points[j, a] = t


@njit(cache=True)
def _select(points: Floats, order: Ints, left: int, right: int, k: int, axis: int, sample: Floats) -> None:
    """Bring the point of rank k along an axis to place k, smaller ones before it (Hoare's quickselect)."""
    while left < right:
        pivot = _pivot(points, left, right, k, axis, sample)
        i, j = left, right
        while i <= j:
            while points[i, axis] < pivot:
                i += 1
            while points[j, axis] > pivot:
                j -= 1
            if i <= j:
                _swap(points, order, i, j)
                i += 1
                j -= 1
        if k <= j:
            right = j
        elif k >= i:
            left = i
        else:
            return


@njit(cache=True)
def _pivot(points: Floats, left: int, right: int, k: int, axis: int, sample: Floats) -> float:
    """Return a coordinate of about rank k: of many points from a sample, else the median of three."""
    n = right - left + 1
    if n <= MANY:
        a, b, c = points[left, axis], points[(left + right) // 2, axis], points[right, axis]
        return float(max(min(a, b), min(max(a, b), c)))
    for i in range(len(sample)):
        t, j = points[left + i * STRIDE % n, axis], i
        while j > 0 and sample[j - 1] > t:
            sample[j] = sample[j - 1]
            j -= 1
        sample[j] = t
    return float(sample[(k - left) * len(sample) // n])
