"""The panels of a point cloud in the plane: its neighbour graph, and the graph on its clusters."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.report.graph_data import CloudGraphs
from stepsmooth.report.graph_view import node_places
from stepsmooth.report.lettering import entitle, join, points_note
from stepsmooth.report.line_panels import MANY
from stepsmooth.report.palette import GOLD, GREY, INK, cluster_colours
from stepsmooth.report.thinning import sample_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HALO: Anything = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "boxstyle": "round,pad=0.15"}


def draw_neighbors(ax: "Axes", graphs: CloudGraphs, plane: Floats) -> None:
    """Draw the points, their neighbour graph at rho_min and the critical edge in gold."""
    lines = plane[graphs.edges]
    strength = float(np.clip(18.0 / np.sqrt(len(lines)), 0.2, 0.8))
    edges = LineCollection(list(lines), colors=GREY, linewidths=0.5, alpha=strength, zorder=1)
    edges.set_rasterized(len(lines) > MANY)
    ax.add_collection(edges)
    _dots(ax, graphs, plane, alpha=0.95)
    # A dark rim tells the critical edge from the others without its colour.
    for colour, width in ((INK, 5.2), (GOLD, 3.2)):
        ax.plot(*plane[graphs.critical].T, color=colour, linewidth=width, solid_capstyle="round", zorder=4)
    ends = np.asarray(cluster_colours(graphs.n_clusters))[graphs.labels[graphs.critical]]
    ax.scatter(
        plane[graphs.critical, 0], plane[graphs.critical, 1], s=38, c=ends, edgecolors=INK, linewidths=1.0, zorder=5
    )
    entitle(ax, "Neighbour graph", f"gold: the critical edge, \N{GREEK SMALL LETTER RHO} min = {graphs.rho_min:.3g}")
    shown = (
        f"{len(graphs.edges):,} edges" if graphs.complete else f"the {len(graphs.edges):,} longest edges of the tree"
    )
    _bare(ax, join(shown, points_note(len(plane)), _turned(graphs)))


def draw_clusters(ax: "Axes", graphs: CloudGraphs, plane: Floats, names: Sequence[str]) -> None:
    """Draw each cluster as a node, and the edges through the points where two of them come nearest."""
    _dots(ax, graphs, plane, alpha=0.25)
    middles, ring = node_places(graphs, plane)
    for (k, other), (a, b), near in zip(graphs.clusters, graphs.nearest, graphs.near):
        path = np.array([middles[k], plane[a], plane[b], middles[other]])
        style: Anything = (
            {"color": INK, "linewidth": 1.7} if near else {"color": INK, "linewidth": 0.9, "dashes": (4, 3)}
        )
        ax.plot(*path.T, zorder=3 if near else 2, solid_joinstyle="round", **style)
        ax.plot(*plane[[a, b]].T, "o", color=INK, markersize=2.6, zorder=4)
    for k, (middle, colour) in enumerate(zip(middles, cluster_colours(graphs.n_clusters))):
        ax.scatter(middle[0], middle[1], s=190, color=colour, edgecolors=INK, linewidths=1.0, zorder=5)
        ax.annotate(names[k], middle, (0, -15), textcoords="offset points", ha="center", va="center", fontsize=8.5,
                    fontweight="bold", bbox=HALO, zorder=6)  # fmt: skip
    entitle(ax, "Cluster graph", f"solid: within the label distance, δ = {graphs.delta:.3g}; dashed: farther")
    aside = ";\nclusters lie within each other: their nodes stand around them" if ring else ""
    _bare(ax, f"edges run through the points where two clusters come nearest{aside}")


def _dots(ax: "Axes", graphs: CloudGraphs, plane: Floats, alpha: float) -> None:
    drawn = sample_points(graphs.labels)
    colours = np.asarray(cluster_colours(graphs.n_clusters))[graphs.labels[drawn]]
    size = float(np.clip(4_500 / max(len(drawn), 1), 1.0, 20.0))
    many = len(drawn) > MANY
    ax.scatter(
        plane[drawn, 0], plane[drawn, 1], s=size, c=colours, alpha=alpha, linewidths=0, zorder=2, rasterized=many
    )


def _bare(ax: "Axes", note: str) -> None:
    """Leave away the axes: only distances matter."""
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_visible(False)
    ax.set_xlabel(note, color=GREY, fontsize=8.0)


def _turned(graphs: CloudGraphs) -> str:
    d = graphs.X.shape[1]
    return f"{d} dimensions, turned to be seen best" if d > 2 else ""
