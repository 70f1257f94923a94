"""k-means on the observations themselves: what one does who does not see the smooth part."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .decomposition import FloatArray, IntArray, PeerDecomposition, channels, in_our_gauge
from .optional import require


def kmeans_sklearn(
    y: ArrayLike, n_levels: int, *, weights: ArrayLike | None = None, n_init: int = 10, random_state: int = 0
) -> tuple[IntArray, FloatArray, float]:
    """Cluster values by scikit-learn's Lloyd iterations from k-means++ starts.

    Parameters
    ----------
    y : array_like of shape (n,) or (n, p)
        Observations.
    n_levels : int
        Number of clusters.
    weights : array_like of shape (n,), optional
        Frequencies.
    n_init : int, default 10
        Number of starts; the best is kept.
    random_state : int, default 0
        Seed of the starts.

    Returns
    -------
    labels : ndarray of shape (n,)
        In the order scikit-learn found them.
    centers : ndarray of shape (M, p)
        Cluster means.
    cost : float
        Weighted sum of squared distances to the own centre.

    Examples
    --------
    >>> from stepsmooth.peers import kmeans_sklearn
    >>> labels, centers, cost = kmeans_sklearn([0.0, 0.1, 5.0, 5.1], 2)
    >>> round(cost, 3)
    0.01
    """
    from sklearn.cluster import KMeans

    model = KMeans(n_levels, n_init=n_init, random_state=random_state)
    model.fit(channels(y), sample_weight=None if weights is None else np.asarray(weights, dtype=np.float64))
    return model.labels_.astype(np.intp), model.cluster_centers_, float(model.inertia_)


def kmeans_ckwrap(
    y: ArrayLike, n_levels: int, *, weights: ArrayLike | None = None
) -> tuple[IntArray, FloatArray, float]:
    """Cluster values exactly by dynamic programming, as ckwrap (Ckmeans.1d.dp) does.

    Parameters
    ----------
    y : array_like of shape (n,)
        Observations.
    n_levels : int
        Number of clusters.
    weights : array_like of shape (n,), optional
        Frequencies.

    Returns
    -------
    labels : ndarray of shape (n,)
        In ascending order of the centres.
    centers : ndarray of shape (M, 1)
        Cluster means.
    cost : float
        Weighted sum of squared distances to the own centre: the global minimum.

    Examples
    --------
    >>> from stepsmooth.peers import kmeans_ckwrap
    >>> labels, centers, cost = kmeans_ckwrap([5.0, 0.0, 0.1, 5.1], 2)
    >>> labels
    array([1, 0, 0, 1])
    """
    ckmeans = require("ckwrap").ckmeans
    given = None if weights is None else np.asarray(weights, dtype=np.float64)
    result = ckmeans(np.asarray(y, dtype=np.float64), n_levels, weights=given)
    centers = np.asarray(result.centers, dtype=np.float64)[:, None]
    return np.asarray(result.labels, dtype=np.intp), centers, float(np.sum(result.withinss))


def kmeans_levels(
    x: ArrayLike, y: ArrayLike, n_levels: int, *, n_init: int = 10, random_state: int = 0
) -> PeerDecomposition:
    """Take the k-means clusters of y as the steps and no smooth part.

    Parameters
    ----------
    x : array_like
        Points; not looked at.
    y : array_like of shape (n,) or (n, p)
        Observations.
    n_levels : int
        Number of levels.
    n_init, random_state
        As in :func:`kmeans_sklearn`.

    Returns
    -------
    PeerDecomposition
        With ``smooth`` zero.

    Examples
    --------
    >>> from stepsmooth.peers import kmeans_levels
    >>> kmeans_levels(None, [1.0, 1.2, -1.0, -1.2], 2).labels
    array([1, 1, 0, 0])
    """
    labels, centers, _ = kmeans_sklearn(y, n_levels, n_init=n_init, random_state=random_state)
    return in_our_gauge(y, labels, levels=centers)
