"""The low-rank smoother: Nystroem's approximation on landmarks that a pivoted Cholesky chooses."""

from copy import copy

import numpy as np
from scipy.linalg import eigh, solve_triangular

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.model.kernels import Kernel
from stepsmooth.model.smoother import solved_products


class NystroemSmoother:
    """f in the span of K(x_j, .) over `rank` landmarks: O(n rank^2) time once, memory linear in n.

    Each landmark is the point that the ones before it explain worst (pivoted Cholesky), so the choice needs no
    seed, repeated points are never chosen twice, and at full rank this is `DenseSmoother`.

    Parameters
    ----------
    X : (n, d) array
    weights : (n,) array of positive numbers, optional
    kernel : Kernel
    rank : int
        The most landmarks; fewer are taken once they explain the kernel to rounding.

    Attributes
    ----------
    landmarks : (rank,) array of indices
    missed : float
        Share of the kernel's trace that the landmarks leave unexplained.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> smoother = NystroemSmoother(X, kernel=RBF(3.0), rank=100)
    >>> bool(smoother.missed < 1e-4)
    True
    """

    def __init__(self, X: Anything, weights: Anything = None, *, kernel: Kernel, rank: int = 500) -> None:
        if rank < 1:
            raise ValueError(f"rank must be at least 1, got {rank}.")
        if hasattr(kernel, "null_space"):
            raise ValueError("this kernel leaves some functions free, which has no low-rank path; use DenseSmoother.")
        X = np.asarray(X, dtype=np.float64)
        self._kernel = kernel
        self.landmarks, self._L, self.missed = _pivoted_cholesky(X, kernel, min(rank, len(X)))
        self._X = X[self.landmarks]
        self._weigh(np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64))

    def _weigh(self, weights: Floats) -> None:
        self.weights = weights
        self.n_effective = float(weights.sum())
        weighted = self._L * (self.weights / self.n_effective)[:, None]
        values, self._V = eigh(self._L.T @ weighted)
        self._values = np.maximum(values, 0.0)
        self.dof_range = (0.0, float(len(self.landmarks)))

    def solve(self, residual: Floats, tau: float) -> Floats:
        """Return f at the points."""
        return np.asarray(self._L @ self._coefficients(residual, tau))

    def at(self, X_new: Anything, residual: Floats, tau: float) -> Floats:
        """Return f at new points."""
        cross = self._kernel(np.asarray(X_new, dtype=np.float64), self._X)
        features = solve_triangular(self._L[self.landmarks], cross.T, lower=True)
        return np.asarray(features.T @ self._coefficients(residual, tau))

    products = solved_products

    def leverage(self, tau: float) -> Floats:
        """Return the diagonal of S."""
        rotated = self._L @ self._V
        return np.asarray(rotated**2 @ (1.0 / (self._values + tau)) * self.weights / self.n_effective)

    def trace(self, tau: float) -> float:
        """Return tr S."""
        return float(np.sum(self._values / (self._values + tau)))

    def logdet(self, tau: float) -> float:
        """Return log det(I + K / tau)."""
        return float(np.sum(np.log1p(self._values / tau)))

    def reweighted(self, weights: Floats) -> "NystroemSmoother":
        """Return the smoother of the same points and landmarks with other weights."""
        other = copy(self)
        other._weigh(weights)
        return other

    def norm2(self, f: Floats) -> float:
        """Return the norm of the function of the landmarks' span that is nearest to f."""
        return float(np.sum(np.linalg.lstsq(self._L, f)[0] ** 2))

    def _coefficients(self, residual: Floats, tau: float) -> Floats:
        r = np.asarray(residual, dtype=np.float64)
        moment = self._V.T @ (self._L.T @ (r.T * (self.weights / self.n_effective)).T)
        scale = self._values + tau
        if tau == 0.0:  # the minimum-norm solution: directions that the data do not see stay at zero
            scale = np.where(scale > 1e-12 * scale.max(), scale, np.inf)
        return np.asarray(self._V @ (moment.T / scale).T)


def _pivoted_cholesky(X: Floats, kernel: Kernel, rank: int) -> tuple[np.ndarray, Floats, float]:
    """Return landmarks, L with K ~ L L', and the share of the trace that is missed."""
    left = np.array(kernel.diag(X), dtype=np.float64)
    _check_finite(left)
    if left.min() < 0.0:
        raise ValueError(f"kernel must be positive semi-definite, but K(x, x) = {left.min():.3g} at some point.")
    total, largest = left.sum(), left.max()
    if not total > 0.0:
        raise ValueError("kernel must be positive somewhere, but K(x, x) is zero at every point.")
    L = np.zeros((len(X), rank), order="F")
    chosen: list[int] = []
    for k in range(rank):
        pivot = int(np.argmax(left)) if k else _first_landmark(X, left)
        if left[pivot] <= 1e-13 * largest:
            break
        column = kernel(X, X[pivot : pivot + 1])[:, 0] - L[:, :k] @ L[pivot, :k]
        _check_finite(column)
        L[:, k] = column / np.sqrt(left[pivot])
        # What earlier landmarks explain is exactly zero: no rounding may enter the triangle above its diagonal.
        L[chosen, k] = 0.0
        left = left - L[:, k] ** 2
        if left.min() < -1e-8 * largest:
            raise ValueError(
                "kernel must be positive semi-definite, but it leaves a negative variance "
                f"({left.min() / largest:.3g} of the largest)."
            )
        left = np.maximum(left, 0.0)
        left[pivot] = 0.0
        chosen.append(pivot)
    _check_symmetric(kernel(X[chosen], X[chosen]), largest)
    return np.array(chosen), L[:, : len(chosen)], float(left.sum() / total)


def _check_finite(values: Floats) -> None:
    if not np.all(np.isfinite(values)):
        raise ValueError("kernel must be finite at all pairs of points, but it returned NaN or infinity.")


def _check_symmetric(gram: Floats, largest: float) -> None:
    if np.abs(gram - gram.T).max() > 1e-10 * largest:
        raise ValueError("kernel must be symmetric, but K(x, y) differs from K(y, x) at some points.")


def _first_landmark(X: Floats, diagonal: Floats) -> int:
    """Return the most central of the points with the largest K(x, x): a stationary kernel starts with a tie of all."""
    from_centre = np.sum((X - (X.min(axis=0) + X.max(axis=0)) / 2.0) ** 2, axis=1)
    return int(np.argmin(np.where(diagonal >= diagonal.max() * (1.0 - 1e-9), from_centre, np.inf)))
