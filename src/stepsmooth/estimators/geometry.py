"""From the parameter `kernel` and the points to a smoother."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stepsmooth.line import LineSmoother
from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.model.kernels import Kernel
from stepsmooth.model.smoother import Smoother
from stepsmooth.model.sobolev import SobolevKernel
from stepsmooth.points import DenseSmoother, NystroemSmoother

Build = Callable[[Floats, Floats], Smoother]

# Length scales that are tried, as multiples of the spread of the points.
LENGTH_SCALES = (0.15, 0.3, 0.6, 1.2, 2.4)


@dataclass(frozen=True)
class CallableKernel:
    """A function k(X, Y) -> matrix, as a kernel."""

    function: Callable[..., Anything]

    def __call__(self, X: Anything, Y: Anything = None) -> Floats:
        """Return K(x_i, y_j)."""
        Y = X if Y is None else Y
        matrix = np.asarray(self.function(X, Y), dtype=np.float64)
        if matrix.shape != (len(X), len(Y)):
            raise ValueError(
                f"kernel must return a matrix of shape ({len(X)}, {len(Y)}) for {len(X)} and {len(Y)} points, "
                f"got shape {matrix.shape}."
            )
        if not np.all(np.isfinite(matrix)):
            raise ValueError("kernel must be finite at all pairs of points, but it returned NaN or infinity.")
        return matrix

    def diag(self, X: Anything) -> Floats:
        """Return K(x_i, x_i)."""
        return np.array([self(X[i : i + 1])[0, 0] for i in range(len(X))])


def resolve_name(kernel: Anything, n_features: int) -> Anything:
    """Return the kernel that "auto" stands for: a cubic spline on a line, Matern elsewhere."""
    if isinstance(kernel, str) and kernel == "auto":
        return "spline" if n_features == 1 else "matern"
    if isinstance(kernel, str) and kernel in ("min", "spline", "sobolev1", "sobolev2") and n_features > 1:
        raise ValueError(
            f"kernel={kernel!r} needs points on a line, but X has {n_features} columns; use 'matern' or 'rbf'."
        )
    return kernel


def builders(kernel: Anything, X: Floats, weights: Floats, rank: int) -> dict[str, Build]:
    """Return the ways to build a smoother among which the data choose, by name: several length scales, or one way.

    What depends on all points (origin, domain, spread) is fixed here, so that a part of them gets the same kernel.
    """
    if isinstance(kernel, str):
        if kernel in ("min", "spline"):
            return {kernel: _line(1 if kernel == "min" else 2, X)}
        if kernel == "precomputed":
            return {kernel: lambda K, weights: DenseSmoother(K, weights)}
        if kernel in ("sobolev1", "sobolev2"):
            inside = X.min() >= 0.0 and X.max() <= 1.0
            domain = (0.0, 1.0) if inside else (float(X.min()), float(X.max()))
            return {kernel: _low_rank(SobolevKernel(int(kernel[-1]), domain), rank)}
        from sklearn.gaussian_process.kernels import RBF, Matern  # takes a while to load; lines do without it

        family = RBF if kernel == "rbf" else Matern
        options = {} if kernel == "rbf" else {"nu": 2.5}
        spread = _spread(X, weights)
        return {
            f"{kernel}, length scale {c * spread:.4g}": _low_rank(family(c * spread, **options), rank)
            for c in LENGTH_SCALES
        }
    known = kernel if hasattr(kernel, "diag") else CallableKernel(kernel)
    # The low-rank smoother has a norm of all of f; a kernel that leaves functions free takes the dense one.
    build = _dense(known) if hasattr(known, "null_space") else _low_rank(known, rank)
    return {getattr(kernel, "__name__", repr(kernel)): build}


def _line(order: int, X: Floats) -> Build:
    origin = 0.0 if X.min() >= 0.0 else float(X.min())
    return lambda X, weights: LineSmoother(X, weights, order=order, origin=origin if order == 1 else None)


def _dense(kernel: Kernel) -> Build:
    return lambda X, weights: DenseSmoother(X, weights, kernel)


def _low_rank(kernel: Kernel, rank: int) -> Build:
    return lambda X, weights: NystroemSmoother(X, weights, kernel=kernel, rank=rank)


def _spread(X: Floats, weights: Floats) -> float:
    """Return the root mean square distance of the points from their mean; 1 if they coincide."""
    centred = X - np.average(X, axis=0, weights=weights)
    spread = float(np.sqrt(np.average(np.sum(centred**2, axis=1), weights=weights)))
    return spread if spread > 0.0 else 1.0
