"""Pictures of a head taken apart, and of the iterations that led there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.ndimage import binary_dilation

from stepsmooth.experiments.drawing import faint_grid, name_ends, paint, panels
from stepsmooth.experiments.mri_fits import Fit, wrong_of
from stepsmooth.model.arrays import Floats
from stepsmooth.report.lettering import entitle
from stepsmooth.report.palette import OKABE_ITO, SEQUENTIAL, level_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(single: Fit, multi: Fit) -> Figure:
    """Draw what was seen and found: a row for one sequence, a row for three."""
    titles = ("T1w", "T2w", "PDw", "Field", "Corrected", "Labels", "Truth")
    with panels(2, 7, (13.6, 5.0)) as (figure, axes):
        for row, found in zip(axes, (single, multi)):
            many = len(found.scan.contrasts)
            for c in range(3):
                if c < many:
                    image = found.scan.image if many == 1 else found.scan.image[..., c]
                    _map(row[c], np.where(found.scan.mask, image, 0.0), cmap="gray", vmin=0.0)
                else:
                    row[c].set_axis_off()
            corrected = found.corrected if many == 1 else found.corrected[..., 0]
            _map(row[3], np.where(found.scan.mask, found.field, np.nan), cmap=SEQUENTIAL)
            _map(row[4], np.where(found.scan.mask, corrected, 0.0), cmap="gray", vmin=0.0)
            _labels(row[5], found.labels, len(found.scan.levels), wrong_of(found))
            _labels(row[6], found.scan.labels, len(found.scan.levels))
            for ax, title in zip(row, titles):
                if ax.axison or ax.images:
                    entitle(ax, title)
            row[5].set_title(f"{found.accuracy[-1]:.2%}", loc="right", fontsize=8)
        axes[0, 1].text(
            0.0, 0.5, "one sequence", transform=axes[0, 1].transAxes, fontsize=11, fontweight="bold", va="center"
        )
    return figure


def _map(ax: Axes, values: Floats, **colouring: Any) -> None:
    ax.imshow(values.T, origin="lower", interpolation="nearest", **colouring)
    ax.set_axis_off()


def _labels(ax: Axes, labels: np.ndarray, count: int, wrong: np.ndarray | None = None) -> None:
    from matplotlib.colors import to_rgb

    picture = paint(labels, level_colours(count))
    if wrong is not None:
        picture[binary_dilation(wrong, iterations=1) & (labels >= 0) if wrong.sum() < 200 else wrong] = to_rgb(
            "#d00000"
        )
    ax.imshow(picture.transpose(1, 0, 2), origin="lower", interpolation="nearest")
    ax.set_axis_off()


def draw_iterations(single: Fit, multi: Fit) -> Figure:
    """Draw accuracy, deviation and changes over the iterations."""
    colours = OKABE_ITO[:2]
    with panels(1, 3, (12.0, 3.4)) as (figure, axes):
        for ax, column, title in zip(
            axes[0], ("accuracy", "deviation", "changed"), ("Labels right", "Largest deviation", "Labels that change")
        ):
            last = max(len(single.accuracy), len(multi.accuracy))
            for found, colour in zip((single, multi), colours):
                values = getattr(found, column)
                ax.plot([len(values), last], [values[-1]] * 2, ":", color=colour, linewidth=1.3)  # it has converged
                ax.plot(np.arange(1, len(values) + 1), values, "o-", color=colour, markersize=3, linewidth=1.5)
            if column != "accuracy":
                ax.set_yscale(
                    "log" if column == "deviation" else "symlog",
                    **({} if column == "deviation" else {"linthresh": 1e-4}),
                )
            ax.set_xlabel("iteration")
            entitle(ax, title)
            faint_grid(ax)
        figure.draw_without_rendering()
        for ax, column in zip(axes[0], ("accuracy", "deviation", "changed")):
            ends = [float(np.nan_to_num(getattr(f, column)[-1])) for f in (single, multi)]
            name_ends(ax, ends, ["one sequence", "three"], colours)
    return figure
