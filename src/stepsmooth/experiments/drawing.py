"""What the figures share: panels in our lettering, curves named at their ends, bands, verdict-free axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.report.lettering import spread
from stepsmooth.report.palette import GREY, INK, OKABE_ITO, TYPOGRAPHY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# A method wears the same colour in every figure.
METHOD_COLOURS = {
    "k-means": OKABE_ITO[4],
    "N4ITK + k-means": OKABE_ITO[1],
    "LapGM": OKABE_ITO[3],
    "AltMin": OKABE_ITO[0],
    "joint": OKABE_ITO[2],
}


@contextmanager
def panels(rows: int, columns: int, size: tuple[float, float], **options: Any) -> Iterator[tuple[Figure, Any]]:
    """Open a figure in our lettering; its axes come as an array of shape (rows, columns).

    Parameters
    ----------
    rows, columns : int
    size : tuple of float
        Inches.
    options
        Of :meth:`matplotlib.figure.Figure.subplots`.

    Examples
    --------
    >>> with panels(1, 2, (6.0, 3.0)) as (figure, axes):
    ...     axes.shape
    (1, 2)
    """
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    with mpl.rc_context(TYPOGRAPHY):
        figure = plt.figure(figsize=size)
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        yield figure, figure.subplots(rows, columns, squeeze=False, **options)


def name_ends(
    ax: Axes, ends: Anything, names: Sequence[str], colours: Sequence[str], *, size: float = 8.0, gap: float = 11.0
) -> None:
    """Write the name of each curve beside its end, moved apart where names would touch.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Its limits must be final.
    ends : sequence of float
        The last value of each curve.
    names, colours : sequences of str
    size, gap : float
        Of the letters and between lines, in points.

    Examples
    --------
    >>> with panels(1, 1, (4.0, 3.0)) as (figure, axes):
    ...     name_ends(axes[0, 0], [0.2, 0.21], ["one", "other"], ["#0072B2", "#E69F00"])
    ...     [text.get_text() for text in axes[0, 0].texts]
    ['●', 'one', '●', 'other']
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    room = max(ax.get_position().height * figure.get_figheight() * 72.0, 1.0)
    places = ax.transAxes.inverted().transform(
        ax.transData.transform(np.column_stack([np.full(len(names), ax.get_xlim()[1]), np.asarray(ends, dtype=float)]))
    )[:, 1]
    places = np.clip(np.where(np.isfinite(places), places, 0.0), 0.0, 1.0)
    order = np.argsort(places, kind="stable")
    heights = spread(places[order], gap / room)
    heights -= max(float(heights[-1]) - max(1.0, gap / room * (len(names) - 1)), 0.0)
    heights += max(-float(heights[0]), 0.0)
    where: Any = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "center", "fontsize": size}
    for row, at in zip(order, heights):
        ax.annotate("●", (1.0, float(at)), (4, 0), color=colours[row], **where)
        ax.annotate(names[row], (1.0, float(at)), (4 + 1.2 * size, 0), color=INK, **where)


def draw_band(ax: Axes, x: Floats, band: Floats, colour: str, *, marks: bool = False) -> None:
    """Draw a median within its band, (3, n).

    Examples
    --------
    >>> with panels(1, 1, (4.0, 3.0)) as (figure, axes):
    ...     draw_band(axes[0, 0], np.arange(3.0), np.ones((3, 3)), "#0072B2")
    ...     len(axes[0, 0].lines)
    1
    """
    if np.any(band[2] - band[0] > 1e-3 * np.abs(band[1])):
        ax.fill_between(x, band[0], band[2], color=colour, alpha=0.16, linewidth=0)
    ax.plot(x, band[1], color=colour, linewidth=1.5, marker="o" if marks else None, markersize=3.0)


def faint_grid(ax: Axes, axis: Any = "y") -> None:
    """Draw faint lines behind the curves.

    Examples
    --------
    >>> with panels(1, 1, (4.0, 3.0)) as (figure, axes):
    ...     faint_grid(axes[0, 0])
    """
    ax.grid(axis=axis, color=GREY, alpha=0.2, linewidth=0.5)


def sizes_axis(ax: Axes, sizes: Sequence[int] | Floats, words: str = "points n") -> None:
    """Scale the abscissa by the logarithm of the sample size, from the first to the last.

    Examples
    --------
    >>> with panels(1, 1, (4.0, 3.0)) as (figure, axes):
    ...     sizes_axis(axes[0, 0], [25, 3600])
    ...     axes[0, 0].get_xscale()
    'log'
    """
    from stepsmooth.report.scales import logarithmic_x

    logarithmic_x(ax, float(min(sizes)) / 1.08, float(max(sizes)) * 1.08)
    ax.set_xlabel(words)


def paint(labels: Anything, colours: Sequence[str]) -> Floats:
    """Return a picture of labels, white where there is none.

    Examples
    --------
    >>> paint(np.array([[0, -1]]), ["#000000"]).tolist()
    [[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]]
    """
    from matplotlib.colors import to_rgb

    array = np.asarray(labels)
    picture = np.ones((*array.shape, 3))
    for k, colour in enumerate(colours):
        picture[array == k] = to_rgb(colour)
    return picture


def slope(sizes: Anything, values: Anything) -> float:
    """Return the slope of log(values) against log(sizes) by least squares, over the values above 0.

    Examples
    --------
    >>> round(slope([1, 10, 100], [1.0, 0.1, 0.01]), 6)
    -1.0
    """
    x, y = np.asarray(sizes, dtype=float), np.asarray(values, dtype=float)
    used = np.isfinite(y) & (y > 0)
    return float(np.polyfit(np.log(x[used]), np.log(y[used]), 1)[0]) if used.sum() > 1 else float("nan")


def minus(text: str) -> str:
    """Write the sign of negative numbers as a minus, not a hyphen.

    Examples
    --------
    >>> minus("slope -1.02")
    'slope \N{MINUS SIGN}1.02'
    """
    return text.replace("-", "\N{MINUS SIGN}")
