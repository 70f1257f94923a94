"""The reference: the paper's representer formula, literally, with any kernel."""

from typing import cast

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, eigvalsh, qr, solve_triangular

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.model.kernels import Kernel
from stepsmooth.model.smoother import solved_products

# Relative size below which an eigenvalue of the kernel matrix is taken for rounding.
ROUNDING = 1e-10
# Relative size from which a negative eigenvalue says that there is no such kernel: a float32 matrix rounds to 1e-7.
INDEFINITE = 1e-6


class DenseSmoother:
    r"""f by the representer formula: O(n^3) time, O(n^2) memory.

    With K_ij = K(x_i, x_j) / n, alpha = (K + tau I)^-1 r / sqrt(n) and f = sum_i alpha_i K(x_i, .) / sqrt(n).
    Weights enter as W^1/2 K W^1/2, with n = sum of the weights. A kernel that leaves functions free (the
    spline: straight lines) has them as unpenalised columns (Wahba 1990, section 1.3).

    Parameters
    ----------
    X : (n, d) array, or the (n, n) kernel matrix if `kernel` is None
    weights : (n,) array of positive numbers, optional
    kernel : Kernel or None

    Examples
    --------
    >>> from stepsmooth.model import MinKernel
    >>> smoother = DenseSmoother(np.array([[0.5], [1.0]]), kernel=MinKernel())
    >>> smoother.solve(np.array([1.0, 1.0]), tau=0.25)
    array([0.6, 0.8])
    """

    def __init__(self, X: Anything, weights: Anything = None, kernel: Kernel | None = None) -> None:
        self._X, self._kernel = np.asarray(X), kernel
        gram = np.asarray(X if kernel is None else kernel(X), dtype=np.float64)
        n = len(self._X)
        if gram.shape != (n, n):
            raise ValueError(f"kernel must return an ({n}, {n}) matrix for {n} points, got one of shape {gram.shape}.")
        if not np.all(np.isfinite(gram)):
            raise ValueError("kernel must be finite at all pairs of points, but its matrix holds NaN or infinity.")
        if np.abs(gram - gram.T).max() > ROUNDING * np.abs(gram).max():
            raise ValueError("kernel must be symmetric, but K(x, y) differs from K(y, x) at some points.")
        self.weights = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
        self.n_effective = float(self.weights.sum())
        self._gram = gram
        self._root = np.sqrt(self.weights)
        self._K = self._root[:, None] * gram * self._root / self.n_effective
        free = getattr(kernel, "null_space", None)
        self._free = None if free is None else self._root[:, None] * free(X)
        # B spans what the free functions leave: the identity if there are none.
        self._Q, self._B, self._R = _complement(self._free, n)
        self._core = self._K if self._B is None else self._B.T @ self._K @ self._B
        self._spectrum: Floats | None = None
        self._tau: float | None = None
        self._factor: Anything = None

    def solve(self, residual: Floats, tau: float) -> Floats:
        """Return f at the points."""
        alpha, line = self._coefficients(residual, tau)
        f = self._gram @ alpha / np.sqrt(self.n_effective)
        return np.asarray(f if line is None else f + self._by_weight(cast(Floats, self._free) @ line))

    def at(self, X_new: Anything, residual: Floats, tau: float) -> Floats:
        """Return f at new points; for a kernel matrix, `X_new` is the (m, n) matrix K(x_new, x)."""
        alpha, line = self._coefficients(residual, tau)
        cross = np.asarray(X_new if self._kernel is None else self._kernel(X_new, self._X), dtype=np.float64)
        f = cross @ alpha / np.sqrt(self.n_effective)
        return np.asarray(f if line is None else f + self._kernel.null_space(X_new) @ line)  # type: ignore[union-attr]

    products = solved_products

    def leverage(self, tau: float) -> Floats:
        """Return the diagonal of S, from I - S = tau B (B' K B + tau I)^-1 B'."""
        B = np.eye(len(self._K)) if self._B is None else self._B
        half = solve_triangular(np.tril(self._cholesky(tau)[0]), B.T, lower=True)
        return np.asarray(1.0 - tau * np.sum(half**2, axis=0))

    def trace(self, tau: float) -> float:
        """Return tr S."""
        spectrum = self.spectrum
        return float(len(self._K) - np.sum(tau / (spectrum + tau)))

    def logdet(self, tau: float) -> float:
        """Return log det(I + K / tau)."""
        free = 0.0 if self._R is None else 2.0 * np.sum(np.log(np.abs(np.diag(self._R))))
        return float(np.sum(np.log1p(self.spectrum / tau)) + free)

    def reweighted(self, weights: Floats) -> "DenseSmoother":
        """Return the smoother of the same points with other weights."""
        return DenseSmoother(self._X, weights, self._kernel)

    def norm2(self, f: Floats) -> float:
        """Return the smallest norm of a function through f."""
        c = self._interpolate(self._root * f)
        return float(c @ self._core @ c / self.n_effective)

    @property
    def spectrum(self) -> Floats:
        """Eigenvalues of K (of what the free functions leave of it), ascending, rounding set to zero."""
        if self._spectrum is None:
            values = np.asarray(eigvalsh(self._core), dtype=np.float64)
            self._check_positive(values)
            self._spectrum = np.maximum(values, 0.0)
        return self._spectrum

    @property
    def dof_range(self) -> tuple[float, float]:
        """Return tr S as tau -> infinity and as tau -> 0."""
        free = 0 if self._free is None else self._free.shape[1]
        return float(free), float(free + np.sum(self._significant(self.spectrum)))

    def _coefficients(self, residual: Floats, tau: float) -> tuple[Floats, Floats | None]:
        """Return alpha and the coefficients of the free functions."""
        r = (self._root * np.asarray(residual, dtype=np.float64).T).T
        inside = r if self._B is None else self._B.T @ r
        c = cho_solve(self._cholesky(tau), inside) if tau > 0.0 else self._interpolate(r)
        c = c if self._B is None else self._B @ c
        alpha = (self._root * c.T).T / np.sqrt(self.n_effective)
        if self._free is None:
            return alpha, None
        line = solve_triangular(cast(Floats, self._R), cast(Floats, self._Q).T @ (r - self._K @ c - tau * c))
        return alpha, line

    def _cholesky(self, tau: float) -> tuple[Floats, bool]:
        if self._tau != tau:
            ridge = self._core + tau * np.eye(len(self._core))
            try:
                self._factor = cho_factor(ridge, lower=True)
            except np.linalg.LinAlgError:
                self._check_positive(np.asarray(eigvalsh(self._core), dtype=np.float64))
                raise ValueError(
                    f"the kernel matrix is singular and tau = {tau:g} is too small to help; raise tau, "
                    "or merge points that coincide."
                ) from None
            self._tau = tau
        return cast(tuple[Floats, bool], self._factor)

    def _interpolate(self, r: Floats) -> Floats:
        """Return c with K c = r of the least norm: the minimum-norm interpolant, the limit of tau -> 0."""
        inside = r if self._B is None else self._B.T @ r
        values, vectors = eigh(self._core)
        self._check_positive(values)
        keep = self._significant(values)
        c = vectors[:, keep] @ ((vectors[:, keep].T @ inside).T / values[keep]).T
        if np.abs(self._core @ c - inside).max() > 1e-6 * max(np.abs(inside).max(), np.finfo(float).tiny):
            raise ValueError(
                "tau = 0 asks for interpolation, but the kernel matrix is singular and no function of this space "
                "passes through the data (points that coincide with different values?); use tau > 0."
            )
        return np.asarray(c)

    def _significant(self, values: Floats) -> Anything:
        """Return which eigenvalues are more than rounding, their own and that of the whole of K."""
        floor = 1e-14 * np.diag(self._K).max(initial=0.0)
        return values > max(ROUNDING * values.max(initial=0.0), floor)

    def _check_positive(self, values: Floats) -> None:
        floor = 1e-14 * np.abs(self._K).max()
        if values.min(initial=0.0) < -max(INDEFINITE * values.max(initial=0.0), floor):
            raise ValueError(
                "kernel must be positive semi-definite, but its matrix has eigenvalues "
                f"from {values[0]:.3g} to {values[-1]:.3g}."
            )

    def _by_weight(self, rooted: Floats) -> Floats:
        return np.asarray((rooted.T / self._root).T)


def _complement(free: Floats | None, n: int) -> tuple[Floats | None, Floats | None, Floats | None]:
    """Return an orthonormal basis of the free columns, of their complement, and the triangle R."""
    if free is None:
        return None, None, None
    # With a single point a line is more than the data can fix: keep the columns that are independent.
    Q, R = (np.asarray(part, dtype=np.float64) for part in qr(free))
    k = free.shape[1]
    if n < k or np.abs(np.diag(R)[:k]).min() <= ROUNDING * np.abs(R).max():
        raise ValueError(f"the spline needs at least {k} distinct points, because a straight line is free.")
    return Q[:, :k], Q[:, k:], R[:k]
