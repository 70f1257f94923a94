"""From where to look at a point cloud, so that its clusters lie apart and its critical edge is seen."""

import numpy as np
from scipy.spatial.distance import pdist

from stepsmooth.model.arrays import Floats
from stepsmooth.report.graph_data import CloudGraphs

DIRECTIONS = 600  # tried, evenly spread over the sphere
CLOSE = 0.08  # of the cloud's diagonal: nodes nearer than this cover each other
SEEN = 0.7  # of the critical edge's length: more is not better


def principal_axes(X: Floats, count: int) -> Floats:
    """Turn points so that their largest spread comes first, and keep `count` coordinates; missing ones are 0.

    Examples
    --------
    >>> principal_axes(np.array([[0.0, 0.0, 5.0], [0.0, 0.0, 7.0], [0.0, 0.0, 9.0]]), 1).round(9).tolist()
    [[-2.0], [0.0], [2.0]]
    """
    centred = X - X.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:count]
    axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]  # no mirroring by chance
    turned = centred @ axes.T
    return np.asarray(np.pad(turned, ((0, 0), (0, count - turned.shape[1]))))


def in_space(X: Floats) -> Floats:
    """Return points in three coordinates: their own, or of more than three those of largest spread.

    Examples
    --------
    >>> in_space(np.array([[1.0, 2.0]]))
    array([[1., 2., 0.]])
    """
    d = X.shape[1]
    return principal_axes(X, 3) if d > 3 else np.asarray(np.pad(X, ((0, 0), (0, 3 - d))))


def best_view(graphs: CloudGraphs) -> Floats:
    """Return the axes of the screen as rows, (3, 3): right, up, and towards the eye.

    Of many directions, the one is taken from which the middles of clusters lie apart, the critical edge is not
    foreshortened and the cloud is broad. Points in a plane are looked at from above.

    Examples
    --------
    >>> from stepsmooth.report.graph_data import cloud_graphs
    >>> best_view(cloud_graphs([[0.0, 0.0], [0.0, 1.0], [3.0, 1.0]], [0, 0, 1])).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if graphs.X.shape[1] == 2:
        return np.eye(3)
    space = in_space(graphs.X)
    centred = space - space.mean(axis=0)
    middles = np.array([np.median(centred[graphs.labels == k], axis=0) for k in range(graphs.n_clusters)])
    between = middles[graphs.clusters[:, 0]] - middles[graphs.clusters[:, 1]]
    edge = centred[graphs.critical[1]] - centred[graphs.critical[0]]
    cloud = float(np.sqrt(np.mean(centred**2) * 3.0))
    towards = _directions(DIRECTIONS)
    apart = _across(between, towards).min(axis=1) / cloud
    seen = np.minimum(_across(edge[None], towards)[:, 0] / max(float(np.linalg.norm(edge)), 1e-300), SEEN)
    broad = np.sqrt(np.mean(_across(centred, towards) ** 2, axis=1)) / cloud
    eye = towards[np.argmax(apart + seen + broad)]
    # On the screen, the largest spread lies along the abscissa.
    flat = centred - np.outer(centred @ eye, eye)
    right = np.linalg.svd(flat, full_matrices=False)[2][0]
    right = right * np.sign(right[np.abs(right).argmax()])
    return np.array([right, np.cross(eye, right), eye])


def in_plane(graphs: CloudGraphs) -> Floats:
    """Return the points as they are drawn on paper, (n, 2)."""
    return np.asarray(in_space(graphs.X) @ best_view(graphs)[:2].T)


def node_places(graphs: CloudGraphs, plane: Floats) -> tuple[Floats, bool]:
    """Return where the nodes of clusters are drawn, (M, 2), and whether that is on a ring around the cloud.

    They stand at the middles of their clusters; where those would cover each other, as those of scattered labels do,
    on a ring, in the order in which the middles lie around the centre.

    Examples
    --------
    >>> from stepsmooth.report.graph_data import cloud_graphs
    >>> X = np.array([[0.0, 0.0], [4.0, 1.0], [0.0, 1.0], [4.0, 0.0]])
    >>> node_places(cloud_graphs(X, [0, 0, 1, 1]), X)[1], node_places(cloud_graphs(X, [0, 1, 0, 1]), X)[1]
    (True, False)
    """
    middles = np.array([np.median(plane[graphs.labels == k], axis=0) for k in range(graphs.n_clusters)])
    sides = np.ptp(plane, axis=0)
    if pdist(middles).min() > CLOSE * np.linalg.norm(sides):
        return middles, False
    around = middles - middles.mean(axis=0)
    rank = np.argsort(np.argsort(np.arctan2(around[:, 1], around[:, 0]), kind="stable"))
    angle = 2.0 * np.pi * (rank + 0.5) / len(middles) - np.pi
    centre = (plane.min(axis=0) + plane.max(axis=0)) / 2.0
    return np.asarray(centre + np.column_stack([np.cos(angle), np.sin(angle)]) * sides / 2.0), True


def _across(vectors: Floats, towards: Floats) -> Floats:
    """Return how long each vector is when seen from each direction, (directions, vectors)."""
    along = towards @ vectors.T
    return np.asarray(np.sqrt(np.maximum(np.sum(vectors**2, axis=1) - along**2, 0.0)))


def _directions(count: int) -> Floats:
    """Return unit vectors of the half sphere on a Fibonacci spiral."""
    i = np.arange(count) + 0.5
    z, angle = i / count, np.pi * (1.0 + np.sqrt(5.0)) * i
    radius = np.sqrt(1.0 - z**2)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), z])
