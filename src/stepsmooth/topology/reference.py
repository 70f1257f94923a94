"""The definitions, word for word, over all pairs: slow, obviously right, and what the fast paths are tested against."""

from collections.abc import Iterator

import numpy as np
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from stepsmooth.model.arrays import Floats, Ints
from stepsmooth.topology.prim import prim


def all_pairs_tree(X: Floats) -> Floats:
    """Return the edge lengths of the Euclidean minimum spanning tree, ascending, from the matrix of distances.

    Examples
    --------
    >>> all_pairs_tree(np.array([[0.0], [5.0], [1.0]]))
    array([1., 4.])
    """
    distances = cdist(X, X)
    return prim(len(X), lambda i: distances[i])[1]


def all_pairs_cluster_distances(X: Floats, labels: Ints) -> Floats:
    """Return d(C_k, C_l), the least entry of each block of the matrix of distances.

    Examples
    --------
    >>> all_pairs_cluster_distances(np.array([[0.0], [5.0], [1.0]]), np.array([0, 1, 0]))
    array([[0., 4.],
           [4., 0.]])
    """
    distances, count = cdist(X, X), int(labels.max()) + 1
    out = np.zeros((count, count))
    for k in range(count):
        for other in range(count):
            out[k, other] = distances[np.ix_(labels == k, labels == other)].min()
    return out


def bottleneck(distances: Floats) -> float:
    """Return the least delta at which the graph of a matrix of distances is connected.

    Examples
    --------
    >>> bottleneck(np.array([[0.0, 2.0, 6.0], [2.0, 0.0, 4.0], [6.0, 4.0, 0.0]]))
    4.0
    """
    return float(prim(len(distances), lambda k: distances[k])[1][-1])


def divisions(n: int, n_levels: int) -> Iterator[Ints]:
    """Yield every division of n points into at most M classes, once each, whatever the classes are called.

    Examples
    --------
    >>> [z.tolist() for z in divisions(3, 2)]
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
    """
    if n == 0:
        yield np.empty(0, dtype=np.int64)
        return
    for begun in divisions(n - 1, n_levels):
        for k in range(min(int(begun.max(initial=-1)) + 2, n_levels)):
            yield np.append(begun, k)


def best_levels(edges: Ints, y: Floats, labels: Ints) -> tuple[Floats, float]:
    """Return the levels for which f = y - levels[labels] changes least over its worst edge, and that change.

    Minimise t over levels mu, with |y_i - mu_z_i - (y_j - mu_z_j)| <= t on every edge: a linear programme.

    Examples
    --------
    >>> levels, t = best_levels(np.array([[0, 1], [1, 2]]), np.array([0.0, 1.0, 0.2]), np.array([0, 1, 0]))
    >>> round(float(levels[1] - levels[0]), 6), round(t, 6)
    (0.9, 0.1)
    """
    one, other, m = edges[:, 0], edges[:, 1], int(labels.max()) + 1
    A = np.zeros((len(edges), m))
    np.add.at(A, (np.arange(len(edges)), labels[one]), 1.0)
    np.add.at(A, (np.arange(len(edges)), labels[other]), -1.0)
    change = y[one] - y[other]
    rows, t = np.vstack([A, -A]), -np.ones((2 * len(edges), 1))
    bounds = [(None, None)] * m + [(0, None)]
    solved = linprog(np.r_[np.zeros(m), 1.0], np.hstack([rows, t]), np.r_[change, -change], bounds=bounds)
    return np.asarray(solved["x"])[:m], float(solved["fun"])
