"""Cubic B-splines along one axis of a grid: values at the voxels, and the integrals that a roughness penalty needs."""

from dataclasses import dataclass

import numpy as np

from stepsmooth.model.arrays import Floats, Ints

# Gauss and Legendre's, exact for polynomials of degree 7.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(4)


@dataclass(frozen=True)
class AxisBasis:
    """Cubic B-splines on equally spaced knots over [start, start + n_cells * width].

    With `n_cells = 0` the only function is the constant: an axis along which f does not vary.

    Examples
    --------
    >>> basis = AxisBasis(0.0, 10.0, 3)
    >>> basis.size, bool(np.allclose(basis.at(np.linspace(0.0, 30.0, 7)).sum(axis=1), 1.0))
    (6, True)
    """

    start: float
    width: float
    n_cells: int

    @property
    def size(self) -> int:
        """Return how many functions there are."""
        return self.n_cells + 3 if self.n_cells else 1

    def at(self, x: Floats, order: int = 0) -> Floats:
        """Return the functions, or their derivatives, at x, one row a point.

        Beyond the knots each function keeps its value at the end.
        """
        cell, pieces = self.local(x, order)
        values = np.zeros((len(x), self.size))
        for j in range(pieces.shape[1]):
            values[np.arange(len(x)), cell + j] = pieces[:, j]
        return values

    def local(self, x: Floats, order: int = 0) -> tuple[Ints, Floats]:
        """Return the first of the functions that are not zero at each x, and the values of these, one row a point."""
        if not self.n_cells:
            return np.zeros(len(x), dtype=np.int64), np.full((len(x), 1), float(order == 0))
        position = np.clip((x - self.start) / self.width, 0.0, self.n_cells)
        cell = np.minimum(position.astype(np.int64), self.n_cells - 1)
        return cell, np.stack(_pieces(position - cell, order), axis=1) / self.width**order

    def products(self, order: int) -> Floats:
        """Return the integrals of products of the derivatives of an order from 0 to 2, of all pairs of functions."""
        if not self.n_cells:
            return np.full((1, 1), float(order == 0))
        local = np.stack(_pieces((NODES + 1.0) / 2.0, order)) / self.width**order
        block = (local * WEIGHTS * self.width / 2.0) @ local.T
        total = np.zeros((self.size, self.size))
        for cell in range(self.n_cells):
            total[cell : cell + 4, cell : cell + 4] += block
        return total


def _pieces(u: Floats, order: int = 0) -> list[Floats]:
    """Return the four functions that live on a cell, or their derivatives in cell widths, at u in [0, 1]."""
    v = 1.0 - u
    if order == 0:
        return [v**3 / 6.0, (4.0 - 6.0 * u**2 + 3.0 * u**3) / 6.0, (4.0 - 6.0 * v**2 + 3.0 * v**3) / 6.0, u**3 / 6.0]
    if order == 1:
        return [-(v**2) / 2.0, (3.0 * u**2 - 4.0 * u) / 2.0, (4.0 * v - 3.0 * v**2) / 2.0, u**2 / 2.0]
    return [v, 3.0 * u - 2.0, 3.0 * v - 2.0, u]


def axis_basis(low: float, high: float, knot_spacing: float) -> AxisBasis:
    """Return the basis over [low, high] with knots about `knot_spacing` apart; constant if the interval is a point.

    Examples
    --------
    >>> axis_basis(0.0, 100.0, 30.0).n_cells
    3
    """
    extent = high - low
    if extent <= 0.0:
        return AxisBasis(low, 1.0, 0)
    n_cells = max(round(extent / knot_spacing), 1)
    return AxisBasis(low, extent / n_cells, n_cells)
