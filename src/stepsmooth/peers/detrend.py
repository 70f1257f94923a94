"""Detrend, then cluster: the two-stage practice, with three ways to find the trend."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .decomposition import FloatArray, IntArray, PeerDecomposition, channels, in_our_gauge
from .kmeans import kmeans_sklearn
from .splines import spline_scipy

Trend = Literal["spline", "polynomial", "local"]


def trend_polynomial(x: ArrayLike, y: ArrayLike, *, degree: int = 5) -> FloatArray:
    """Fit a polynomial by least squares.

    Parameters
    ----------
    x, y : array_like of shape (n,)
        Points and observations.
    degree : int, default 5
        Degree; lowered when there are fewer distinct points.

    Returns
    -------
    ndarray of shape (n,)
        The trend at the points.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import trend_polynomial
    >>> x = np.linspace(0.0, 1.0, 9)
    >>> bool(np.allclose(trend_polynomial(x, x**3), x**3))
    True
    """
    points = np.asarray(x, dtype=np.float64).ravel()
    degree = min(degree, len(np.unique(points)) - 1)
    fitted = np.polynomial.Chebyshev.fit(points, np.asarray(y, dtype=np.float64), degree)
    return np.asarray(fitted(points), dtype=np.float64)


def trend_local(
    x: ArrayLike, y: ArrayLike, *, fraction: float = 0.2, n_robust: int = 0, n_anchors: int = 400
) -> FloatArray:
    """Fit local lines with tricube weights, as lowess does.

    Parameters
    ----------
    x, y : array_like of shape (n,)
        Points and observations.
    fraction : float, default 0.2
        Share of the points in each neighbourhood.
    n_robust : int, default 0
        Rounds of bisquare reweighting. Steps are no outliers, so none by default.
    n_anchors : int, default 400
        The lines are fitted at this many points and interpolated between, as lowess does with its ``delta``.

    Returns
    -------
    ndarray of shape (n,)
        The trend at the points.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import trend_local
    >>> x = np.linspace(0.0, 1.0, 50)
    >>> bool(np.allclose(trend_local(x, 2.0 * x), 2.0 * x))
    True
    """
    points = np.asarray(x, dtype=np.float64).ravel()
    order = np.argsort(points, kind="stable")
    u, v = points[order], np.asarray(y, dtype=np.float64)[order]
    n = len(u)
    width = min(n, max(3, round(fraction * n)))
    anchors = np.unique(np.linspace(0, n - 1, min(n, n_anchors)).round().astype(np.intp))
    robust = np.ones(n)
    for _ in range(n_robust + 1):
        at = np.array([_local_line(u, v, robust, int(a), width) for a in anchors])
        trend = np.interp(u, u[anchors], at)
        gap = np.abs(v - trend)
        scale = 6.0 * float(np.median(gap)) or 1.0
        robust = np.square(1.0 - np.square(np.minimum(gap / scale, 1.0)))
    result = np.empty(n)
    result[order] = trend
    return result


def _local_line(u: FloatArray, v: FloatArray, robust: FloatArray, a: int, width: int) -> float:
    """Value at ``u[a]`` of the line fitted to its `width` neighbours."""
    start = min(max(a - width // 2, 0), len(u) - width)
    near = slice(start, start + width)
    offset = u[near] - u[a]
    reach = float(np.abs(offset).max()) or 1.0
    weight = robust[near] * (1.0 - np.minimum(np.abs(offset) / (1.001 * reach), 1.0) ** 3) ** 3
    s0, s1, s2 = weight.sum(), weight @ offset, weight @ offset**2
    t0, t1 = weight @ v[near], weight @ (offset * v[near])
    determinant = s0 * s2 - s1 * s1
    if determinant <= 1e-12 * s0 * s2:
        return float(t0 / s0) if s0 > 0 else float(v[a])
    return float((s2 * t0 - s1 * t1) / determinant)


def find_trend(x: ArrayLike, y: ArrayLike, trend: Trend) -> FloatArray:
    """Find the trend of a signal by name.

    Parameters
    ----------
    x, y : array_like of shape (n,)
        Points and observations.
    trend : {"spline", "polynomial", "local"}
        Smoothing spline with SciPy's generalised cross-validation, polynomial of degree 5, or local lines.

    Returns
    -------
    ndarray of shape (n,)
        The trend at the points.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import find_trend
    >>> find_trend(np.arange(5.0), np.ones(5), "loess")
    Traceback (most recent call last):
        ...
    ValueError: Unknown trend 'loess': choose one of spline, polynomial, local.
    """
    if trend == "spline":
        return spline_scipy(x, y, None)
    if trend == "polynomial":
        return trend_polynomial(x, y)
    if trend == "local":
        return trend_local(x, y)
    raise ValueError(f"Unknown trend {trend!r}: choose one of spline, polynomial, local.")


def detrended(x: ArrayLike, y: ArrayLike, trend: Trend | None) -> tuple[FloatArray | None, FloatArray, IntArray]:
    """Subtract a trend, if one is asked for, and say in which order the points follow each other.

    Parameters
    ----------
    x : array_like of shape (n,)
        Points; None: as they come.
    y : array_like of shape (n,) or (n, p)
        Observations.
    trend : {"spline", "polynomial", "local"} or None
        As in :func:`find_trend`.

    Returns
    -------
    trend : ndarray of shape (n,) or None
    rest : ndarray of shape (n, p)
    order : ndarray of shape (n,)

    Examples
    --------
    >>> from stepsmooth.peers.detrend import detrended
    >>> detrended([2.0, 0.0, 1.0], [5.0, 6.0, 7.0], None)[2]
    array([1, 2, 0])
    """
    smooth = None if trend is None else find_trend(x, y, trend)
    rest = channels(y) if smooth is None else channels(np.asarray(y, dtype=np.float64) - smooth)
    order = np.arange(len(rest)) if x is None else np.argsort(np.asarray(x).ravel(), kind="stable")
    return smooth, rest, order


def detrend_kmeans(
    x: ArrayLike,
    y: ArrayLike,
    n_levels: int,
    *,
    trend: Trend = "spline",
    n_init: int = 10,
    random_state: int = 0,
) -> PeerDecomposition:
    """Subtract a trend, then cluster what remains by k-means.

    Parameters
    ----------
    x, y : array_like of shape (n,)
        Points and observations.
    n_levels : int
        Number of levels.
    trend : {"spline", "polynomial", "local"}, default "spline"
        As in :func:`find_trend`.
    n_init, random_state
        As in :func:`kmeans_sklearn`.

    Returns
    -------
    PeerDecomposition
        With the trend as the smooth part.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import detrend_kmeans
    >>> x = np.linspace(0.0, 1.0, 40)
    >>> steps = np.arange(40) % 2
    >>> d = detrend_kmeans(x, 3.0 * x + steps, 2)
    >>> bool(np.all(d.labels == steps))
    True
    """
    smooth = find_trend(x, y, trend)
    rest = np.asarray(y, dtype=np.float64) - smooth
    labels, centers, _ = kmeans_sklearn(rest, n_levels, n_init=n_init, random_state=random_state)
    return in_our_gauge(y, labels, smooth, levels=centers[:, 0])
