"""The Euclidean minimum spanning tree by Boruvka's rounds on a k-d tree: exact, in linear memory.

In each round every component finds its shortest edge to another one, and all these edges join the tree. What a point
learned stays useful: its nearest point in another component can only move away as components grow. So each point keeps
the nearest foreign point that it knows, or a distance below which there is none, and most points never search again.
(Boruvka 1926; March, Ram and Gray 2010 use two trees for the same rounds.)
"""

import numpy as np
from numba import njit

from stepsmooth.model.arrays import Floats, Ints
from stepsmooth.topology.kdtree import build


def boruvka(X: Floats, components: Ints | None = None) -> tuple[Ints, Floats]:
    """Return the edges (m, 2) and lengths (m,) of the Euclidean minimum spanning tree, shortest first.

    Parameters
    ----------
    X : (n, d) array
    components : (n,) array of ints, optional
        Points that are joined already, by number of their component: only the edges between components are returned.
        These are the rest of the spanning tree, if no edge between components is shorter than those within.

    Examples
    --------
    >>> boruvka(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    (array([[0, 2],
           [1, 2]]), array([1.        , 4.24264069]))
    """
    tree = build(X)
    start = np.arange(len(X)) if components is None else np.unique(components, return_inverse=True)[1]
    start = start.astype(np.int64).reshape(-1)
    edges, squared = _rounds(
        tree.points, tree.begin, tree.end, tree.low, tree.high, start[tree.order], int(start.max()) + 1
    )
    edges = np.sort(tree.order[edges], axis=1)
    by_length = np.lexsort((edges[:, 1], edges[:, 0], squared))
    return edges[by_length], np.sqrt(squared[by_length])


@njit(cache=True)
def find(parent: Ints, i: int) -> int:
    """Return the root of i in a forest of parents, halving the path on the way."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit(cache=True)
def _rounds(
    points: Floats, begin: Ints, end: Ints, low: Floats, high: Floats, component: Ints, count: int
) -> tuple[Ints, Floats]:
    n, nodes = len(points), len(begin)
    edges, squared = np.empty((count - 1, 2), np.int64), np.empty(count - 1)
    known = np.full(n, -1, np.int64)  # the nearest foreign point, if it was found
    floor = np.zeros(n)  # no foreign point is nearer than this (squared)
    owner = np.empty(nodes, np.int64)  # the component that all points of a node belong to, or -1
    stack, far = np.empty(128, np.int64), np.empty(128)
    done = 0
    while count > 1:
        _owners(begin, end, component, owner)
        best = np.full(count, np.inf)
        one, other = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
        for i in range(n):
            c, j = component[i], known[i]
            if j >= 0 and component[j] == c:
                known[i] = -1
            elif j >= 0 and floor[i] < best[c]:
                best[c], one[c], other[c] = floor[i], i, j
        for i in range(n):
            c = component[i]
            if known[i] >= 0 or floor[i] >= best[c]:
                continue
            j, distance = _nearest_foreign(points, begin, end, low, high, component, owner, i, best[c], stack, far)
            known[i], floor[i] = j, distance
            if j >= 0:
                best[c], one[c], other[c] = distance, i, j
        # One after the other, skipping what is joined by now: right also when lengths tie.
        parent = np.arange(count)
        for c in range(count):
            a, b = find(parent, c), find(parent, component[other[c]])
            if a != b:
                parent[a] = b
                edges[done, 0], edges[done, 1], squared[done] = one[c], other[c], best[c]
                done += 1
        count = _rename(parent, component)
    return edges, squared


@njit(cache=True)
def _rename(parent: Ints, component: Ints) -> int:
    """Give the components new numbers from 0, and return how many there are."""
    names, count = np.full(len(parent), -1, np.int64), 0
    for i in range(len(component)):
        root = find(parent, component[i])
        if names[root] < 0:
            names[root] = count
            count += 1
        component[i] = names[root]
    return count


@njit(cache=True)
def _owners(begin: Ints, end: Ints, component: Ints, owner: Ints) -> None:
    """Note which nodes lie within one component, from the leaves up."""
    nodes = len(begin)
    for v in range(nodes - 1, -1, -1):
        if 2 * v + 2 < nodes:
            left, right = owner[2 * v + 1], owner[2 * v + 2]
            owner[v] = left if left == right else -1
        else:
            owner[v] = component[begin[v]]
            for i in range(begin[v] + 1, end[v]):
                if component[i] != owner[v]:
                    owner[v] = -1
                    break


@njit(cache=True)
def _to_box(points: Floats, i: int, low: Floats, high: Floats, v: int) -> float:
    """Return the squared distance of a point to the box of a node."""
    total = 0.0
    for a in range(points.shape[1]):
        t = points[i, a]
        gap = max(low[v, a] - t, t - high[v, a], 0.0)
        total += gap * gap
    return total


@njit(cache=True)
def _nearest_foreign(
    points: Floats,
    begin: Ints,
    end: Ints,
    low: Floats,
    high: Floats,
    component: Ints,
    owner: Ints,
    i: int,
    bound: float,
    stack: Ints,
    far: Floats,
) -> tuple[int, float]:
    """Return the nearest point of another component nearer than `bound` (squared), or -1 and the bound."""
    nodes, d, c, found, top = len(begin), points.shape[1], component[i], -1, 1
    stack[0], far[0] = 0, 0.0
    while top > 0:
        top -= 1
        v = stack[top]
        if far[top] >= bound:
            continue
        if 2 * v + 2 >= nodes:
            for j in range(begin[v], end[v]):
                if component[j] != c:
                    total = 0.0
                    for a in range(d):
                        gap = points[i, a] - points[j, a]
                        total += gap * gap
                    if total < bound:
                        bound, found = total, j
            continue
        left, right = 2 * v + 1, 2 * v + 2
        to_left = np.inf if owner[left] == c else _to_box(points, i, low, high, left)
        to_right = np.inf if owner[right] == c else _to_box(points, i, low, high, right)
        if to_left < to_right:  # the nearer child is taken off the stack first
            left, right, to_left, to_right = right, left, to_right, to_left
        if to_left < bound:
            stack[top], far[top] = left, to_left
            top += 1
        if to_right < bound:
            stack[top], far[top] = right, to_right
            top += 1
    return found, bound
