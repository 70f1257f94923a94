"""Splines along one axis: values, derivatives and integrals against SciPy's, and how knots are laid."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

from stepsmooth.grid.splines import AxisBasis, axis_basis


def scipys(axis, x, order):
    knots = axis.start + axis.width * np.arange(-3, axis.n_cells + 4)
    return np.stack([BSpline(knots, row, 3)(x, order) for row in np.eye(axis.size)], axis=1)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("n_cells", [1, 2, 5])
def test_functions_and_derivatives_are_scipys(order, n_cells):
    axis = AxisBasis(-1.5, 2.5, n_cells)
    x = np.sort(np.random.default_rng(0).uniform(-1.5, -1.5 + 2.5 * n_cells, 40))
    np.testing.assert_allclose(axis.at(x, order), scipys(axis, x, order), atol=1e-12)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_local_values_are_the_four_that_may_differ_from_zero(order):
    axis, x = AxisBasis(2.0, 0.5, 4), np.array([2.0, 2.2, 2.5, 3.1, 3.99, 4.0])
    first, pieces = axis.local(x, order)
    assert first.tolist() == [0, 0, 1, 2, 3, 3]
    expected = scipys(axis, np.minimum(x, 4.0 - 1e-12), order)
    np.testing.assert_allclose(pieces, [row[i : i + 4] for row, i in zip(expected, first)], atol=1e-9)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_along_an_axis_of_one_voxel_f_is_constant(order):
    axis, x = AxisBasis(3.0, 1.0, 0), np.array([-1.0, 3.0, 9.0])
    assert axis.size == 1
    first, pieces = axis.local(x, order)
    assert first.tolist() == [0, 0, 0]
    np.testing.assert_array_equal(pieces, np.full((3, 1), float(order == 0)))
    np.testing.assert_array_equal(axis.at(x, order), pieces)
    np.testing.assert_array_equal(axis.products(order), [[float(order == 0)]])


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("width", [0.5, 3.0])
def test_integrals_of_products_are_those_of_quadrature_at_any_width(order, width):
    axis = AxisBasis(1.0, width, 3)
    nodes, weights = np.polynomial.legendre.leggauss(7)
    x = np.concatenate([1.0 + width * (cell + (nodes + 1.0) / 2.0) for cell in range(3)])
    at, mass = scipys(axis, x, order), np.tile(weights * width / 2.0, 3)
    np.testing.assert_allclose(axis.products(order), at.T @ (mass[:, None] * at), atol=1e-11 * width ** (1 - 2 * order))


def test_the_knots_fill_the_interval_about_as_far_apart_as_asked():
    assert axis_basis(5.0, 105.0, 30.0) == AxisBasis(5.0, 100.0 / 3.0, 3)
    assert axis_basis(-4.0, 4.0, 3.0) == AxisBasis(-4.0, 8.0 / 3.0, 3)
    assert axis_basis(0.0, 1.0, 50.0) == AxisBasis(0.0, 1.0, 1)  # at least one cell
    assert axis_basis(7.0, 7.0, 50.0) == AxisBasis(7.0, 1.0, 0)  # a point
    assert [axis_basis(0.0, 1.0, 1.0).size, axis_basis(0.0, 0.5, 1.0).size, axis_basis(0.0, 0.0, 1.0).size] == [4, 4, 1]
