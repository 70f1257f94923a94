"""Titles, remarks and the names of the levels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.optimize import isotonic_regression

from stepsmooth.model.arrays import Floats
from stepsmooth.report.palette import GREY, INK, level_colours
from stepsmooth.report.thinning import MAX_POINTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def entitle(ax: "Axes", title: str, note: str = "", side: Literal["left", "right"] = "right") -> None:
    """Give a panel a title at the left and a grey remark."""
    if title:
        ax.set_title(title, loc="left", fontweight="bold")
    if note:
        ax.set_title(note, loc=side, color=GREY, fontsize=8.0)


def join(*remarks: str) -> str:
    """Put the remarks that are not empty in one line.

    Examples
    --------
    >>> join("dashed: truth", "", "band: two standard errors")
    'dashed: truth; band: two standard errors'
    """
    return "; ".join(filter(None, remarks))


def points_note(n: int) -> str:
    """Say how many of `n` points are drawn, if not all of them.

    Examples
    --------
    >>> points_note(1_000_000)
    '20,000 of 1,000,000 points drawn'
    """
    return f"{MAX_POINTS:,} of {n:,} points drawn" if n > MAX_POINTS else ""


def name_levels(ax: "Axes", names: Sequence[str], levels: Floats) -> None:
    """Draw a line at each level with its name beside it, spread where names would touch."""
    for level in levels:
        ax.axhline(level, color=INK, linewidth=0.6, zorder=3)
    figure = ax.get_figure(root=True)
    assert figure is not None
    room = ax.get_position().height * figure.get_figheight() * 72  # points
    two_lines = 22 * len(levels) < room
    order = np.argsort(levels)
    low, high = ax.get_ylim()
    heights = spread((levels[order] - low) / (high - low), (22 if two_lines else 10) / room)
    size = 8.0 if two_lines else 7.0
    colours = level_colours(len(levels))
    for label, at in zip(order, heights):
        name = names[label] if two_lines else names[label].split("\n")[0]
        for text, colour, shift in (("■", colours[label], 4), (name, INK, 13)):
            place = ((1.0, at), (shift, 0), "axes fraction", "offset points")
            ax.annotate(text, *place, va="center", fontsize=size, color=colour)


def spread(wanted: Floats, gap: float) -> Floats:
    """Move ascending positions apart as little as possible, so that no two are closer than `gap`.

    Least squares under these constraints is an isotonic regression, once the gaps are taken off.

    Examples
    --------
    >>> spread(np.array([0.0, 0.5, 0.5]), 0.25)
    array([0.   , 0.375, 0.625])
    """
    taken = gap * np.arange(len(wanted))
    return np.asarray(isotonic_regression(wanted - taken).x + taken)
