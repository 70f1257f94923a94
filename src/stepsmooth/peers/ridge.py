"""Kernel smoothers by dense algebra: scikit-learn's KernelRidge and a plain Cholesky factorisation.

Both minimise the paper's ``1/n sum w (r - f)^2 + tau |f|^2`` with n the sum of the weights, that is
``(K + n tau W^-1) c = r``, ``f = K c``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from .decomposition import FloatArray


def min_gram(x: ArrayLike) -> FloatArray:
    """Give the Gram matrix ``min(x_i, x_j)`` of the paper's H1 with f(0) = 0.

    Parameters
    ----------
    x : array_like of shape (n,)
        Points, none negative.

    Returns
    -------
    ndarray of shape (n, n)
        The Gram matrix, not scaled.

    Examples
    --------
    >>> from stepsmooth.peers import min_gram
    >>> min_gram([0.5, 1.0])
    array([[0.5, 0.5],
           [0.5, 1. ]])
    """
    points = np.asarray(x, dtype=np.float64).ravel()
    return np.minimum.outer(points, points)


def ridge_sklearn(gram: ArrayLike, residual: ArrayLike, tau: float, *, weights: ArrayLike | None = None) -> FloatArray:
    """Smooth by :class:`sklearn.kernel_ridge.KernelRidge` with a precomputed kernel.

    Parameters
    ----------
    gram : array_like of shape (n, n)
        Gram matrix, not scaled.
    residual : array_like of shape (n,)
        Values to smooth.
    tau : float
        Smoothing parameter; ``alpha = n tau``.
    weights : array_like of shape (n,), optional
        Frequencies.

    Returns
    -------
    ndarray of shape (n,)
        The smooth part at the points.

    Examples
    --------
    >>> from stepsmooth.peers import min_gram, ridge_sklearn
    >>> ridge_sklearn(min_gram([0.5, 1.0]), [1.0, 1.0], 0.25).round(3)
    array([0.6, 0.8])
    """
    from sklearn.kernel_ridge import KernelRidge

    matrix = np.asarray(gram, dtype=np.float64)
    mass = None if weights is None else np.asarray(weights, dtype=np.float64)
    total = float(len(matrix) if mass is None else mass.sum())
    model = KernelRidge(alpha=total * tau, kernel="precomputed")
    model.fit(matrix, np.asarray(residual, dtype=np.float64), sample_weight=mass)
    return np.asarray(model.predict(matrix), dtype=np.float64)


def ridge_cholesky(gram: ArrayLike, residual: ArrayLike, tau: float, *, weights: ArrayLike | None = None) -> FloatArray:
    """Smooth by one Cholesky factorisation of ``K + n tau W^-1``.

    Parameters
    ----------
    gram : array_like of shape (n, n)
        Gram matrix, not scaled.
    residual : array_like of shape (n,)
        Values to smooth.
    tau : float
        Smoothing parameter.
    weights : array_like of shape (n,), optional
        Frequencies, all positive.

    Returns
    -------
    ndarray of shape (n,)
        The smooth part at the points.

    Examples
    --------
    >>> from stepsmooth.peers import min_gram, ridge_cholesky
    >>> ridge_cholesky(min_gram([0.5, 1.0]), [1.0, 1.0], 0.25).round(3)
    array([0.6, 0.8])
    """
    matrix = np.asarray(gram, dtype=np.float64)
    values = np.asarray(residual, dtype=np.float64)
    mass = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    noise = mass.sum() * tau / mass
    system = matrix.copy(order="F")
    system.flat[:: len(values) + 1] += noise
    dual = cho_solve(cho_factor(system, overwrite_a=True, check_finite=False), values, check_finite=False)
    return np.asarray(values - noise * dual, dtype=np.float64)  # K c = r - n tau W^-1 c: no second product
