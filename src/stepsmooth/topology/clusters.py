"""How far clusters are apart, and the distance at which their graph becomes connected.

The distance of two clusters is the least distance over all pairs of their points, as the paper defines it. (The
figure that the paper published with it draws the second smallest.)
"""

import numpy as np
from scipy.ndimage import distance_transform_edt
from scipy.ndimage import minimum as minimum_by_label
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.topology.arguments import label_codes, point_cloud, positive
from stepsmooth.topology.boruvka import find
from stepsmooth.topology.distance import of_distance, rows
from stepsmooth.topology.lattice import Lattice
from stepsmooth.topology.spanning import SpanningTree, minimum_spanning_tree


def cluster_distances(X: Anything, labels: Anything, *, metric: Anything = "euclidean") -> Floats:
    """Return d(C_k, C_l), the least distance between points of clusters k and l.

    Parameters
    ----------
    X : (n, d) or (n,) array, or Lattice
    labels : (n,) array of ints
        0 to M - 1, each used; for a `Lattice` also an image of labels.
    metric : str, kernel or callable, default="euclidean"
        As in :func:`minimum_spanning_tree`.

    Returns
    -------
    (M, M) array, symmetric, 0 on the diagonal

    Examples
    --------
    >>> cluster_distances([0.0, 1.0, 3.0, 7.0], [0, 0, 1, 2])
    array([[0., 2., 6.],
           [2., 0., 4.],
           [6., 4., 0.]])
    """
    if isinstance(X, Lattice):
        return _on_lattice(X, labels)
    increasing = of_distance(metric)
    if increasing is None:
        return _by_rows(X, labels, metric)
    points = point_cloud(X)
    codes = label_codes(labels, len(points))
    count = int(codes.max()) + 1
    out = np.zeros((count, count))
    trees = [cKDTree(points[codes == k]) for k in range(count)]
    for k in range(count):
        for other in range(k):
            few, many = sorted((trees[k], trees[other]), key=lambda tree: tree.n)
            out[k, other] = out[other, k] = np.min(many.query(few.data)[0])
    return np.asarray(increasing(out.ravel())).reshape(out.shape)


def label_distance(
    X: Anything, labels: Anything, *, metric: Anything = "euclidean", tree: SpanningTree | None = None
) -> float:
    """Return delta_lbl, the least delta for which the graph on clusters is connected.

    The edges of the minimum spanning tree between different labels are enough to know: an edge outside the tree is a
    longest one of a cycle, and it still is when each cluster is shrunk to a point.

    Parameters
    ----------
    X : (n, d) or (n,) array, or Lattice
    labels : (n,) array of ints
        0 to M - 1, each used.
    metric : str, kernel or callable, default="euclidean"
        As in :func:`minimum_spanning_tree`.
    tree : SpanningTree, optional
        The minimum spanning tree of X in this metric, if it is at hand.

    Returns
    -------
    float
        At most the connectivity of X.

    Examples
    --------
    >>> label_distance([0.0, 1.0, 3.0, 7.0], [0, 0, 1, 2])
    4.0
    """
    tree = minimum_spanning_tree(X, metric=metric) if tree is None else tree
    codes = label_codes(_flat(X, labels), tree.n_points)
    across = np.flatnonzero(codes[tree.edges[:, 0]] != codes[tree.edges[:, 1]])
    parent, left = np.arange(int(codes.max()) + 1), int(codes.max())
    for e in across:  # shortest first: the last edge that joins two clusters is the bottleneck
        a, b = (find(parent, k) for k in codes[tree.edges[e]])
        if a != b:
            parent[a] = b
            left -= 1
            if left == 0:
                return float(tree.lengths[e])
    raise AssertionError("a spanning tree joins all clusters")


def cluster_graph(X: Anything, labels: Anything, delta: float, *, metric: Anything = "euclidean") -> csr_array:
    """Return the graph on clusters: k != l are joined if d(C_k, C_l) <= delta.

    Parameters
    ----------
    X, labels, metric
        As in :func:`cluster_distances`.
    delta : float
        The tolerance, at least 0.

    Returns
    -------
    csr_array of bool, (M, M), symmetric

    Examples
    --------
    >>> cluster_graph([0.0, 1.0, 3.0, 7.0], [0, 0, 1, 2], delta=4.0).toarray().astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    tolerance = positive("delta", delta, zero=True)
    near = cluster_distances(X, labels, metric=metric) <= tolerance
    return csr_array(near & ~np.eye(len(near), dtype=bool))


def _flat(X: Anything, labels: Anything) -> Anything:
    return X.on_grid(labels)[X.mask] if isinstance(X, Lattice) else labels


def _by_rows(X: Anything, labels: Anything, metric: Anything) -> Floats:
    n, row = rows(X, metric)
    codes = label_codes(labels, n)
    count = int(codes.max()) + 1
    out = np.full((count, count), np.inf)
    for i in range(n):
        np.minimum.at(out[codes[i]], codes, row(i))
    np.fill_diagonal(out, 0.0)
    return np.asarray(np.minimum(out, out.T))


def _on_lattice(X: Lattice, labels: Anything) -> Floats:
    """Measure from each cluster to all voxels at once, by the exact Euclidean distance transform."""
    image = X.on_grid(labels)
    count = int(label_codes(image[X.mask], X.n_points).max()) + 1
    out, every = np.zeros((count, count)), np.arange(count)
    for k in every:
        out[k] = minimum_by_label(distance_transform_edt(image != k, sampling=X.spacing), image, every)
    return np.minimum(out, out.T)
