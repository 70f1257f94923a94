"""Another labelling of the same data, if one exists: exact on a tree, the levels given.

Each point may take any level; f is what remains. On every edge of the tree f may vary by at most the edge's tolerance.
Whether a point can take a level is then decided by one pass up and one pass down the tree, O(n M^2).
"""

from dataclasses import dataclass, replace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from stepsmooth.model.arrays import Floats, Ints

Bools = NDArray[np.bool_]

NORMS = {1: 1, 2: 2, np.inf: 0}  # how compiled code names them
TRIES = 12  # alternatives that are looked at before giving up
MOST = 20_000_000  # points gone through for them


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
    tree = Rooted.of(edges, tolerance)
    problem = tree.order, tree.parent, Y, levels, tree.toll, NORMS[norm]
    return _downward(*problem, _upward(*problem), -1)


def sure_parts(tree: "Rooted", part: Ints, Y: Floats, levels: Floats, labels: Ints, norm: float = 2) -> Bools:
    """Return for each part whether every labelling that keeps f within the tolerances divides it as the given one does.

    Each level that the first point of a part can take is tried; it must leave one labelling, and that must divide
    alike. So a shift of all labels together, possible where an outermost level has no points, does no harm.

    Parameters
    ----------
    tree : Rooted
        With an infinite tolerance on the edges between parts.
    part : (n,) array of ints
        The part of each point.
    Y, levels, labels, norm
        As in :func:`alternative`.

    Examples
    --------
    >>> chain, levels = np.array([[0, 1], [1, 2]]), np.array([[0.0], [1.0], [2.0]])
    >>> Y, labels = np.array([[0.0], [1.0], [0.0]]), np.array([0, 1, 0])  # or 1, 2, 1
    >>> sure_parts(Rooted.of(chain, np.array([0.5, 0.5])), np.zeros(3, dtype=int), Y, levels, labels)
    array([ True])
    >>> sure_parts(Rooted.of(chain, np.array([1.0, np.inf])), np.array([0, 0, 1]), Y, levels, labels)
    array([False,  True])
    """
    count, m = int(part.max()) + 1, len(levels)
    problem = tree.order, tree.parent, Y, levels, tree.toll, NORMS[norm]
    able = _upward(*problem)
    free = _downward(*problem, able, -1)
    sure: Bools = np.bincount(part[~free[np.arange(len(labels)), labels]], minlength=count) == 0
    for k in range(m):
        if not sure.any():
            break
        several, met = _found(_downward(*problem, able, k), part, labels, count)
        sure &= ~several & np.all(met.sum(axis=1) <= 1, axis=1) & np.all(met.sum(axis=2) <= 1, axis=1)
    return sure


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
    tries = min(TRIES, len(candidates), 1 + MOST // len(labels))
    for i, k in candidates[np.linspace(0, len(candidates) - 1, tries).astype(int)]:
        tree = Rooted.of(edges, tolerance, int(i))
        found = _labelling(tree.order, tree.parent, Y, levels, tree.toll, NORMS[norm], labels, int(k))
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
    a, b = one - one.min(), other - other.min()
    count = int(b.max()) + 1
    pairs = np.bincount(a * count + b, minlength=(int(a.max()) + 1) * count).reshape(-1, count) > 0
    return bool(np.all(pairs.sum(axis=0) <= 1) and np.all(pairs.sum(axis=1) <= 1))


@dataclass(frozen=True)
class Rooted:
    """The points of a tree from the root down, the parent of each, and the tolerance of the edge to it.

    An edge with an infinite tolerance binds nothing; its lower end is the root of a part of its own.
    """

    order: Ints
    parent: Ints
    toll: Floats

    @classmethod
    def of(cls, edges: Ints, tolerance: Floats, root: int = 0) -> "Rooted":
        """Return the tree with these edges.

        Examples
        --------
        >>> Rooted.of(np.array([[0, 1], [1, 2]]), np.array([0.5, 0.7]), root=2).toll
        array([0.5, 0.7, 0. ])
        """
        order, parent, edge = _walk(np.ascontiguousarray(edges, dtype=np.int64), root)
        toll = np.append(tolerance, 0.0)[edge]  # the root has no edge: its number is the last
        return cls(order, parent, toll)

    def scaled(self, factor: float) -> "Rooted":
        """Return the tree with all tolerances multiplied."""
        return replace(self, toll=factor * self.toll)


@njit(cache=True)
def _walk(edges: Ints, root: int) -> tuple[Ints, Ints, Ints]:
    """Return the points from the root down (breadth first), the parent of each, and the number of the edge to it."""
    n = len(edges) + 1
    begin = np.zeros(n + 1, np.int64)
    for e in range(n - 1):
        begin[edges[e, 0] + 1] += 1
        begin[edges[e, 1] + 1] += 1
    for i in range(n):
        begin[i + 1] += begin[i]
    own, filled = np.empty(2 * (n - 1), np.int64), begin[:-1].copy()
    for e in range(n - 1):
        for a in range(2):
            own[filled[edges[e, a]]] = e
            filled[edges[e, a]] += 1
    order, parent, edge = np.empty(n, np.int64), np.full(n, -1, np.int64), np.full(n, n - 1, np.int64)
    order[0], found = root, 1
    for t in range(n):
        i = order[t]
        for e in own[begin[i] : begin[i + 1]]:
            if e != edge[i]:
                j = edges[e, 0] + edges[e, 1] - i
                order[found], parent[j], edge[j] = j, i, e
                found += 1
    return order, parent, edge


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
        if toll[i] == np.inf:
            continue
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
def _downward(
    order: Ints, parent: Ints, Y: Floats, levels: Floats, toll: Floats, norm: int, upward: Bools, at_root: int
) -> Bools:
    """Return what each point can take, given what its branch allows; -1 leaves the roots free."""
    able = upward.copy()
    for t in range(len(order)):
        i = order[t]
        for k in range(len(levels)):
            if t == 0 or toll[i] == np.inf:
                able[i, k] = able[i, k] and (at_root < 0 or k == at_root)
            elif able[i, k]:
                some = False
                for other in range(len(levels)):
                    if able[parent[i], other] and _fits(Y, levels, i, k, parent[i], other, toll[i], norm):
                        some = True
                        break
                able[i, k] = some
    return able


@njit(cache=True)
def _found(possible: Bools, part: Ints, labels: Ints, count: int) -> tuple[Bools, Bools]:
    """Return the parts in which a point has several levels, and which levels each label of a part meets."""
    n, m = possible.shape
    several, met = np.zeros(count, np.bool_), np.zeros((count, m, m), np.bool_)
    for i in range(n):
        first = -1
        for k in range(m):
            if possible[i, k]:
                if first >= 0:
                    several[part[i]] = True
                    break
                first = k
        if first >= 0:
            met[part[i], labels[i], first] = True
    return several, met


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
