"""Kernels of the paper's spaces: what makes each the kernel of its norm, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.model import CubicSplineKernel, MinKernel, SobolevKernel, kernel_metric

KERNELS = [
    MinKernel(),
    MinKernel(origin=-3.0),
    CubicSplineKernel(),
    SobolevKernel(1),
    SobolevKernel(2),
    SobolevKernel(1, (-2.0, 5.0)),
    SobolevKernel(2, (-2.0, 5.0)),
]
SEEDS = st.integers(0, 2**32 - 1)


def draw(seed, n=12):
    return np.random.default_rng(seed).uniform(0.0, 1.0, (n, 1))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@given(seed=SEEDS)
def test_a_kernel_matrix_is_symmetric_and_positive_semidefinite(kernel, seed):
    K = kernel(draw(seed))
    np.testing.assert_allclose(K, K.T, rtol=1e-12)
    values = np.linalg.eigvalsh(K)
    assert values[0] >= -1e-13 * values[-1]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@given(seed=SEEDS)
def test_diag_is_the_diagonal_and_two_arguments_are_a_block(kernel, seed):
    X = draw(seed)
    K = kernel(X)
    np.testing.assert_allclose(kernel.diag(X), np.diag(K), rtol=1e-12)
    np.testing.assert_allclose(kernel(X[:5], X[5:]), K[:5, 5:], rtol=1e-12)
    np.testing.assert_array_equal(kernel(X[:, 0]), K)


def test_the_min_kernel_is_the_paper_s():
    x = np.arange(1, 6) / 5
    np.testing.assert_array_equal(MinKernel()(x), np.minimum.outer(x, x))


@given(seed=SEEDS, origin=st.floats(-100, 100))
def test_an_origin_shifts_the_line(seed, origin):
    X = draw(seed)
    np.testing.assert_allclose(MinKernel(origin)(X + origin), MinKernel()(X), atol=1e-12)
    np.testing.assert_allclose(CubicSplineKernel(origin)(X + origin), CubicSplineKernel()(X), atol=1e-12)


def test_the_spline_kernel_is_the_integral_that_defines_it():
    u, step = np.linspace(0.0, 1.0, 200_001, retstep=True)
    for x, y in [(0.3, 0.8), (0.5, 0.5), (1.0, 0.1)]:
        integral = np.sum(np.maximum(x - u, 0.0) * np.maximum(y - u, 0.0)) * step
        assert CubicSplineKernel()([[x]], [[y]])[0, 0] == pytest.approx(integral, abs=1e-5)


@given(seed=SEEDS)
def test_the_metric_of_the_min_kernel_is_the_root_of_the_distance(seed):
    x = draw(seed)[:, 0]
    np.testing.assert_allclose(kernel_metric(MinKernel(), x), np.sqrt(np.abs(x[:, None] - x)), atol=1e-7)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if not hasattr(k, "null_space")], ids=repr)
@given(seed=SEEDS)
def test_a_function_changes_by_no_more_than_its_norm_times_the_metric(kernel, seed):
    rng = np.random.default_rng(seed)
    X = draw(seed)
    a = rng.normal(size=len(X))
    K = kernel(X)
    f, norm = K @ a, np.sqrt(a @ K @ a)
    distance = kernel_metric(kernel, X)
    np.testing.assert_allclose(distance, distance.T, atol=1e-7)
    assert np.all(np.abs(f[:, None] - f) <= norm * distance + 1e-7 * norm)


def test_the_metric_of_two_sets_is_a_block_of_the_metric_of_one():
    X = draw(0)
    np.testing.assert_allclose(
        kernel_metric(MinKernel(), X[:4], X[4:]), kernel_metric(MinKernel(), X)[:4, 4:], atol=1e-12
    )


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: MinKernel(1.0)([[0.5]]), "starts at origin 1, but x = 0.5 was asked for"),
        (lambda: MinKernel()([[0.5]], [[-1.0]]), "knows nothing to the left of its origin"),
        (lambda: MinKernel()(np.zeros((3, 2))), "kernel='min' needs points on a line, but X has 2 columns"),
        (lambda: CubicSplineKernel()(np.zeros((3, 2))), "kernel='spline' needs points on a line"),
        (lambda: SobolevKernel(2)(np.zeros((3, 3))), "kernel='sobolev2' needs points on a line, but X has 3 columns"),
        (lambda: SobolevKernel(1)([[1.5]]), r"kernel='sobolev1' lives on \[0, 1\], but x in \[1.5, 1.5\] was asked"),
        (lambda: SobolevKernel(2)([[0.5]], [[-0.5]]), r"lives on \[0, 1\], but x in \[-0.5, -0.5\] was asked for"),
        (lambda: SobolevKernel(3), "alpha must be 1 or 2, got 3"),
        (lambda: SobolevKernel(2, (0.0, 0.01)), "must be at least 0.02 long, got 0.01; express x in a smaller unit"),
        (lambda: SobolevKernel(1, (1.0, 1.0)), "must be at least 1e-06 long, got 0"),
        (lambda: SobolevKernel(1, (0.0, np.nan)), "must be at least 1e-06 long, got nan"),
        (lambda: kernel_metric(CubicSplineKernel(), [[0.0], [1.0]]), "needs a norm, but this kernel leaves some"),
    ],
)
def test_a_kernel_refuses_in_a_sentence(ask, words):
    with pytest.raises(ValueError, match=words):
        ask()
