"""Another labelling of the same data, if one exists: exact on a tree, the levels given.

Each point may take any level; f is what remains. On every edge of the tree f may vary by at most the edge's tolerance.
Whether a point can take a level is then decided by one pass up and one pass down the tree, O(n M^2).
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order

from stepsmooth.model.arrays import Floats, Ints

Bools = NDArray[np.bool_]

NORMS = {1: 1, 2: 2, np.inf: 0}  # how compiled code names them
TRIES = 12  # alternatives that are looked at before giving up


def possible_labels(edges: Ints, Y: Floats, levels: Floats, tolerance: Floats, norm: float = 2) -> Bools:
    """Return which level each point can take in some labelling that keeps f within the tolerances, (n, M) of bool.

    Parameters
    ----------
    edges : (n - 1, 2) array of ints
        A tree on the points.
    Y : (n, p) array
        The observations.
    levels : (M, p) array
    tolerance : (n - 1,) array
        How much f may vary over each edge.
    norm : 1, 2 or inf

    Examples
    --------
    >>> Y = np.array([[0.0], [1.0], [0.1]])
    >>> possible_labels(np.array([[0, 1], [1, 2]]), Y, np.array([[0.0], [1.0]]), np.array([0.5, 0.5])).astype(int)
    array([[1, 0],
           [0, 1],
           [1, 0]])
    """
    order, parent, toll = _rooted(edges, tolerance, 0)
    return _marginals(order, parent, Y, levels, toll, NORMS[norm], -1)


def only_division(edges: Ints, Y: Floats, levels: Floats, labels: Ints, tolerance: Floats, norm: float = 2) -> bool:
    """Whether every labelling that keeps f within the tolerances divides the points as the given one does.

    Each level that the first point can take is tried; it must leave one labelling, and that must divide alike. So a
    shift of all labels together, possible where an outermost level has no points, does no harm.

    Examples
    --------
    >>> chain, levels = np.array([[0, 1], [1, 2]]), np.array([[0.0], [1.0], [2.0]])
    >>> Y, labels = np.array([[0.0], [1.0], [0.0]]), np.array([0, 1, 0])  # or 1, 2, 1
    >>> only_division(chain, Y, levels, labels, np.array([0.5, 0.5]))
    True
    """
    order, parent, toll = _rooted(edges, tolerance, 0)
    for k in range(len(levels)):
        possible = _marginals(order, parent, Y, levels, toll, NORMS[norm], k)
        if not possible.any():
            continue
        if np.any(possible.sum(axis=1) != 1) or not same_division(labels, possible.argmax(axis=1)):
            return False
    return bool(possible_labels(edges, Y, levels, tolerance, norm)[np.arange(len(labels)), labels].all())


def alternative(
    edges: Ints, Y: Floats, levels: Floats, labels: Ints, tolerance: Floats, norm: float = 2
) -> tuple[Ints | None, Bools]:
    """Return a labelling that divides the points differently and keeps f within the tolerances, or None.

    Also returned is which level each point can take, (n, M) of bool. If only the given labels are possible, there is no
    alternative with these levels; if others are, but none of those looked at divides the points differently, None is
    returned too.

    Examples
    --------
    A step of f in the middle may as well be a step of the labels:

    >>> Y = np.array([[0.0], [1.0], [1.0], [2.0], [2.0], [1.0]])
    >>> levels, labels = np.array([[0.0], [1.0]]), np.array([0, 1, 1, 1, 1, 0])
    >>> chain = np.column_stack([np.arange(5), np.arange(1, 6)])
    >>> alternative(chain, Y, levels, labels, np.full(5, 1.0))[0]
    array([1, 1, 1, 1, 1, 0])
    """
    possible = possible_labels(edges, Y, levels, tolerance, norm)
    others = possible.copy()
    others[np.arange(len(labels)), labels] = False
    candidates = np.argwhere(others)
    for i, k in candidates[np.linspace(0, len(candidates) - 1, min(TRIES, len(candidates))).astype(int)]:
        order, parent, toll = _rooted(edges, tolerance, int(i))
        found = _labelling(order, parent, Y, levels, toll, NORMS[norm], labels, int(k))
        if not same_division(labels, found):
            return found, possible
    return None, possible


def same_division(one: Ints, other: Ints) -> bool:
    """Whether two labellings divide the points alike, whatever they call the classes.

    Examples
    --------
    >>> same_division(np.array([0, 0, 1]), np.array([5, 5, 2])), same_division(np.array([0, 0]), np.array([0, 1]))
    (True, False)
    """
    pairs = np.unique(np.column_stack([one, other]), axis=0)
    return len(pairs) == len(np.unique(one)) == len(np.unique(other))


def _rooted(edges: Ints, tolerance: Floats, root: int) -> tuple[Ints, Ints, Floats]:
    """Return the points from the root down, the parent of each, and the tolerance of the edge to it."""
    n = len(edges) + 1
    number = np.arange(1, n, dtype=np.float64)  # 0 would be no edge
    graph = coo_array((number, (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    graph = graph + graph.T
    order, parent = breadth_first_order(graph, root, directed=False)
    toll = np.zeros(n)
    first, second = edges[:, 0], edges[:, 1]
    below = parent[second] == first  # the edge belongs to the end whose parent is the other end
    toll[np.where(below, second, first)] = tolerance
    return order.astype(np.int64), parent.astype(np.int64), toll


@njit(cache=True)
def _fits(Y: Floats, levels: Floats, i: int, k: int, j: int, m: int, toll: float, norm: int) -> bool:
    """Whether f = y - mu varies by no more than the tolerance from point i with level k to point j with level m."""
    total = 0.0
    for a in range(Y.shape[1]):
        t = abs((Y[i, a] - levels[k, a]) - (Y[j, a] - levels[m, a]))
        if norm == 2:
            total += t * t
        elif norm == 1:
            total += t
        else:
            total = max(total, t)
    return (total if norm != 2 else np.sqrt(total)) <= toll


@njit(cache=True)
def _upward(order: Ints, parent: Ints, Y: Floats, levels: Floats, toll: Floats, norm: int) -> Bools:
    n, m = len(order), len(levels)
    able = np.ones((n, m), np.bool_)
    for t in range(n - 1, 0, -1):
        i = order[t]
        for k in range(m):
            if able[parent[i], k]:
                some = False
                for other in range(m):
                    if able[i, other] and _fits(Y, levels, i, other, parent[i], k, toll[i], norm):
                        some = True
                        break
                able[parent[i], k] = some
    return able


@njit(cache=True)
def _marginals(order: Ints, parent: Ints, Y: Floats, levels: Floats, toll: Floats, norm: int, at_root: int) -> Bools:
    able = _upward(order, parent, Y, levels, toll, norm)
    for k in range(len(levels)):
        if at_root >= 0 and k != at_root:  # -1 leaves the root free
            able[order[0], k] = False
    for t in range(1, len(order)):
        i = order[t]
        for k in range(len(levels)):
            if able[i, k]:
                some = False
                for other in range(len(levels)):
                    if able[parent[i], other] and _fits(Y, levels, i, k, parent[i], other, toll[i], norm):
                        some = True
                        break
                able[i, k] = some
    return able


@njit(cache=True)
def _labelling(
    order: Ints, parent: Ints, Y: Floats, levels: Floats, toll: Floats, norm: int, labels: Ints, at_root: int
) -> Ints:
    """Return a labelling with this label at the root, which must be possible; elsewhere the old label if it can be."""
    able = _upward(order, parent, Y, levels, toll, norm)
    out = np.full(len(order), -1, np.int64)
    out[order[0]] = at_root
    for t in range(1, len(order)):
        i = order[t]
        for k in range(-1, len(levels)):
            k = labels[i] if k < 0 else k
            if able[i, k] and _fits(Y, levels, i, k, parent[i], out[parent[i]], toll[i], norm):
                out[i] = k
                break
    return out
