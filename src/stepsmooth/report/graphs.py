"""The neighbour graph and the cluster graph of a point cloud, side by side, and as a page that turns in space."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from stepsmooth.model.arrays import Anything
from stepsmooth.report.display import as_blocks
from stepsmooth.report.graph_data import CloudGraphs, cloud_graphs
from stepsmooth.report.graph_page import graph_page
from stepsmooth.report.graph_panels import draw_clusters, draw_neighbors
from stepsmooth.report.graph_view import in_plane
from stepsmooth.report.palette import TYPOGRAPHY

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class GraphDisplay:
    """The two graphs on which the theory of identifiability rests.

    At the left the neighbour graph: all points within the connectivity rho_min of each other are joined. Gold is the
    critical edge, whose length is rho_min: it is where a change of label is hardest to tell from a change of the
    smooth part. At the right the cluster graph: each pair of clusters is joined where they come nearest. Edges within
    the label distance are solid and already join all clusters, longer ones are dashed. Build it with
    :meth:`from_points`. Clouds in more than two dimensions are turned so that clusters lie apart and the critical
    edge is seen; distances are always those in space. :meth:`save_page` writes a page on which the cloud can be turned.

    Parameters
    ----------
    graphs : CloudGraphs
    names : sequence of str
        Of the clusters.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : array of matplotlib.axes.Axes, shape (2,)

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from stepsmooth.report import GraphDisplay
    >>> X, labels = make_blobs(120, n_features=3, centers=3, random_state=0)
    >>> display = GraphDisplay.from_points(X, labels)
    >>> display.axes_.shape
    (2,)
    """

    figure_: "Figure"
    axes_: np.ndarray[tuple[int, ...], np.dtype[np.object_]]

    def __init__(self, *, graphs: CloudGraphs, names: Sequence[str]) -> None:
        self.graphs = graphs
        self.names = names

    @classmethod
    def from_points(
        cls,
        X: Anything,
        labels: Anything,
        *,
        metric: Anything = "euclidean",
        names: Sequence[str] | None = None,
        axes: Anything = None,
    ) -> Self:
        """Draw the graphs of a point cloud.

        Parameters
        ----------
        X : (n, d) array, d at least 2
        labels : (n,) array of ints
            The cluster of each point, 0 to M - 1.
        metric : str, kernel or callable, default="euclidean"
            As in :func:`stepsmooth.topology.minimum_spanning_tree`.
        names : sequence of str, optional
            Of the clusters; their numbers by default.
        axes : array-like of matplotlib.axes.Axes, optional
            Two to draw into; a new figure by default.

        Returns
        -------
        GraphDisplay
            The display, drawn.
        """
        graphs = cloud_graphs(X, labels, metric=metric)
        called = [str(k) for k in range(graphs.n_clusters)] if names is None else [str(name) for name in names]
        if len(called) != graphs.n_clusters:
            raise ValueError(f"names must hold one name for each of {graphs.n_clusters} clusters; found {len(called)}.")
        return cls(graphs=graphs, names=called).plot(axes=axes)

    def plot(self, *, axes: Anything = None) -> Self:
        """Draw both panels.

        Parameters
        ----------
        axes : array-like of matplotlib.axes.Axes, optional
            Two to draw into; a new figure by default.

        Returns
        -------
        GraphDisplay
            The display itself, with `figure_` and `axes_`.
        """
        import matplotlib as mpl
        import matplotlib.pyplot as plt

        with mpl.rc_context(TYPOGRAPHY):
            plane = in_plane(self.graphs)
            if axes is None:
                width, height = np.ptp(plane, axis=0)
                figure = plt.figure(figsize=(9.4, float(np.clip(4.6 * height / width, 2.2, 6.0)) + 0.6))
                figure.set_layout_engine("constrained", w_pad=0.08)
                axes = figure.subplots(1, 2, sharex=True, sharey=True)
            self.axes_ = as_blocks(axes, 1, 2)[0]
            self.figure_ = self.axes_[0].get_figure(root=True)
            draw_neighbors(self.axes_[0], self.graphs, plane)
            draw_clusters(self.axes_[1], self.graphs, plane, self.names)
        return self

    def save_page(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "Neighbour graph and cluster graph",
        points: Sequence[str] | None = None,
    ) -> Path:
        """Write one HTML file that shows the cloud in space, to be turned, zoomed and asked about its points.

        The file needs no network and nothing besides itself.

        Parameters
        ----------
        path : path-like
        title : str
        points : sequence of str, optional
            The name of each point, shown under the pointer.

        Returns
        -------
        pathlib.Path
            The path written.
        """
        target = Path(path)
        temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            temporary.write_text(graph_page(self.graphs, self.names, title=title, points=points), encoding="utf-8")
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
        return target
