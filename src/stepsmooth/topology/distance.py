"""How far points are apart: Euclidean, a monotone function of it, or any other distance.

A monotone function of the distance keeps the minimum spanning tree and only changes the lengths of its edges. That
covers the kernel metric of the min kernel, sqrt(|x - x'|), and of every kernel that depends on the distance alone.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.model.kernels import MinKernel, kernel_metric
from stepsmooth.topology.arguments import distance_matrix, point_cloud
from stepsmooth.topology.prim import Row


@dataclass(frozen=True)
class Monotone:
    """A metric that is an increasing function of the Euclidean distance, with value 0 at 0.

    Parameters
    ----------
    function : callable
        `function(t)` takes and returns an array.

    Examples
    --------
    >>> from stepsmooth.topology import connectivity
    >>> connectivity([0.0, 1.0, 5.0], metric=Monotone(np.sqrt))
    2.0
    """

    function: Callable[[Floats], Floats]

    def __call__(self, t: Floats) -> Floats:
        """Return the distance of points that are t apart."""
        found = np.asarray(self.function(np.asarray(t, dtype=np.float64)), dtype=np.float64)
        # Two points that are equally far must be equally far afterwards, up to rounding.
        order = np.argsort(t, kind="stable")
        if np.any(found < 0.0) or np.any(np.diff(found[order]) < -1e-9 * np.abs(found).max(initial=0.0)):
            raise ValueError("metric=Monotone(function) must increase with the distance; this function does not.")
        return found


def of_distance(metric: Anything) -> Callable[[Floats], Floats] | None:
    """Return the function of the Euclidean distance that a metric is, or None if it is none.

    Examples
    --------
    >>> of_distance(MinKernel())(np.array([4.0]))
    array([2.])
    """
    if isinstance(metric, str):
        return _identity if metric == "euclidean" else None
    if isinstance(metric, Monotone):
        return metric
    if isinstance(metric, MinKernel):
        return np.sqrt
    scale = getattr(metric, "length_scale", None)
    stationary = getattr(metric, "is_stationary", None)
    # The kernels of scikit-learn with one length scale; the periodic one falls and rises again.
    if scale is None or np.ndim(scale) > 0 or stationary is None or hasattr(metric, "periodicity"):
        return None
    return (lambda t: kernel_metric(metric, np.zeros((1, 1)), np.asarray(t)[:, None])[0]) if stationary() else None


def rows(X: Anything, metric: Anything = "euclidean") -> tuple[int, Row]:
    """Return the number of points and the function that gives the distances of one point to all.

    Parameters
    ----------
    X : (n, d) or (n,) array; (n, n) if metric="precomputed"
    metric : str, kernel or callable
        A name that `scipy.spatial.distance.cdist` knows, "precomputed", a kernel (its kernel metric), a `Monotone`, or
        a function `metric(X, Y)` that returns the matrix of distances.

    Examples
    --------
    >>> n, row = rows([[0.0, 0.0], [3.0, 4.0]], "cityblock")
    >>> row(0)
    array([0., 7.])
    """
    if isinstance(metric, str) and metric == "precomputed":
        matrix = distance_matrix(X)
        return len(matrix), lambda i: matrix[i]
    points = point_cloud(X)
    increasing = of_distance(metric)
    if increasing is not None:
        return len(points), lambda i: increasing(cdist(points[i : i + 1], points)[0])
    if isinstance(metric, str):
        return len(points), lambda i: cdist(points[i : i + 1], points, metric)[0]  # type: ignore[call-overload]
    if hasattr(metric, "diag"):
        diagonal = np.asarray(metric.diag(points))
        if hasattr(metric, "null_space"):
            kernel_metric(metric, points[:1])  # refuses, and says why
        return len(points), lambda i: _kernel_row(metric, points, diagonal, i)
    return len(points), lambda i: _checked(metric(points[i : i + 1], points), len(points))


def _kernel_row(kernel: Anything, points: Floats, diagonal: Floats, i: int) -> Floats:
    squared = diagonal[i] - 2.0 * np.asarray(kernel(points[i : i + 1], points))[0] + diagonal
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def _checked(row: Anything, n: int) -> Floats:
    array = np.asarray(row, dtype=np.float64)
    if array.shape != (1, n) or not np.all(array >= 0.0):
        raise ValueError(
            f"metric(X, Y) must return distances of at least 0, of shape (1, {n}) for one and {n} points; "
            f"found shape {array.shape} and least value {array.min():g}."
        )
    return np.asarray(array[0])


def _identity(t: Floats) -> Floats:
    return t
