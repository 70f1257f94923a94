"""The minimum spanning tree, from which connectivity, label distance and certificates follow.

G_rho(X) is connected if and only if rho is at least the longest edge of the minimum spanning tree. Which way the tree
is found depends on the points: sorting on a line, Boruvka on a k-d tree in space, Prim for any other distance, the
neighbours on the lattice for images.
"""

from dataclasses import dataclass

import numpy as np

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.topology.arguments import point_cloud
from stepsmooth.topology.boruvka import boruvka
from stepsmooth.topology.distance import of_distance, rows
from stepsmooth.topology.lattice import Lattice, lattice_tree
from stepsmooth.topology.prim import prim

HIGH = 10  # dimensions from which on a k-d tree prunes nothing


@dataclass(frozen=True)
class SpanningTree:
    """A minimum spanning tree.

    Attributes
    ----------
    edges : (n - 1, 2) array of ints
        Pairs of points, shortest edge first.
    lengths : (n - 1,) array
        Distances, ascending.
    """

    edges: Ints
    lengths: Floats

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.edges) + 1


def minimum_spanning_tree(X: Anything, *, metric: Anything = "euclidean") -> SpanningTree:
    """Return the minimum spanning tree of a point cloud: exact, in memory linear in n.

    Parameters
    ----------
    X : (n, d) or (n,) array, or Lattice
        The points; the matrix of distances if metric="precomputed"; the voxels of a mask, as a `Lattice`.
    metric : str, kernel or callable, default="euclidean"
        "euclidean", a `Monotone` function of it, the min kernel or a kernel of scikit-learn with one length scale: a
        million points in two or three dimensions take seconds. Anything else (a name that
        `scipy.spatial.distance.cdist` knows, "precomputed", another kernel, a function `metric(X, Y)` that returns
        the matrix of distances): n^2 distances are computed, row by row.

    Returns
    -------
    SpanningTree

    Examples
    --------
    >>> tree = minimum_spanning_tree([[0.0, 0.0], [0.0, 1.0], [3.0, 1.0]])
    >>> tree.edges.tolist(), tree.lengths.tolist()
    ([[0, 1], [1, 2]], [1.0, 3.0])
    """
    if isinstance(X, Lattice):
        if metric != "euclidean":
            raise ValueError("A Lattice is measured in its spacing; metric must be 'euclidean'.")
        return SpanningTree(*lattice_tree(X))
    increasing = of_distance(metric)
    if increasing is None:
        return SpanningTree(*prim(*rows(X, metric)))
    points = point_cloud(X)
    # Squares of very large or small coordinates overflow; dividing by a power of two is exact.
    unit = 2.0 ** np.floor(np.log2(np.ptp(points, axis=0).max() / 2.0))
    edges, lengths = _euclidean(points / unit)
    return SpanningTree(edges, np.asarray(increasing(lengths * unit)))


def _euclidean(points: Floats) -> tuple[Ints, Floats]:
    d = points.shape[1]
    if d == 1:
        order = np.argsort(points[:, 0], kind="stable")
        lengths = np.diff(points[order, 0])
        edges = np.sort(np.column_stack([order[:-1], order[1:]]), axis=1).astype(np.int64)
        by_length = np.argsort(lengths, kind="stable")
        return edges[by_length], lengths[by_length]
    if d > HIGH:
        return prim(*rows(points))
    return boruvka(points)
