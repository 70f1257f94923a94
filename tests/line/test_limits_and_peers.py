"""The ordered path against trusted libraries, at the ends of tau, and what it refuses."""

import csaps
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline, make_smoothing_spline

from stepsmooth.line import LineSmoother

SEEDS = st.integers(0, 2**32 - 1)


def draw(seed, n=40):
    """Points on [0, 5] in any order, at least .02 apart, a residual and weights."""
    rng = np.random.default_rng(seed)
    x = rng.permutation(np.cumsum(rng.uniform(0.02, 0.2, n)))
    return x, np.sin(x) + rng.normal(size=n), rng.uniform(0.5, 2.0, n)


@given(seed=SEEDS, log_tau=st.floats(-5, 2))
def test_scipy_s_smoothing_spline_with_lam_n_tau(seed, log_tau):
    x, r, w = draw(seed)
    tau, order, t = 10.0**log_tau, np.argsort(x), np.linspace(-1.0, 9.0, 50)
    theirs = make_smoothing_spline(x[order], r[order], w=w[order], lam=w.sum() * tau)
    ours = LineSmoother(x, w, order=2)
    np.testing.assert_allclose(ours.solve(r, tau), theirs(x), atol=1e-8)
    inside = (t >= x.min()) & (t <= x.max())
    np.testing.assert_allclose(ours.at(t[inside], r, tau), theirs(t[inside]), atol=1e-8)


@given(seed=SEEDS, log_tau=st.floats(-4, 0))
def test_csaps_with_p_one_over_one_plus_n_tau(seed, log_tau):
    """csaps minimises p sum w (y - f)^2 + (1 - p) int f''^2, so (1 - p) / p = n tau."""
    x, r, w = draw(seed)
    tau, order = 10.0**log_tau, np.argsort(x)
    spline = csaps.CubicSmoothingSpline(x[order], r[order], weights=w[order], smooth=1.0 / (1.0 + w.sum() * tau))
    np.testing.assert_allclose(LineSmoother(x, w, order=2).solve(r, tau)[order], spline(x[order]), atol=1e-8)


@given(seed=SEEDS)
def test_tau_zero_is_the_minimum_norm_interpolant(seed):
    x, r, w = draw(seed)
    t, order = np.linspace(x.min(), x.max(), 60), np.argsort(x)
    broken, spline = LineSmoother(x, w, order=1), LineSmoother(x, w, order=2)
    np.testing.assert_allclose(broken.solve(r, 0.0), r, atol=1e-13)
    np.testing.assert_allclose(broken.at(t, r, 0.0), np.interp(t, x[order], r[order]), atol=1e-12)
    np.testing.assert_allclose(spline.solve(r, 0.0), r, atol=1e-13)
    natural = CubicSpline(x[order], r[order], bc_type="natural")
    np.testing.assert_allclose(spline.at(t, r, 0.0), natural(t), atol=1e-8)


@pytest.mark.parametrize("order", [1, 2])
def test_a_small_tau_comes_close_to_the_interpolant(order):
    x, r, _ = draw(0)
    smoother = LineSmoother(x, order=order)
    errors = [np.abs(smoother.solve(r, tau) - r).max() for tau in (1e-6, 1e-8, 1e-10, 1e-12)]
    assert np.all(np.diff(errors) < 0)
    assert errors[-1] < 1e-4


@given(seed=SEEDS)
def test_a_large_tau_leaves_what_is_free(seed):
    x, r, w = draw(seed)
    line = np.polyval(np.polyfit(x, r, 1, w=np.sqrt(w)), x)
    np.testing.assert_allclose(LineSmoother(x, w, order=2).solve(r, 1e12), line, atol=1e-9)
    np.testing.assert_allclose(LineSmoother(x, w, order=1).solve(r, 1e12), 0.0, atol=1e-9)


