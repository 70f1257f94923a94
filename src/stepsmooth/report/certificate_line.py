"""The panels of a certificate over a line: where it breaks, other labels, and the parts that hang together."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection

from stepsmooth.model.arrays import Floats, Ints
from stepsmooth.report.certificate_words import (
    BREAK,
    changed_note,
    give_verdict,
    marked_edges,
    part_colours,
    part_groups,
)
from stepsmooth.report.lettering import entitle, join, points_note
from stepsmooth.report.line_panels import MANY, MAX_RINGS, draw_observations, draw_points, mark_wrong
from stepsmooth.report.palette import GREY, INK
from stepsmooth.report.thinning import label_runs
from stepsmooth.topology import Certificate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NARROW = 0.004  # least width of a mark, as a share of the line


def line_panels(certificate: Certificate) -> Sequence[float]:
    """Return the heights of the panels, in inches."""
    bars = 0.55 + 0.24 * len(part_groups(certificate.parts))
    return [2.2, bars] if certificate.alternative is None else [2.2, 1.7, bars]


def draw_on_line(
    axes: Sequence["Axes"],
    certificate: Certificate,
    x: Floats,
    y: Floats,
    labels: Ints,
    levels: Floats | None,
    smooth: Floats | None,
) -> None:
    """Draw a certificate into two panels, or into three if there are other labels."""
    order = np.argsort(x, kind="stable")
    count = int(labels.max()) + 1 if levels is None else len(levels)
    edges, words = marked_edges(certificate)
    for ax in axes[:-1]:
        _shade(ax, x, edges)
    if levels is None or smooth is None:
        draw_points(axes[0], x[order], y[order], labels[order], count, alpha=0.85)
    else:
        draw_observations(axes[0], x[order], y[order], labels[order], levels, smooth[order])
    give_verdict(axes[0], certificate, join(f"shaded: {words}" if len(edges) else words, points_note(len(x))))
    if certificate.alternative is not None:
        changed, note = changed_note(labels, certificate.alternative)
        kept = order[~changed[order]]
        axes[1].scatter(x[kept], y[kept], s=4.0, color=GREY, alpha=0.35, linewidths=0, rasterized=len(kept) > MANY)
        moved = order[changed[order]]
        draw_points(axes[1], x[moved], y[moved], certificate.alternative[moved], count, alpha=0.85)
        if len(moved) <= MAX_RINGS:
            mark_wrong(axes[1], x, y, moved)
        entitle(axes[1], "Other labels that fit as well", f"{note}; grey: as above")
    for ax in axes[:-1]:
        ax.set_ylabel("y")
        ax.tick_params(labelbottom=False)
    _draw_parts(axes[-1], x[order], certificate.parts[order])
    axes[-1].set_xlim(axes[0].get_xlim())
    axes[-1].set_xlabel("x")


def _shade(ax: "Axes", x: Floats, edges: Ints) -> None:
    """Shade the stretches of the line between the ends of edges, none too narrow to be seen."""
    least = NARROW * float(np.ptp(x))
    for i, j in edges:
        left, right = min(x[i], x[j]), max(x[i], x[j])
        more = max(least - (right - left), 0.0) / 2.0
        ax.axvspan(left - more, right + more, facecolor=BREAK, alpha=0.22, linewidth=0, zorder=0)


def _draw_parts(ax: "Axes", x: Floats, parts: Ints) -> None:
    """Draw a bar for each of the largest parts, where its points are."""
    groups = part_groups(parts)
    for row, ((_, inside), colour) in enumerate(zip(groups, part_colours(groups))):
        ends = [((left, row), (right, row)) for left, right in _stretches(x, inside.astype(np.int64))]
        ax.add_collection(LineCollection(ends, colors=colour, linewidths=7.0, capstyle="butt"))
    ax.set_ylim(len(groups) - 0.4, -0.6)
    ax.set_yticks(range(len(groups)), labels=[name for name, _ in groups], color=INK)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    entitle(ax, "Parts", "within a part, labels are consistent with each other")


def _stretches(x: Floats, inside: Ints) -> Floats:
    """Return where points lie, (r, 2): like `label_runs`, but a pause in the sampling belongs to nobody."""
    runs, half = label_runs(x, inside, 1), float(np.median(np.diff(x))) / 2.0
    first = x[np.searchsorted(x, runs[:, 0], side="left")]
    last = x[np.searchsorted(x, runs[:, 1], side="right") - 1]
    return np.column_stack([np.maximum(runs[:, 0], first - half), np.minimum(runs[:, 1], last + half)])
