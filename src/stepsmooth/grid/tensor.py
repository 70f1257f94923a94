"""Tensor-product splines on a grid of up to three axes, with sums over the grid taken axis by axis.

A function on the grid is B theta with B the Kronecker product of the axes' bases. Sums over the grid such as
B' W B factorise: contracting one axis at a time costs little more than reading W once, so the number of voxels never
enters the linear algebra. `dense_gram` in the tests is the slow way.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from stepsmooth.grid.bands import Band, BandLayout, band_layout
from stepsmooth.grid.splines import AxisBasis
from stepsmooth.model.arrays import Floats


@dataclass(frozen=True)
class TensorBasis:
    """The tensor product of the axes' splines, seen at the points of a grid.

    `values[a]` is the (n_a, k_a) matrix of the basis of axis a at the grid's coordinates along it.

    Examples
    --------
    >>> axes = [AxisBasis(0.0, 5.0, 2), AxisBasis(0.0, 4.0, 1)]
    >>> basis = TensorBasis.on(axes, [np.arange(11.0), np.arange(5.0)])
    >>> basis.size, basis.evaluate(np.ones(basis.size)).shape
    (20, (11, 5))
    """

    axes: tuple[AxisBasis, ...]
    values: tuple[Floats, ...] = field(repr=False)

    @classmethod
    def on(cls, axes: "list[AxisBasis] | tuple[AxisBasis, ...]", coordinates: list[Floats]) -> "TensorBasis":
        """Return the product of `axes` at the grid of `coordinates`."""
        return cls(tuple(axes), tuple(axis.at(x) for axis, x in zip(axes, coordinates)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of functions along each axis."""
        return tuple(axis.size for axis in self.axes)

    @property
    def size(self) -> int:
        """Return the number of functions."""
        return int(np.prod(self.sizes))

    def evaluate(self, theta: Floats) -> Floats:
        """Return B theta on the grid."""
        result = theta.reshape(self.sizes)
        for a, values in enumerate(self.values):
            result = _along(values, result, a)
        return result

    def project(self, images: Floats) -> Floats:
        """Return B' image, for an image or for each of several, (..., *grid)."""
        result, lead = images, images.ndim - len(self.values)
        for a in reversed(range(len(self.values))):
            # The last axis first: it is the contiguous one, and each contraction leaves less to do.
            result = _along(self.values[a].T, result, lead + a)
        return result.reshape(*images.shape[:lead], -1)

    def gram(self, weights: Floats) -> Band:
        """Return B' W B for weights on the grid."""
        result = weights
        for a in reversed(range(len(self.axes))):
            result = _along(self._products[a].T, result, a)
        return self.layout.band(result)

    @property
    def layout(self) -> BandLayout:
        """Return how matrices of all pairs of functions are kept."""
        return band_layout(self.sizes)

    @cached_property
    def _products(self) -> list[Floats]:
        """Return, for each axis, the products of the overlapping pairs of functions at the grid."""
        return [values[:, rows] * values[:, columns] for values, (rows, columns) in zip(self.values, self.layout.pairs)]

    def changing(self, axis: int, coordinates: list[Floats]) -> "TensorBasis":
        """Return the basis as it changes, at a grid, from each point to the next along an axis.

        The change is the slope in the middle times the step: for steps far below the knots' distance that is exact.
        """
        on = [basis.at(x) for basis, x in zip(self.axes, coordinates)]
        x = coordinates[axis]
        on[axis] = self.axes[axis].at((x[1:] + x[:-1]) / 2.0, 1) * np.diff(x)[:, None]
        return TensorBasis(self.axes, tuple(on))

    @cached_property
    def bending(self) -> Band:
        """Return P with theta' P theta = the integral of |D^2 f|^2, all second derivatives squared and summed."""
        orders = [{a: 2} for a in range(len(self.axes))]
        total = np.sum([self._product_of_integrals(each) for each in orders], axis=0)
        for a, b in combinations(range(len(self.axes)), 2):
            total = total + 2.0 * self._product_of_integrals({a: 1, b: 1})
        return self.layout.band(total)

    def _product_of_integrals(self, orders: dict[int, int]) -> Floats:
        result: Floats = np.ones(1)
        for a, (axis, (rows, columns)) in enumerate(zip(self.axes, self.layout.pairs)):
            result = np.multiply.outer(result, axis.products(orders.get(a, 0))[rows, columns])
        return np.asarray(result[0])


def _along(matrix: Floats, image: Floats, axis: int) -> Floats:
    """Return an image with a matrix applied to one of its axes."""
    before, n, after = image.shape[:axis], image.shape[axis], image.shape[axis + 1 :]
    if not after:
        return np.asarray((image.reshape(-1, n) @ matrix.T).reshape(*before, len(matrix)))
    lead = int(np.prod(before))
    return np.asarray(np.matmul(matrix, image.reshape(lead, n, -1)).reshape(*before, len(matrix), *after))
