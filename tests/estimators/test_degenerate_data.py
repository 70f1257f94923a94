"""Data that are odd but answerable: an answer, and a warning where less was found than asked for."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from stepsmooth import StepSmooth

X = np.linspace(0.1, 1.0, 30)[:, None]
KERNELS = pytest.mark.parametrize("kernel", ["spline", "min", "sobolev1", RBF(0.3)], ids=str)


@KERNELS
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 + 0.1, -3.0])
def test_constant_y_is_one_level_and_a_warning(kernel, value):
    with pytest.warns(UserWarning, match="y supports only 1 of the n_levels=3 levels asked for"):
        m = StepSmooth(3, kernel=kernel, solver="altmin").fit(X, np.full(30, value))
    assert m.n_levels_ == 1
    np.testing.assert_allclose(m.smooth_, 0.0, atol=1e-8 * max(abs(value), 1.0))
    np.testing.assert_allclose(m.levels_, [value], rtol=1e-9)
    assert m.probabilities_.shape == (30, 1)


@KERNELS
@pytest.mark.parametrize("start", ["smooth", "kmeans"])
@pytest.mark.parametrize("n_levels", [3, np.int64(4)])
def test_fewer_distinct_values_than_levels_warn(kernel, start, n_levels):
    y = np.arange(30) % 2
    with pytest.warns(
        UserWarning, match=f"supports only 2 of the n_levels={n_levels} levels.* too few distinct values"
    ):
        m = StepSmooth(n_levels, kernel=kernel, start=start).fit(X, y)
    assert m.n_levels_ == 2


def test_few_distinct_rows_of_vectors_warn():
    Y = np.column_stack([np.arange(30) % 2, np.arange(30) % 2])
    with pytest.warns(UserWarning, match="supports only 2 of the n_levels=3"):
        assert StepSmooth(3, random_state=0, solver="altmin").fit(X, Y).n_levels_ == 2


def test_counting_the_levels_of_constant_y_gives_one():
    assert StepSmooth("auto", solver="altmin").fit(X, np.ones(30)).n_levels_ == 1


@pytest.mark.parametrize("kernel", ["min", "sobolev1", RBF(0.3)], ids=str)
def test_as_many_points_as_levels_are_enough(kernel):
    m = StepSmooth(3, kernel=kernel, solver="altmin").fit(X[:3], [0.0, 5.0, 1.0])
    assert m.labels_.shape == (3,)
    assert np.all(np.isfinite(m.smooth_))


def test_levels_that_a_spline_through_all_points_leaves_nothing_to_are_a_warning():
    with pytest.warns(UserWarning, match=r"levels_ coincide: at tau = .* f explains y without them"):
        m = StepSmooth(3, kernel="spline", solver="altmin").fit(X[:3], [0.0, 5.0, 1.0])
    np.testing.assert_allclose(m.smooth_ + m.levels_[m.labels_], [0.0, 5.0, 1.0], atol=1e-9)


@KERNELS
def test_one_point_is_one_level(kernel):
    m = StepSmooth(1, kernel=kernel, solver="altmin").fit(X[:1], [2.0])
    assert m.levels_ + m.smooth_ == pytest.approx(2.0)


@KERNELS
def test_repeated_points_share_one_value_of_f(kernel):
    rng = np.random.default_rng(0)
    x, z = np.repeat(X, 4, axis=0), np.arange(120) % 2
    y = np.sin(5.0 * x[:, 0]) + 2.0 * z + 0.1 * rng.normal(size=120)
    m = StepSmooth(2, kernel=kernel, solver="altmin").fit(x, y)
    np.testing.assert_array_equal(m.labels_, z)
    np.testing.assert_allclose(np.ptp(m.smooth_.reshape(30, 4), axis=1), 0.0, atol=1e-10)


@pytest.mark.parametrize("kernel", ["spline", "min", "rbf", "matern"])
@pytest.mark.parametrize("x", [0.0, 2.0, -2.0])
def test_all_points_in_one_place_leave_kmeans(kernel, x):
    y = np.random.default_rng(0).normal(size=30) + 8.0 * (np.arange(30) % 2)
    m = StepSmooth(2, kernel=kernel, solver="altmin").fit(np.full((30, 1), x), y)
    np.testing.assert_array_equal(m.labels_, np.arange(30) % 2)
    np.testing.assert_allclose(m.smooth_, 0.0, atol=1e-9)
    np.testing.assert_allclose(m.levels_, [y[::2].mean(), y[1::2].mean()], atol=1e-9)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_extreme_units_are_taken(unit, scale):
    z = np.arange(30) % 2
    m = StepSmooth(2, solver="altmin").fit(unit * X, scale * (np.sin(5.0 * X[:, 0]) + 3.0 * z))
    np.testing.assert_array_equal(m.labels_, z)


def test_points_a_rounding_error_apart_are_no_trouble():
    """Pairs at 1e-13 of each other, the first pair included."""
    rng = np.random.default_rng(0)
    x = np.sort(np.concatenate([X[:, 0], X[:, 0] + 1e-13]))
    z = rng.integers(2, size=60)
    y = np.sin(5.0 * x) + 3.0 * z + 0.1 * rng.normal(size=60)
    near = StepSmooth(2, tau=1e-5, solver="altmin").fit(x[:, None], y)
    merged = StepSmooth(2, tau=1e-5, solver="altmin").fit(np.repeat(X, 2, axis=0), y)
    np.testing.assert_array_equal(near.labels_, z)
    np.testing.assert_allclose(near.smooth_, merged.smooth_, atol=1e-9)
    new = np.linspace(-1.0, 2.0, 20)[:, None]
    np.testing.assert_allclose(near.predict(new), merged.predict(new), atol=1e-8)
