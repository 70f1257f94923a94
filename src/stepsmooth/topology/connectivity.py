"""The neighbour graph of a point cloud, and the radius at which it becomes connected."""

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.spatial import cKDTree

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.topology.arguments import point_cloud, positive
from stepsmooth.topology.distance import rows
from stepsmooth.topology.lattice import Lattice
from stepsmooth.topology.spanning import minimum_spanning_tree


def connectivity(X: Anything, *, metric: Anything = "euclidean") -> float:
    """Return rho_min(X), the least rho for which the rho-neighbour graph is connected.

    It is the longest edge of the minimum spanning tree.

    Parameters
    ----------
    X : (n, d) or (n,) array, or Lattice
        At least two distinct points.
    metric : str, kernel or callable, default="euclidean"
        As in :func:`minimum_spanning_tree`, which says how long each takes.

    Returns
    -------
    float

    Examples
    --------
    >>> from stepsmooth.model import MinKernel
    >>> from stepsmooth.topology import connectivity
    >>> connectivity([[0.0, 0.0], [0.0, 1.0], [3.0, 1.0]])
    3.0
    >>> x = np.arange(1, 101) / 100
    >>> connectivity(x, metric=MinKernel()).__round__(12)  # n^(-1/2), as the paper has it
    0.1
    """
    return float(minimum_spanning_tree(X, metric=metric).lengths[-1])


def neighbor_graph(X: Anything, rho: float, *, metric: Anything = "euclidean") -> csr_array:
    """Return the rho-neighbour graph: points i != j are joined if d(x_i, x_j) <= rho.

    Parameters
    ----------
    X : (n, d) or (n,) array, or Lattice
    rho : float
        The radius, at least 0.
    metric : str, kernel or callable, default="euclidean"
        As in :func:`minimum_spanning_tree`. Other than Euclidean, n^2 distances are computed, row by row.

    Returns
    -------
    csr_array of bool, (n, n), symmetric
        Memory is linear in the number of edges.

    Examples
    --------
    >>> neighbor_graph([0.0, 1.0, 3.0], rho=1.0).toarray().astype(int)
    array([[0, 1, 0],
           [1, 0, 0],
           [0, 0, 0]])
    """
    radius = positive("rho", rho, zero=True)
    if isinstance(X, Lattice):
        pairs, n = _pairs(X.points(), radius), X.n_points
    elif isinstance(metric, str) and metric == "euclidean":
        points = point_cloud(X)
        pairs, n = _pairs(points, radius), len(points)
    else:
        n, row = rows(X, metric)
        near = [np.flatnonzero(row(i)[i + 1 :] <= radius) + i + 1 for i in range(n)]
        first = np.repeat(np.arange(n), [len(found) for found in near])
        pairs = np.column_stack([first, np.concatenate(near)])
    both = np.concatenate([pairs, pairs[:, ::-1]])
    return coo_array((np.ones(len(both), dtype=bool), (both[:, 0], both[:, 1])), shape=(n, n)).tocsr()


def _pairs(points: Floats, rho: float) -> Ints:
    """Return the pairs within rho; the tree compares squares, so pairs at rho itself are decided here."""
    pairs = cKDTree(points).query_pairs(rho * (1.0 + 1e-9), output_type="ndarray")
    far = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    return np.asarray(pairs[far <= rho * (1.0 + 4.0 * np.finfo(float).eps)], dtype=np.int64)
