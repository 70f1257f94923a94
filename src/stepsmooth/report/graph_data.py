"""What the pictures of a point cloud show: its neighbour graph, the critical edge, and the graph on its clusters."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.spatial import cKDTree

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.topology import SpanningTree, cluster_distances, label_distance, minimum_spanning_tree, neighbor_graph
from stepsmooth.topology.arguments import label_codes, point_cloud
from stepsmooth.topology.distance import of_distance, rows

MAX_EDGES = 20_000  # drawn; beyond that a graph is a blot


@dataclass(frozen=True)
class CloudGraphs:
    """A point cloud with the two graphs of the paper.

    Attributes
    ----------
    X : (n, d) array
    labels : (n,) array of ints
    rho_min, delta : float
        Connectivity and label distance.
    edges : (e, 2) array of ints
        Of the neighbour graph at rho_min; the longest of the spanning tree, if that has too many to be drawn.
    complete : bool
        Whether `edges` are all edges of the neighbour graph.
    critical : (2,) array of ints
        The points whose distance is rho_min: without this edge the graph falls apart.
    clusters : (c, 2) array of ints
        Pairs k < l of clusters.
    nearest : (c, 2) array of ints
        The two points, one of each, that are nearest to each other.
    distances : (c,) array
        How far these are apart, d(C_k, C_l).
    """

    X: Floats
    labels: Ints
    rho_min: float
    delta: float
    edges: Ints
    complete: bool
    critical: Ints
    clusters: Ints
    nearest: Ints
    distances: Floats

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    @property
    def near(self) -> Sequence[bool]:
        """Whether the edge of each pair of clusters is in the cluster graph at the label distance: drawn solid."""
        return [bool(near) for near in self.distances <= self.delta * (1.0 + 1e-12)]


def cloud_graphs(X: Anything, labels: Anything, *, metric: Anything = "euclidean") -> CloudGraphs:
    """Compute what is drawn of a point cloud.

    Parameters
    ----------
    X : (n, d) array, d at least 2
    labels : (n,) array of ints
        0 to M - 1, each used.
    metric : str, kernel or callable, default="euclidean"
        As in :func:`stepsmooth.topology.minimum_spanning_tree`; "precomputed" has no points to draw.

    Returns
    -------
    CloudGraphs

    Examples
    --------
    >>> graphs = cloud_graphs([[0.0, 0.0], [0.0, 1.0], [3.0, 1.0]], [0, 0, 1])
    >>> graphs.rho_min, graphs.delta, graphs.critical.tolist(), graphs.nearest.tolist()
    (3.0, 3.0, [1, 2], [[1, 2]])
    """
    if isinstance(metric, str) and metric == "precomputed":
        raise ValueError("A picture needs points, but metric='precomputed' knows only distances.")
    points = point_cloud(X)
    if points.shape[1] < 2:
        raise ValueError("X has one column, and its graph is a line: CertificateDisplay shows what matters along it.")
    codes = label_codes(labels, len(points))
    tree = minimum_spanning_tree(points, metric=metric)
    edges, complete = _drawn_edges(points, tree, metric)
    clusters = np.array(list(combinations(range(int(codes.max()) + 1), 2)))
    between = cluster_distances(points, codes, metric=metric)
    return CloudGraphs(
        X=points,
        labels=codes,
        rho_min=float(tree.lengths[-1]),
        delta=label_distance(points, codes, tree=tree),
        edges=edges,
        complete=complete,
        critical=tree.edges[-1],
        clusters=clusters,
        nearest=np.array([_nearest(points, codes == k, codes == other, metric) for k, other in clusters]),
        distances=between[clusters[:, 0], clusters[:, 1]],
    )


def _drawn_edges(points: Floats, tree: SpanningTree, metric: Anything) -> tuple[Ints, bool]:
    """Return the edges at rho_min, or the longest of the spanning tree where those are too many."""
    rho, count = float(tree.lengths[-1]), 0
    if isinstance(metric, str) and metric == "euclidean":
        index = cKDTree(points)  # counts without listing
        count = (int(index.count_neighbors(index, rho)) - len(points)) // 2
    elif len(points) > 2_000:
        count = MAX_EDGES + 1
    if count <= MAX_EDGES:
        pairs = neighbor_graph(points, rho, metric=metric).tocoo()
        upper = pairs.row < pairs.col
        if int(upper.sum()) <= MAX_EDGES:
            return np.column_stack([pairs.row[upper], pairs.col[upper]]).astype(np.int64), True
    return tree.edges[-MAX_EDGES:], False


def _nearest(points: Floats, one: Anything, other: Anything, metric: Anything) -> tuple[int, int]:
    """Return the nearest two points, the first of one cluster, the second of another."""
    first, second = np.flatnonzero(one), np.flatnonzero(other)
    if of_distance(metric) is not None:
        far, at = (np.asarray(found) for found in cKDTree(points[second]).query(points[first]))
        best = int(np.argmin(far))
        return int(first[best]), int(second[at[best]])
    row = rows(points, metric)[1]
    found = [(float(row(int(i))[second].min()), int(i)) for i in first]
    start = min(found)[1]
    return start, int(second[np.argmin(row(start)[second])])
