"""Kernels and their edges, in figures done by hand."""

import numpy as np
import pytest

from stepsmooth.model import CubicSplineKernel, MinKernel, SobolevKernel, kernel_metric


def test_kernels_with_an_origin_by_hand():
    X, Y = [[2.0], [5.0]], [[3.0]]
    np.testing.assert_array_equal(MinKernel(1.0)(X, Y), [[1.0], [2.0]])
    np.testing.assert_array_equal(MinKernel(1.0).diag(X), [1.0, 4.0])
    # low^2 (3 high - low) / 6 with low, high = 1, 2 and 2, 4
    np.testing.assert_allclose(CubicSplineKernel(1.0)(X, Y), [[5.0 / 6.0], [4.0 * 10.0 / 6.0]])
    np.testing.assert_allclose(CubicSplineKernel(1.0).diag(X), [1.0 / 3.0, 64.0 / 3.0])
    np.testing.assert_array_equal(CubicSplineKernel(1.0).null_space(X), [[1.0, 1.0], [1.0, 4.0]])


def test_left_of_its_origin_the_spline_kernel_is_zero():
    np.testing.assert_array_equal(CubicSplineKernel(1.0)([[0.0], [2.0]])[0], [0.0, 0.0])
    np.testing.assert_array_equal(CubicSplineKernel(1.0).diag([[0.0]]), [0.0])


def test_the_metric_of_a_kernel_by_hand():
    found = kernel_metric(MinKernel(1.0), [[2.0], [5.0]], [[3.0], [5.0]])
    np.testing.assert_allclose(found, [[1.0, np.sqrt(3.0)], [np.sqrt(2.0), 0.0]])


@pytest.mark.parametrize("alpha", [1, 2])
@pytest.mark.parametrize("x", [[[0.5], [1.5]], [[-0.5], [0.5]], [[-0.5], [1.5]]])
def test_one_point_outside_the_domain_is_enough_to_be_refused(alpha, x):
    kernel = SobolevKernel(alpha)
    for ask in (lambda: kernel(x), lambda: kernel(x, [[0.5]]), lambda: kernel([[0.5]], x), lambda: kernel.diag(x)):
        with pytest.raises(ValueError, match=r"lives on \[0, 1\], but x in"):
            ask()
    assert kernel([[0.0], [1.0]]).shape == (2, 2)


@pytest.mark.parametrize(("alpha", "shortest"), [(1, 1e-6), (2, 0.02)])
def test_the_shortest_domain_is_taken_and_a_shorter_one_is_not(alpha, shortest):
    assert np.all(np.isfinite(SobolevKernel(alpha, (0.0, shortest))([[0.0], [shortest]])))
    with pytest.raises(ValueError, match="long, got"):
        SobolevKernel(alpha, (0.0, 0.9 * shortest))


def test_the_sobolev_kernel_of_a_shifted_domain_is_the_shifted_kernel():
    x = np.linspace(0.0, 2.0, 6)
    for alpha in (1, 2):
        np.testing.assert_allclose(
            SobolevKernel(alpha, (3.0, 5.0))(x + 3.0), SobolevKernel(alpha, (0.0, 2.0))(x), rtol=1e-9
        )
