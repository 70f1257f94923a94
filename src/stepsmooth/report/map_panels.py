"""The panels of a decomposition over a plane: maps of observations, labels, smooth part and residual."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.report.lettering import entitle, points_note
from stepsmooth.report.line_panels import MANY, mark_wrong
from stepsmooth.report.palette import DIVERGING, SEQUENTIAL, level_colours
from stepsmooth.report.thinning import sample_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from stepsmooth.report.channel import Channel


def map_layout(channels: int) -> Anything:
    """Make a figure with a row of four maps per channel."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(10.0, 3.1 * channels), layout="constrained")
    return figure.subplots(channels, 4, sharex=True, sharey=True, squeeze=False)


def draw_maps(axes: Sequence["Axes"], channel: "Channel") -> None:
    """Draw one channel over a plane into its four axes."""
    observations, labels, smooth, residual = axes
    c = channel
    drawn = sample_points(c.labels)
    remainder = c.y - c.smooth - c.levels[c.labels]
    names = [name.split("\n")[0] for name in c.level_names()]

    _map(observations, c.X[drawn], c.y[drawn], cmap=SEQUENTIAL)
    entitle(observations, c.title("Observations"), points_note(len(c.y)))

    colours = ListedColormap(level_colours(len(c.levels)))
    edges = BoundaryNorm(np.arange(len(c.levels) + 1) - 0.5, len(c.levels))
    bar = _map(labels, c.X[drawn], c.labels[drawn], cmap=colours, norm=edges)
    bar.set_ticks(np.arange(len(c.levels)), labels=names)
    bar.ax.minorticks_off()
    if c.wrong is not None:
        mark_wrong(labels, c.X[:, 0], c.X[:, 1], np.intersect1d(c.wrong, drawn))
    entitle(labels, "Step part", "" if c.wrong is None else f"{1 - len(c.wrong) / len(c.labels):.1%} right")

    _map(smooth, c.X[drawn], c.smooth[drawn], cmap=SEQUENTIAL)
    entitle(smooth, "Smooth part")

    largest = float(np.quantile(np.abs(remainder), 0.995)) or 1.0
    _map(residual, c.X[drawn], remainder[drawn], cmap=DIVERGING, vmin=-largest, vmax=largest)
    entitle(residual, "Residual")


def _map(ax: "Axes", X: Floats, values: Floats | Ints, **colouring: Anything) -> Anything:
    """Draw dots coloured by value, with a slim colour bar below."""
    size = float(np.clip(9_000 / max(len(X), 1), 0.5, 30.0))
    dots = ax.scatter(X[:, 0], X[:, 1], size, values, linewidths=0, rasterized=len(X) > MANY, **colouring)
    ax.set_aspect("equal" if 0.2 < np.ptp(X[:, 0]) / np.ptp(X[:, 1]) < 5 else "auto")
    ax.locator_params(nbins=3)
    bar = ax.figure.colorbar(dots, ax=ax, location="bottom", fraction=0.05, pad=0.03, aspect=28)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    return bar
