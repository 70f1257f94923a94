"""The panels over a line: observations, smooth part, step part and histograms."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection

from stepsmooth.model.arrays import Floats, Ints
from stepsmooth.report.palette import GREY, INK, TRUTH, level_colours
from stepsmooth.report.scales import bin_edges
from stepsmooth.report.thinning import label_runs, sample_points, thin_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY = 2_000  # marks beyond which a vector file holds them as one image
MAX_RINGS = 150


def draw_observations(
    ax: "Axes", x: Floats, y: Floats, labels: Ints, levels: Floats, smooth: Floats, wrong: Ints | None = None
) -> None:
    """Draw points coloured by label, over the curves smooth + level; wrongly labelled points stand out."""
    kept = thin_curve(x, smooth)
    for level, colour in zip(levels, level_colours(len(levels))):
        ax.plot(x[kept], smooth[kept] + level, color=colour, linewidth=1.1, alpha=0.75, zorder=1)
    drawn = draw_points(ax, x, y, labels, len(levels), alpha=0.85)
    if wrong is not None:
        mark_wrong(ax, x, y, np.intersect1d(wrong, drawn))
    ax.margins(x=0.01)


def draw_smooth(ax: "Axes", x: Floats, smooth: Floats, se: Floats | None, truth: Floats | None = None) -> None:
    """Draw the smooth part with a band of two standard errors; the true one, if known, dashed."""
    kept = thin_curve(x, smooth)
    if se is not None:
        low, high = smooth[kept] - 2 * se[kept], smooth[kept] + 2 * se[kept]
        ax.fill_between(x[kept], low, high, color=GREY, alpha=0.35, linewidth=0, zorder=1)
    ax.plot(x[kept], smooth[kept], color=INK, linewidth=1.3, zorder=2)
    if truth is not None:
        kept = thin_curve(x, truth)
        ax.plot(x[kept], truth[kept], color=TRUTH, linewidth=1.1, dashes=(4, 3), zorder=3)
    ax.margins(x=0.01)


def draw_steps(ax: "Axes", x: Floats, stepped: Floats, labels: Ints, levels: Floats) -> None:
    """Draw the step signal as stretches at its levels, over the faint observations minus the smooth part."""
    draw_points(ax, x, stepped, labels, len(levels), alpha=0.28)
    for label, (level, colour) in enumerate(zip(levels, level_colours(len(levels)))):
        runs = label_runs(x, labels, label)
        ends = [((left, level), (right, level)) for left, right in runs]
        ax.add_collection(LineCollection(ends, colors=colour, linewidths=2.6, capstyle="butt", zorder=3))
    ax.margins(x=0.01)


def draw_histogram(ax: "Axes", values: Floats, labels: Ints, n_levels: int) -> None:
    """Draw a slim histogram lying on its side, stacked by label."""
    edges = bin_edges(values, int(np.clip(np.sqrt(len(values)), 12, 70)))
    base = np.zeros(len(edges) - 1)
    for label, colour in enumerate(level_colours(n_levels)):
        counts = np.histogram(values[labels == label], bins=edges)[0]
        ax.barh(edges[:-1], counts, np.diff(edges), base, align="edge", color=colour, alpha=0.75, linewidth=0)
        base += counts
    ax.set_xlim(0, 1.05 * max(base.max(), 1))
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(labelleft=False)


def draw_points(ax: "Axes", x: Floats, y: Floats, labels: Ints, n_levels: int, alpha: float) -> Ints:
    """Draw dots coloured by label, rasterised when many; return the indices drawn."""
    drawn = sample_points(labels)
    colours = np.asarray(level_colours(n_levels))[labels[drawn]]
    size = float(np.clip(6_000 / max(len(drawn), 1), 1.0, 14.0))
    # One collection in the order of x: no label systematically hides another.
    many = len(drawn) > MANY
    ax.scatter(x[drawn], y[drawn], s=size, c=colours, alpha=alpha, linewidths=0, zorder=2, rasterized=many)
    return drawn


def mark_wrong(ax: "Axes", x: Floats, y: Floats, wrong: Ints) -> None:
    """Ring the points labelled wrongly, or blacken them where rings would cover the picture."""
    if len(wrong) <= MAX_RINGS:
        ax.scatter(x[wrong], y[wrong], s=22, facecolors="none", edgecolors=INK, linewidths=0.7, zorder=3)
    else:
        ax.scatter(x[wrong], y[wrong], s=2.0, c=INK, linewidths=0, zorder=3, rasterized=len(wrong) > MANY)
