"""Colours and typography shared by every picture.

Levels wear the palette of Okabe and Ito (2008), which stays distinct under the common colour-vision
deficiencies; more than seven levels fall back on an ordered map, as levels are ordered by value.
"""

from typing import Any

import numpy as np

INK = "#222222"
GREY = "#8a8a8a"
TRUTH = "#D55E00"

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")

# Of clusters beside a gold edge: without the orange and the yellow.
CLUSTERS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9")
GOLD = "#FFC61A"

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
    return list(OKABE_ITO[:n_levels]) if n_levels <= len(OKABE_ITO) else ordered_colours(n_levels)


def cluster_colours(n_clusters: int) -> list[str]:
    """Choose one colour per cluster, all of them apart from the gold of a critical edge.

    Examples
    --------
    >>> cluster_colours(2)
    ['#0072B2', '#D55E00']
    """
    return list(CLUSTERS[:n_clusters]) if n_clusters <= len(CLUSTERS) else ordered_colours(n_clusters, high=0.85)


def ordered_colours(count: int, *, name: str = "viridis", low: float = 0.0, high: float = 1.0) -> list[str]:
    """Choose colours in an order that also shows without colour vision, from an even map.

    Examples
    --------
    >>> ordered_colours(2)
    ['#440154', '#fde725']
    """
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps[name](at)) for at in np.linspace(low, high, count)]
