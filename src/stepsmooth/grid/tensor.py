"""Tensor-product splines on a grid of up to three axes, with sums over the grid taken axis by axis.

A function on the grid is B theta with B the Kronecker product of the axes' bases. Sums over the grid such as
B' W B factorise: contracting one axis at a time costs little more than reading W once, so the number of voxels never
enters the linear algebra. `dense_gram` in the tests is the slow way.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from stepsmooth.grid.splines import AxisBasis
from stepsmooth.model.arrays import Floats, Ints


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
            result = np.moveaxis(np.tensordot(values, result, axes=(1, a)), 0, a)
        return np.ascontiguousarray(result)

    def project(self, image: Floats) -> Floats:
        """Return B' image."""
        result = image
        for a in reversed(range(len(self.values))):
            # The last axis first: it is the contiguous one, and each contraction leaves less to do.
            result = np.moveaxis(np.tensordot(result, self.values[a], axes=(a, 0)), -1, a)
        return np.ascontiguousarray(result).ravel()

    def gram(self, weights: Floats) -> Floats:
        """Return B' W B for weights on the grid, dense."""
        result = weights
        for a in reversed(range(len(self.axes))):
            result = np.moveaxis(np.tensordot(result, self._bands[a][2], axes=(a, 0)), -1, a)
        dense = np.zeros(self.sizes + self.sizes)
        rows = np.ix_(*(band[0] for band in self._bands))
        columns = np.ix_(*(band[1] for band in self._bands))
        dense[(*rows, *columns)] = result
        return dense.reshape(self.size, self.size)

    @cached_property
    def _bands(self) -> list[tuple[Ints, Ints, Floats]]:
        """Return, for each axis, the pairs of functions that overlap and their products at the grid."""
        bands = []
        for values in self.values:
            nonzero = (values != 0.0).astype(np.float64)
            rows, columns = np.nonzero(nonzero.T @ nonzero)
            bands.append((rows, columns, values[:, rows] * values[:, columns]))
        return bands

    @cached_property
    def bending(self) -> Floats:
        """Return P with theta' P theta = the integral of |D^2 f|^2, all second derivatives squared and summed."""
        d = len(self.axes)
        total = np.zeros((self.size, self.size))
        for a in range(d):
            total += self._product_of_integrals({a: 2})
        for a, b in combinations(range(d), 2):
            total += 2.0 * self._product_of_integrals({a: 1, b: 1})
        return total

    def _product_of_integrals(self, orders: dict[int, int]) -> Floats:
        result: Floats = np.ones((1, 1))
        for a, axis in enumerate(self.axes):
            result = np.asarray(np.kron(result, axis.products(orders.get(a, 0))), dtype=np.float64)
        return result
