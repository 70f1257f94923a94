"""The figure of a decomposition over a line: its layout, and one channel drawn into it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stepsmooth.model.arrays import Anything
from stepsmooth.report.lettering import entitle, join, name_levels, points_note
from stepsmooth.report.line_panels import draw_histogram, draw_observations, draw_smooth, draw_steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import GridSpec

    from stepsmooth.report.channel import Channel


def line_layout(channels: int) -> Anything:
    """Make a figure with five axes per channel: three aligned rows, histograms beside the first and last."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(9.0 if channels == 1 else 6.5 * channels, 6.4))
    figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.06)
    ratios = {"width_ratios": [6.5, 1] * channels, "height_ratios": [1.25, 0.85, 1.1]}
    grid = figure.add_gridspec(3, 2 * channels, hspace=0.04, wspace=0.01, **ratios)
    return [line_block(figure, grid, row=0, column=2 * channel) for channel in range(channels)]


def line_block(figure: "Figure", grid: "GridSpec", *, row: int, column: int) -> Sequence["Axes"]:
    """Make the five axes of one channel in three rows and two columns of a grid, with scales in common."""
    observations = figure.add_subplot(grid[row, column])
    smooth = figure.add_subplot(grid[row + 1, column], sharex=observations)
    steps = figure.add_subplot(grid[row + 2, column], sharex=observations)
    raw = figure.add_subplot(grid[row, column + 1], sharey=observations)
    flattened = figure.add_subplot(grid[row + 2, column + 1], sharey=steps)
    return observations, smooth, steps, raw, flattened


def draw_line(axes: Sequence["Axes"], channel: "Channel") -> None:
    """Draw one channel over a line into its five axes."""
    observations, smooth, steps, raw, flattened = axes
    c, x = channel, channel.X[:, 0]
    draw_observations(observations, x, c.y, c.labels, c.levels, c.smooth, c.wrong)
    entitle(observations, c.title("Observations"), join(c.accuracy_note(), points_note(len(x))))
    draw_histogram(raw, c.y, c.labels, len(c.levels))
    entitle(raw, "", "y", "left")
    draw_smooth(smooth, x, c.smooth, c.smooth_se, c.true_smooth)
    band = "band: two standard errors, given the labels" if c.smooth_se is not None else ""
    entitle(smooth, "Smooth part", join(band, "dashed: truth" if c.true_smooth is not None else ""))
    draw_steps(steps, x, c.y - c.smooth, c.labels, c.levels)
    entitle(steps, "Step part", "behind: observations minus smooth part")
    draw_histogram(flattened, c.y - c.smooth, c.labels, len(c.levels))
    entitle(flattened, "", "y \N{MINUS SIGN} smooth", "left")
    name_levels(flattened, c.level_names(), c.levels)
    for ax in (observations, smooth):
        ax.tick_params(labelbottom=False)
    steps.set_xlabel("x")
