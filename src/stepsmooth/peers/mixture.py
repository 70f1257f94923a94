"""Gaussian mixtures on the observations, detrended or not."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from .decomposition import PeerDecomposition, channels, in_our_gauge
from .detrend import Trend, find_trend


def mixture_levels(
    x: ArrayLike,
    y: ArrayLike,
    n_levels: int,
    *,
    trend: Trend | None = None,
    n_init: int = 5,
    max_iter: int = 500,
    random_state: int = 0,
) -> PeerDecomposition:
    """Take the components of a Gaussian mixture as the steps.

    Parameters
    ----------
    x : array_like of shape (n,)
        Points; looked at only when a trend is asked for.
    y : array_like of shape (n,) or (n, p)
        Observations.
    n_levels : int
        Number of components.
    trend : {"spline", "polynomial", "local"} or None, default None
        What to subtract first.
    n_init : int, default 5
        Starts from k-means; the best likelihood is kept.
    max_iter : int, default 500
        Iterations of expectation-maximisation per start.
    random_state : int, default 0
        Seed of the starts.

    Returns
    -------
    PeerDecomposition
        With probabilities.

    Examples
    --------
    >>> from stepsmooth.peers import mixture_levels
    >>> mixture_levels(None, [1.0, 1.2, 1.1, -1.0, -1.2, -1.1], 2).labels
    array([1, 1, 1, 0, 0, 0])
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    smooth = None if trend is None else find_trend(x, y, trend)
    rest = channels(y) if smooth is None else channels(np.asarray(y, dtype=np.float64) - smooth)
    model = GaussianMixture(n_levels, n_init=n_init, max_iter=max_iter, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # kept as `converged`
        labels = model.fit_predict(rest)
    return in_our_gauge(
        y,
        labels,
        smooth,
        levels=model.means_,
        probabilities=model.predict_proba(rest),
        converged=bool(model.converged_),
        n_iter=int(model.n_iter_),
    )
