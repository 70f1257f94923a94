"""Colours and typography shared by every picture.

Levels wear the palette of Okabe and Ito (2008), which stays distinct under the common colour-vision
deficiencies; more than seven levels fall back on an ordered map, as levels are ordered by value.
"""

from typing import Any

INK = "#222222"
GREY = "#8a8a8a"
TRUTH = "#D55E00"

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")

SEQUENTIAL = "cividis"
DIVERGING = "PuOr"

TYPOGRAPHY: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "axes.titlepad": 5.0,
    "axes.labelsize": 9.0,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "text.color": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
}


def level_colours(n_levels: int) -> list[str]:
    """Choose one colour per level, in ascending order of the levels.

    Parameters
    ----------
    n_levels : int
        How many levels there are.

    Returns
    -------
    list of str
        Hexadecimal colours, all different.

    Examples
    --------
    >>> level_colours(3)
    ['#0072B2', '#E69F00', '#009E73']
    >>> len(set(level_colours(12)))
    12
    """
    if n_levels <= len(OKABE_ITO):
        return list(OKABE_ITO[:n_levels])
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    ordered = colormaps["viridis"]
    return [to_hex(ordered(k / (n_levels - 1))) for k in range(n_levels)]
