"""Kernels of the spaces that f may live in, and the metric that a kernel induces.

A kernel is anything with `k(X, Y=None) -> (len(X), len(Y))` and `k.diag(X)`: the classes here and every
kernel object of scikit-learn. A kernel of a semi-norm also has `null_space(X)`, the functions it leaves free.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from stepsmooth.model.arrays import Anything, Floats


class Kernel(Protocol):
    """A positive semi-definite function of two points."""

    def __call__(self, X: Anything, Y: Anything = None) -> Floats:
        """Return the matrix K(x_i, y_j); Y = None stands for X."""

    def diag(self, X: Anything) -> Floats:
        """Return K(x_i, x_i)."""


def pair(X: Anything, Y: Anything, name: str) -> tuple[Floats, Floats]:
    """Return two broadcastable coordinate arrays of points on a line."""
    x = coordinate(X, name)[:, None]
    return x, (x.T if Y is None else coordinate(Y, name)[None, :])


def coordinate(X: Anything, name: str) -> Floats:
    """Return the points on a line as one array."""
    X = np.asarray(X, dtype=np.float64)
    if X.ndim == 2 and X.shape[1] != 1:
        raise ValueError(
            f"kernel={name!r} needs points on a line, but X has {X.shape[1]} columns; use 'matern' or 'rbf'."
        )
    return np.asarray(X.reshape(-1))


@dataclass(frozen=True)
class MinKernel:
    """min(x, x') from `origin` on: |f|^2 = int f'^2, with f(origin) = 0 (the paper's H^1).

    Examples
    --------
    >>> MinKernel()([[1.0], [2.0]])
    array([[1., 1.],
           [1., 2.]])
    """

    origin: float = 0.0

    def __call__(self, X: Anything, Y: Anything = None) -> Floats:
        """Return K(x_i, y_j)."""
        x, y = pair(X, Y, "min")
        if min(x.min(), y.min()) < self.origin:
            raise ValueError(
                f"kernel='min' starts at origin {self.origin:g}, but x = {min(x.min(), y.min()):g} was asked for; "
                "it knows nothing to the left of its origin."
            )
        return np.minimum(x, y) - self.origin

    def diag(self, X: Anything) -> Floats:
        """Return K(x_i, x_i)."""
        return coordinate(X, "min") - self.origin


@dataclass(frozen=True)
class CubicSplineKernel:
    """The cubic smoothing spline: |f|^2 = int f''^2, straight lines free.

    K(x, x') = int (x - u)_+ (x' - u)_+ du from `origin`, which must lie at or left of the data; the fit does
    not depend on it, because a straight line costs nothing.

    Examples
    --------
    >>> CubicSplineKernel()([[1.0], [2.0]])
    array([[0.33333333, 0.83333333],
           [0.83333333, 2.66666667]])
    """

    origin: float = 0.0

    def __call__(self, X: Anything, Y: Anything = None) -> Floats:
        """Return K(x_i, y_j)."""
        x, y = pair(X, Y, "spline")
        x, y = np.maximum(x - self.origin, 0.0), np.maximum(y - self.origin, 0.0)
        low, high = np.minimum(x, y), np.maximum(x, y)
        return low * low * (3.0 * high - low) / 6.0

    def diag(self, X: Anything) -> Floats:
        """Return K(x_i, x_i)."""
        return np.maximum(coordinate(X, "spline") - self.origin, 0.0) ** 3 / 3.0

    def null_space(self, X: Anything) -> Floats:
        """Return the columns 1, x at the points."""
        x = coordinate(X, "spline") - self.origin
        return np.column_stack([np.ones_like(x), x])


def kernel_metric(kernel: Kernel, X: Anything, Y: Anything = None) -> Floats:
    """Return d_K(x, y) = |K(x, .) - K(y, .)|_H, the metric in which |f(x) - f(y)| <= |f|_H d_K(x, y).

    Examples
    --------
    >>> kernel_metric(MinKernel(), [[0.25], [0.5]], [[0.25]])  # sqrt of the distance
    array([[0. ],
           [0.5]])
    """
    if hasattr(kernel, "null_space"):
        raise ValueError(
            "kernel_metric needs a norm, but this kernel leaves some functions free (the spline: straight lines), "
            "so no distance bounds f."
        )
    X = np.asarray(X, dtype=np.float64)
    Y = X if Y is None else np.asarray(Y, dtype=np.float64)
    squared = kernel.diag(X)[:, None] - 2.0 * kernel(X, Y) + kernel.diag(Y)[None, :]
    return np.sqrt(np.maximum(squared, 0.0))
