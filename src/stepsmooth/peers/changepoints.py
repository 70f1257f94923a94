"""Change points by ruptures, then k-means on the segments' means: what people do with steps that dwell."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .decomposition import PeerDecomposition, in_our_gauge
from .detrend import Trend, detrended
from .kmeans import kmeans_sklearn
from .optional import require


def changepoint_levels(
    x: ArrayLike,
    y: ArrayLike,
    n_levels: int,
    *,
    trend: Trend | None = None,
    penalty: float = 2.0,
    random_state: int = 0,
) -> PeerDecomposition:
    """Cut the signal where its mean changes, and group the pieces into levels.

    Parameters
    ----------
    x : array_like of shape (n,)
        Points; they give the order, and the trend if one is asked for. None: as they come.
    y : array_like of shape (n,) or (n, p)
        Observations.
    n_levels : int
        Number of levels.
    trend : {"spline", "polynomial", "local"} or None, default None
        What to subtract first.
    penalty : float, default 2
        Price of a change, in noise variances times log n for each channel; the variance is read off first differences.
    random_state : int, default 0
        Seed of k-means.

    Returns
    -------
    PeerDecomposition
        Points of one segment share a label.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import changepoint_levels
    >>> steps = np.repeat([0, 1, 0, 1], 25)
    >>> y = 4.0 * steps + np.random.default_rng(0).normal(size=100)
    >>> bool(np.mean(changepoint_levels(None, y, 2).labels == steps) > 0.95)
    True
    """
    smooth, rest, order = detrended(x, y, trend)
    chain = rest[order]
    # The median of differences is blind to the few at which the level changes.
    noise = (np.median(np.abs(np.diff(chain, axis=0)), axis=0) / (np.sqrt(2.0) * 0.6745)) ** 2
    scaled = chain / np.sqrt(np.where(noise > 0.0, noise, 1.0))
    # With a linear kernel the cost is the sum of squares about the means; KernelCPD is compiled and exact (PELT).
    search = require("ruptures").KernelCPD(kernel="linear", min_size=1).fit(scaled)
    ends = search.predict(pen=penalty * np.log(len(chain)) * chain.shape[1])
    segment = np.repeat(np.arange(len(ends)), np.diff([0, *ends]))
    counts = np.bincount(segment)
    means = np.stack([np.bincount(segment, column) / counts for column in chain.T], axis=1)
    kinds = min(n_levels, len(np.unique(means, axis=0)))
    of_segment, _, _ = kmeans_sklearn(means, kinds, weights=counts, random_state=random_state)
    labels = np.empty(len(chain), dtype=np.intp)
    labels[order] = of_segment[segment]
    return in_our_gauge(y, labels, smooth)
