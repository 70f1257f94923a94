"""The smoother's protocol: all that AltMin needs to know of a geometry.

A smoother is bound to points and weights. It minimises, over f in its space H,

    1/n sum_i w_i (r_i - f(x_i))^2 + tau |f|_H^2,        n = sum_i w_i,

which is the paper's f-step with r = y - mu_z. `line` and `points` hold the smoothers.
"""

from typing import Protocol

import numpy as np

from stepsmooth.model.arrays import Anything, Floats


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

    def leverage(self, tau: float) -> Floats:
        """Return the diagonal of S in f = S r; sigma^2 S_ii / w_i is the posterior variance of f(x_i)."""

    def trace(self, tau: float) -> float:
        """Return the effective degrees of freedom, tr S."""

    def logdet(self, tau: float) -> float:
        """Return log det(I + K / tau); functions T that the norm leaves free add log det(T' W T)."""

    def reweighted(self, weights: Floats) -> "Smoother":
        """Return the smoother of the same points with other weights."""

    def norm2(self, f: Floats) -> float:
        """Return the smallest |g|_H^2 among the g in H that equal f at the points."""


def penalty(f: Floats, residual: Floats, weights: Floats) -> float:
    """Return tau |f|_H^2 of the minimiser f for `residual`, without touching the norm.

    The normal equations say W (r - f) / n = tau K^-1 f; taking the inner product with f gives the identity
    below, which stays exact where the norm itself would lose all digits.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.line import LineSmoother
    >>> x, r = np.linspace(0.1, 1, 10), np.arange(10.0)
    >>> smoother = LineSmoother(x, order=1)
    >>> f = smoother.solve(r, 0.01)
    >>> bool(np.isclose(penalty(f, r, smoother.weights), 0.01 * smoother.norm2(f)))
    True
    """
    moment = np.einsum("i,i...->...", weights, f * (residual - f))
    return max(float(np.sum(moment) / weights.sum()), 0.0)  # rounding alone can make it negative
