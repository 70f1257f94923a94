"""Cubic smoothing splines on a line by others: SciPy, csaps, and dense algebra.

All take the package's `tau`: they minimise ``1/n sum w (r - f)^2 + tau int f''^2`` with n the sum of the
weights, so ``lam = n tau`` for SciPy and ``p = 1 / (1 + n tau)`` for csaps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from .decomposition import FloatArray, IntArray
from .optional import require


def on_knots(
    x: ArrayLike, residual: ArrayLike, weights: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Give the same problem on ascending, distinct points, as these routines need it.

    Parameters
    ----------
    x, residual : array_like of shape (n,)
        Points in any order, repeated or not, and the values there.
    weights : array_like of shape (n,), optional
        Frequencies; points of weight zero lose their value but keep their place.

    Returns
    -------
    knots, values, sums : ndarray of shape (m,)
        Distinct points of positive weight, weighted means of the values there, sums of the weights.
    where : ndarray of shape (n,)
        Position of each point's knot; -1 for a point that lies on none.

    Examples
    --------
    >>> from stepsmooth.peers import on_knots
    >>> on_knots([1.0, 0.0, 1.0], [4.0, 1.0, 2.0])
    (array([0., 1.]), array([1., 3.]), array([1., 2.]), array([1, 0, 1]))
    """
    points = np.asarray(x, dtype=np.float64).ravel()
    values = np.asarray(residual, dtype=np.float64)
    mass = np.ones_like(points) if weights is None else np.asarray(weights, dtype=np.float64)
    if np.all(points[1:] > points[:-1]) and np.all(mass > 0):  # as it should be: a timed peer pays for nothing
        return points, values, mass, np.arange(len(points), dtype=np.intp)
    knots, inverse = np.unique(points[mass > 0], return_inverse=True)
    sums = np.bincount(inverse, mass[mass > 0]).astype(np.float64)
    means = np.bincount(inverse, (mass * values)[mass > 0]) / sums
    where = np.full(len(points), -1, dtype=np.intp)
    where[mass > 0] = inverse
    return knots, means, sums, where


def spline_scipy(
    x: ArrayLike, residual: ArrayLike, tau: float | None, *, weights: ArrayLike | None = None
) -> FloatArray:
    """Smooth by :func:`scipy.interpolate.make_smoothing_spline`.

    Parameters
    ----------
    x, residual : array_like of shape (n,)
        Points and values; at least five distinct points.
    tau : float or None
        Smoothing parameter; None lets SciPy choose it by generalised cross-validation.
    weights : array_like of shape (n,), optional
        Frequencies.

    Returns
    -------
    ndarray of shape (n,)
        The smoothing spline at the points.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import spline_scipy
    >>> x = np.linspace(0.0, 1.0, 9)
    >>> bool(np.allclose(spline_scipy(x, 1.0 - 2.0 * x, 0.1), 1.0 - 2.0 * x))
    True
    """
    from scipy.interpolate import make_smoothing_spline

    knots, values, sums, _ = on_knots(x, residual, weights)
    penalty = None if tau is None else float(sums.sum() * tau)
    spline = make_smoothing_spline(knots, values, w=sums, lam=penalty)
    return np.asarray(spline(np.asarray(x, dtype=np.float64).ravel()), dtype=np.float64)


def spline_csaps(
    x: ArrayLike, residual: ArrayLike, tau: float | None, *, weights: ArrayLike | None = None
) -> FloatArray:
    """Smooth by csaps, the routine that the paper uses.

    Parameters
    ----------
    x, residual : array_like of shape (n,)
        Points and values.
    tau : float or None
        Smoothing parameter; None takes csaps' own default.
    weights : array_like of shape (n,), optional
        Frequencies.

    Returns
    -------
    ndarray of shape (n,)
        The smoothing spline at the points.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import spline_csaps
    >>> x = np.linspace(0.0, 1.0, 9)
    >>> bool(np.allclose(spline_csaps(x, 1.0 - 2.0 * x, 0.1), 1.0 - 2.0 * x))
    True
    """
    csaps = require("csaps")
    knots, values, sums, _ = on_knots(x, residual, weights)
    p = None if tau is None else 1.0 / (1.0 + float(sums.sum()) * tau)
    spline = csaps.CubicSmoothingSpline(knots, values, weights=sums, smooth=p)
    return np.asarray(spline(np.asarray(x, dtype=np.float64).ravel()), dtype=np.float64)


def spline_dense(x: ArrayLike, residual: ArrayLike, tau: float, *, weights: ArrayLike | None = None) -> FloatArray:
    """Smooth by dense algebra: ``f = (W + n tau Q R^-1 Q')^-1 W r`` (Green and Silverman, 1994, ch. 2).

    Parameters
    ----------
    x, residual : array_like of shape (n,)
        Points and values; every point needs a positive weight.
    tau : float
        Smoothing parameter.
    weights : array_like of shape (n,), optional
        Frequencies.

    Returns
    -------
    ndarray of shape (n,)
        The smoothing spline at the points.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import spline_dense
    >>> x = np.linspace(0.0, 1.0, 9)
    >>> bool(np.allclose(spline_dense(x, 1.0 - 2.0 * x, 0.1), 1.0 - 2.0 * x))
    True
    """
    knots, values, sums, where = on_knots(x, residual, weights)
    if np.any(where < 0):
        raise ValueError("spline_dense needs a positive weight at every point.")
    penalty = roughness(knots)
    system = np.diag(sums) + sums.sum() * tau * penalty
    fitted = cho_solve(cho_factor(system), sums * values)
    return np.asarray(fitted, dtype=np.float64)[where]


def roughness(knots: FloatArray) -> FloatArray:
    """Give the matrix ``Q R^-1 Q'`` with ``f' Q R^-1 Q' f = int f''^2`` for natural cubic splines.

    Parameters
    ----------
    knots : ndarray of shape (m,)
        Ascending, distinct points.

    Returns
    -------
    ndarray of shape (m, m)
        The penalty matrix, of rank m - 2.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import roughness
    >>> bool(np.allclose(roughness(np.arange(5.0)) @ np.arange(5.0), 0.0))
    True
    """
    gaps = np.diff(knots)
    m = len(knots)
    inner = np.arange(m - 2)
    second = np.zeros((m, m - 2))
    second[inner, inner] = 1.0 / gaps[:-1]
    second[inner + 1, inner] = -1.0 / gaps[:-1] - 1.0 / gaps[1:]
    second[inner + 2, inner] = 1.0 / gaps[1:]
    beside = gaps[1:-1] / 6.0
    band = np.diag((gaps[:-1] + gaps[1:]) / 3.0) + np.diag(beside, 1) + np.diag(beside, -1)
    penalty = second @ cho_solve(cho_factor(band), second.T)
    return np.asarray(penalty, dtype=np.float64)
