"""The smoother's protocol: all that AltMin needs to know of a geometry.

A smoother is bound to points and weights. It minimises, over f in its space H,

    1/n sum_i w_i (r_i - f(x_i))^2 + tau |f|_H^2,        n = sum_i w_i,

which is the paper's f-step with r = y - mu_z. `line`, `points` and `grid` hold the smoothers.
"""

from typing import Protocol

import numpy as np
from numba import njit

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.model.threads import spread


class Smoother(Protocol):
    """What a geometry offers.

    `residual` is (n,) or (n, p): columns are smoothed one by one, with the same tau. All methods are pure:
    what is kept between calls (a factorisation) only saves time.
    """

    weights: Floats

    @property
    def dof_range(self) -> tuple[float, float]:
        """Return tr S as tau -> infinity and as tau -> 0."""

    def solve(self, residual: Floats, tau: float) -> Floats:
        """Return f at the points; tau = 0 gives the minimum-norm interpolant."""

    def at(self, X_new: Anything, residual: Floats, tau: float) -> Floats:
        """Return the same f at new points."""

    def products(self, D: Floats, labels: Ints, residual: Floats, tau: float) -> Floats:
        """Return ZD' W (I - S) (ZD, r), what is left of moves D of the levels and of r once f adapts to them.

        `solved_products` serves any smoother.
        """

    def leverage(self, tau: float) -> Floats:
        """Return the diagonal of S in f = S r; sigma^2 S_ii / w_i is the posterior variance of f(x_i)."""

    def trace(self, tau: float) -> float:
        """Return the effective degrees of freedom, tr S."""

    def logdet(self, tau: float) -> float:
        """Return log det(I + K / tau); functions T that the norm leaves free add log det(T' W T)."""

    def reweighted(self, weights: Floats) -> "Smoother":
        """Return the smoother of the same points with other weights."""


def solved_products(smoother: Smoother, D: Floats, labels: Ints, residual: Floats, tau: float) -> Floats:
    """Return ZD' W (I - S) (ZD, r) of any smoother, for labels (n,), moves D (M, q) of their levels and r (n, p).

    Directions are taken apart and summed up by label: arrays of n numbers for each would be slow to walk through.
    """

    def along(direction: Floats) -> Floats:
        moved = direction[labels]
        left = smoother.weights * (moved - smoother.solve(moved, tau))
        return np.append(D.T @ np.bincount(labels, left, minlength=len(D)), left @ residual)

    rows = spread(along, D.T, len(labels))
    return np.reshape(rows, (D.shape[1], D.shape[1] + residual.shape[1]))


def loss_and_penalty(f: Floats, residual: Floats, weights: Floats) -> tuple[float, float]:
    """Return the weighted mean of |r - f|^2, and tau |f|_H^2 of the minimiser f for r without touching the norm.

    The normal equations say W (r - f) / n = tau K^-1 f; taking the inner product with f gives the penalty, which stays
    exact where the norm itself would lose all digits. One f, (n,) or (n, 1), may be shared by the columns of r: it
    minimises their sum.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.line import LineSmoother
    >>> x, r = np.linspace(0.1, 1, 10), np.arange(10.0)
    >>> smoother = LineSmoother(x, order=1)
    >>> f = smoother.solve(r, 0.01)
    >>> bool(np.isclose(loss_and_penalty(f, r, smoother.weights)[1], 0.01 * smoother.norm2(f)))
    True
    """
    n = len(weights)
    square, moment, mass = _sums(np.reshape(f, (n, -1)), np.reshape(residual, (n, -1)), weights)
    return square / mass, max(moment / mass, 0.0)  # rounding alone can make a penalty negative


@njit(cache=True, nogil=True)
def _sums(f: Floats, residual: Floats, weights: Floats) -> tuple[float, float, float]:
    """Return the sums of w |r - f|^2, of w f (r - f) and of w, in one pass."""
    square, moment, mass = 0.0, 0.0, 0.0
    last = f.shape[1] - 1
    for i in range(len(weights)):
        e2, fe = 0.0, 0.0
        for c in range(residual.shape[1]):
            value = f[i, min(c, last)]
            error = residual[i, c] - value
            e2 += error * error
            fe += value * error
        square += weights[i] * e2
        moment += weights[i] * fe
        mass += weights[i]
    return square, moment, mass