@pytest.mark.parametrize("order", [1, 2])
def test_the_degrees_of_freedom_fill_their_range(order):
    x = np.r_[draw(0)[0], 1.0, 1.0]
    smoother = LineSmoother(x, order=order)
    low, high = smoother.dof_range
    assert (low, high) == ((0.0, 41.0) if order == 1 else (2.0, 41.0))
    taus = np.geomspace(1e-14, 1e14, 29)
    trace = [smoother.trace(tau) for tau in taus]
    assert np.all(np.diff(trace) < 0)
    np.testing.assert_allclose([trace[-1], trace[0]], [low, high], atol=1e-3)


def test_a_point_at_the_origin_of_the_min_kernel_has_no_degree_of_freedom():
    smoother = LineSmoother(np.array([0.0, 0.5, 1.0]), order=1)
    assert smoother.dof_range == (0.0, 2.0)
    assert smoother.trace(1e-12) == pytest.approx(2.0)
    assert smoother.solve(np.ones(3), 1e-3)[0] == 0.0


@pytest.mark.parametrize("x", [[2.0], [2.0, 2.0, 2.0], [1.0, 2.0], [2.0, 1.0, 2.0]])
def test_fewer_than_three_points_are_fitted_exactly_by_the_spline(x):
    x = np.array(x)
    smoother, r = LineSmoother(x, order=2), 3.0 * x + np.arange(len(x)) % 2
    knots, inverse = np.unique(x, return_inverse=True)
    means = np.bincount(inverse, r) / np.bincount(inverse)
    np.testing.assert_allclose(smoother.solve(r, 0.1), means[inverse])
    np.testing.assert_allclose(smoother.at(knots, r, 0.1), means)
    assert smoother.norm2(smoother.solve(r, 0.1)) == 0.0
    assert smoother.trace(0.1) == pytest.approx(len(knots))


def test_repeated_points_share_the_leverage_in_proportion_to_their_weights():
    x, w = np.array([0.3, 0.1, 0.3, 0.7, 0.9]), np.array([1.0, 1.0, 3.0, 2.0, 1.0])
    leverage = LineSmoother(x, w, order=2).leverage(0.01)
    assert leverage[2] == pytest.approx(3.0 * leverage[0])


@pytest.mark.parametrize("order", [1, 2])
def test_calls_in_any_order_give_the_same_bits(order):
    x, r, w = draw(0)
    smoother = LineSmoother(x, w, order=order)
    first = smoother.solve(r, 1e-3)
    smoother.leverage(10.0), smoother.at(x, r, 1e-8)
    np.testing.assert_array_equal(smoother.solve(r, 1e-3), first)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: LineSmoother([0.1, 0.2], order=3), r"order must be 1 \(min kernel\) or 2 \(cubic spline\), got 3"),
        (lambda: LineSmoother([0.1, 0.2], order=1, origin=0.15), "must not lie right of the data, got origin 0.15"),
        (
            lambda: LineSmoother([1.0, 2.0], order=1).at([-1.0], np.ones(2), 1.0),
            "starts at origin 0, but x = -1 was asked for; it knows nothing to the left",
        ),
        (
            lambda: LineSmoother([1.0, 2.0, 1.0, 3.0], order=2).solve(np.array([0.0, 1.0, 1.0, 1.0]), 0.0),
            "tau = 0 asks for interpolation, .*coincide with different values",
        ),
        (
            lambda: LineSmoother([0.0, 1.0, 2.0], order=1).at([0.5], np.ones(3), 0.0),
            "tau = 0 asks for interpolation, .*a value at the origin of the min kernel",
        ),
    ],
)
def test_it_refuses_in_a_sentence(ask, words):
    with pytest.raises(ValueError, match=words):
        ask()


def test_repeated_points_with_the_same_value_are_interpolated():
    x, r = np.array([1.0, 2.0, 1.0, 3.0]), np.array([0.5, 1.0, 0.5, 1.0])
    np.testing.assert_allclose(LineSmoother(x, order=2).solve(r, 0.0), r)
