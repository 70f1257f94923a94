"""The minimum spanning tree by Prim's algorithm: any distance, O(n^2) time, linear memory.

It looks at every pair once and nothing else, so it is also the reference that faster paths are held against.
"""

from collections.abc import Callable

import numpy as np

from stepsmooth.model.arrays import Floats, Ints

Row = Callable[[int], Floats]  # the distances of point i to all points


def prim(n: int, row: Row) -> tuple[Ints, Floats]:
    """Return the edges (n - 1, 2) and lengths (n - 1,) of the minimum spanning tree, shortest first.

    Parameters
    ----------
    n : int
        The number of points.
    row : callable
        `row(i)` gives the distances of point i to all n points; each is asked for once.

    Examples
    --------
    >>> x = np.array([0.0, 5.0, 1.0])
    >>> prim(3, lambda i: np.abs(x - x[i]))
    (array([[0, 2],
           [1, 2]]), array([1., 4.]))
    """
    edges, lengths = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    nearest = np.full(n, np.inf)  # distance of each point outside the tree to the tree
    through = np.zeros(n, dtype=np.int64)
    outside = np.ones(n, dtype=bool)
    newest = 0
    for k in range(n - 1):
        outside[newest] = False
        distances = row(newest)
        closer = outside & (distances < nearest)
        nearest[closer] = distances[closer]
        through[closer] = newest
        nearest[newest] = np.inf
        newest = int(np.argmin(nearest))
        edges[k], lengths[k] = (through[newest], newest), nearest[newest]
    edges = np.sort(edges, axis=1)
    by_length = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    return edges[by_length], lengths[by_length]
