"""Sums over a grid taken axis by axis equal the dense ones; integrals of splines equal those that SciPy gives."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

from stepsmooth.grid.splines import AxisBasis, axis_basis
from stepsmooth.grid.tensor import TensorBasis


def dense(basis):
    """The slow way: every function at every voxel."""
    result = np.ones((1, 1))
    for values in basis.values:
        result = np.kron(result, values)
    return result


@pytest.fixture(params=[(11,), (11, 9), (11, 9, 7), (11, 9, 1)], ids=str)
def basis(request):
    coordinates = [0.7 * np.arange(n) for n in request.param]
    return TensorBasis.on([axis_basis(x[0], x[-1], 3.0) for x in coordinates], coordinates)


def test_the_gram_matrix_equals_the_dense_one(basis):
    weights = np.random.default_rng(0).uniform(size=[len(v) for v in basis.values])
    B = dense(basis)
    np.testing.assert_allclose(basis.gram(weights).dense, B.T @ (weights.ravel()[:, None] * B), atol=1e-12)


def test_the_longest_axis_is_slowest_so_the_band_is_narrow():
    basis = TensorBasis.on([axis_basis(0.0, 10.0 * n, 10.0) for n in (2, 9, 4)], [np.arange(5.0)] * 3)
    assert basis.sizes == (5, 12, 7)
    assert basis.gram(np.ones((5, 5, 5))).layout.width == 3 * 7 * 5 + 3 * 5 + 3


def test_a_band_times_a_vector_is_the_dense_product(basis):
    gram = basis.gram(np.random.default_rng(0).uniform(size=[len(v) for v in basis.values]))
    vector, order = np.random.default_rng(1).normal(size=basis.size), gram.layout.order
    np.testing.assert_allclose(gram.times(vector[order]), (gram.dense @ vector)[order], atol=1e-12)


def test_the_change_from_point_to_point_is_that_of_the_function(basis):
    theta = np.random.default_rng(2).normal(size=basis.size)
    coordinates = [0.1 * np.arange(n) for n in (len(v) for v in basis.values)]
    fine = TensorBasis.on(basis.axes, coordinates)
    steps = basis.changing(0, coordinates).evaluate(theta)
    np.testing.assert_allclose(steps, np.diff(fine.evaluate(theta), axis=0), atol=1e-4)


def test_evaluation_and_projection_equal_the_dense_ones(basis):
    rng = np.random.default_rng(1)
    B, theta = dense(basis), rng.normal(size=basis.size)
    image = rng.normal(size=[len(v) for v in basis.values])
    np.testing.assert_allclose(basis.evaluate(theta).ravel(), B @ theta, atol=1e-12)
    np.testing.assert_allclose(basis.project(image), B.T @ image.ravel(), atol=1e-12)


def test_the_functions_are_scipys_b_splines():
    axis, x = AxisBasis(2.0, 1.5, 4), np.linspace(2.0, 8.0, 50)
    knots = 2.0 + 1.5 * np.arange(-3, 8)
    np.testing.assert_allclose(axis.at(x), BSpline.design_matrix(x, knots, 3).toarray(), atol=1e-12)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_products_of_derivatives_are_integrated_exactly(order):
    axis = AxisBasis(0.0, 2.0, 3)
    knots = 2.0 * np.arange(-3, 7)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    total = np.zeros((axis.size, axis.size))
    for cell in range(3):
        x = 2.0 * cell + nodes + 1.0
        at = np.stack([BSpline(knots, np.eye(axis.size)[i], 3)(x, order) for i in range(axis.size)])
        total += (at * weights) @ at.T
    np.testing.assert_allclose(axis.products(order), total, atol=1e-12)


def test_only_affine_functions_bend_nothing(basis):
    values = np.linalg.eigvalsh(basis.bending.dense)
    free = 1 + sum(axis.n_cells > 0 for axis in basis.axes)
    assert np.all(np.abs(values[:free]) < 1e-10 * values[-1])
    assert values[free] > 1e-8 * values[-1]


def test_beyond_its_knots_a_function_keeps_its_value():
    axis = AxisBasis(0.0, 1.0, 3)
    np.testing.assert_array_equal(axis.at(np.array([-5.0, 8.0])), axis.at(np.array([0.0, 3.0])))
