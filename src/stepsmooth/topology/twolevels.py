"""Two levels have one gap, which all edges of the tree share: less is asked than in general."""

import numpy as np

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.topology.certificate import ROUNDING, largest_factor
from stepsmooth.topology.modulus import size


def two_levels(edges: Ints, Y: Floats, labels: Ints, bound: Floats, norm: Anything = 2) -> float:
    """Return by what factor the true f could vary more before two levels are no longer decided; 0 if they are not.

    An edge over which y changes by more than f can joins different labels in truth. So if that holds for all edges
    between found labels, the true gap is at least the largest such change less what f can add; and if on no other edge
    y and f together reach that gap, those join equal labels. Every edge is then decided, and with it the division.

    Parameters
    ----------
    edges : (n - 1, 2) array of ints
        The spanning tree.
    Y : (n, p) array
        The observations, without noise.
    labels : (n,) array of ints
        0 or 1.
    bound : (n - 1,) array
        How much the true f may vary over each edge.
    norm : 1, 2, inf or callable, default=2

    Examples
    --------
    >>> chain, Y = np.array([[0, 1], [1, 2]]), np.array([[0.0], [1.0], [1.1]])
    >>> round(two_levels(chain, Y, np.array([0, 1, 1]), np.full(2, 0.15)), 1)  # 1 - 0.45 = 0.1 + 0.45
    3.0
    """
    change = size(Y[edges[:, 0]] - Y[edges[:, 1]], norm)
    across = labels[edges[:, 0]] != labels[edges[:, 1]]

    def decided(factor: float) -> bool:
        more, less = change + factor * bound, change - factor * bound
        least_gap, most_gap = less[across].max() * (1.0 - ROUNDING), more[across].min()
        within, sure = more[~across].max(initial=0.0), np.all(less[across] > ROUNDING * change.max())
        # Where no gap fits all edges, the premises contradict the data, and nothing follows from them.
        return bool(sure and within < least_gap <= most_gap)

    return largest_factor(decided)
