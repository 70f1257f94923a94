"""Scales of axes that are not linear, with round numbers on them."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter

from stepsmooth.model.arrays import Floats
from stepsmooth.report.palette import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bin_edges(values: Floats, bins: int) -> Floats:
    """Return the edges of equal bins over values; where these differ by rounding alone, around them.

    Examples
    --------
    >>> bin_edges(np.array([0.0, 1.0]), 2)
    array([0. , 0.5, 1. ])
    >>> bin_edges(np.array([2.0, 2.0 + 4e-16]), 2)
    array([1., 2., 3.])
    """
    low, high = float(np.min(values)), float(np.max(values))
    size = max(abs(low), abs(high))
    if high - low <= 1e-12 * size:
        low, high = low - 0.5 * size, low + 0.5 * size
    return np.asarray(np.histogram_bin_edges(values, bins=bins, range=(low, high)))


def logarithmic_x(ax: "Axes", low: float, high: float) -> None:
    """Scale the abscissa by its logarithm, with plain numbers on it."""
    ax.set_xscale("log")
    ax.set_xlim(low, high)
    short = high < 40.0 * low
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())


def square_root_y(ax: "Axes", tallest: float) -> None:
    """Scale the ordinate by its square root, with round numbers on it and room for the remark above the bars."""
    ax.set_yscale("function", functions=(lambda v: np.sign(v) * np.sqrt(np.abs(v)), lambda v: np.sign(v) * v**2))
    ax.set_ylim(0.0, 1.75 * tallest)
    ticks = [0.0]
    for tick in 10.0 ** np.floor(np.log10(tallest)) * np.array([0.01, 0.04, 0.1, 0.4, 1.0, 2.0, 4.0, 7.0, 10.0]):
        if np.sqrt(tick) - np.sqrt(ticks[-1]) > 0.12 * np.sqrt(tallest) and tick <= 1.2 * tallest:
            ticks.append(float(tick))
    ax.set_yticks(ticks)
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_axisbelow(True)
    ax.grid(axis="y", color=GREY, alpha=0.2, linewidth=0.5)
