"""The peers' cubic splines solve one problem, at the same `tau`, and it is ours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsmooth.line import LineSmoother
from stepsmooth.peers import on_knots, roughness, spline_csaps, spline_dense, spline_scipy

TAUS = st.floats(-4, 0).map(lambda e: 10.0**e)


def draw(seed, n=40):
    """Points on [0, 5] at least .02 apart, a residual and weights."""
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.uniform(0.02, 0.2, n))
    return x, np.sin(x) + rng.normal(size=n), rng.uniform(0.5, 2.0, n)


@given(seed=st.integers(0, 2**32 - 1), tau=TAUS)
@settings(max_examples=30, deadline=None)
def test_scipy_csaps_and_dense_agree_with_weights(seed, tau):
    x, r, w = draw(seed)
    dense = spline_dense(x, r, tau, weights=w)
    np.testing.assert_allclose(spline_scipy(x, r, tau, weights=w), dense, atol=1e-8)
    np.testing.assert_allclose(spline_csaps(x, r, tau, weights=w), dense, atol=1e-8)


@given(seed=st.integers(0, 2**32 - 1), tau=TAUS)
@settings(max_examples=30, deadline=None)
def test_our_ordered_path_is_the_peers_spline(seed, tau):
    x, r, w = draw(seed)
    ours = LineSmoother(x, w, order=2).solve(r, tau)
    np.testing.assert_allclose(ours, spline_dense(x, r, tau, weights=w), atol=1e-8)
    np.testing.assert_allclose(ours, spline_csaps(x, r, tau, weights=w), atol=1e-8)


@pytest.mark.parametrize("smoother", [spline_scipy, spline_csaps, spline_dense])
def test_order_of_points_does_not_matter(smoother):
    x, r, w = draw(1)
    order = np.random.default_rng(2).permutation(len(x))
    shuffled = smoother(x[order], r[order], 0.01, weights=w[order])
    np.testing.assert_allclose(shuffled, smoother(x, r, 0.01, weights=w)[order], atol=1e-10)


@pytest.mark.parametrize("smoother", [spline_scipy, spline_csaps, spline_dense])
def test_a_weight_of_two_is_the_point_twice(smoother):
    x, r, _ = draw(3)
    w = np.ones(len(x))
    w[4] = 2.0
    repeated = smoother(np.append(x, x[4]), np.append(r, r[4]), 0.01)
    np.testing.assert_allclose(repeated[:-1], smoother(x, r, 0.01, weights=w), atol=1e-10)


@pytest.mark.parametrize("smoother", [spline_scipy, spline_csaps])
def test_weight_zero_is_absent_and_still_evaluated(smoother):
    x, r, w = draw(5)
    w[7] = 0.0
    spoilt = r.copy()
    spoilt[7] = 1e6
    np.testing.assert_allclose(smoother(x, spoilt, 0.01, weights=w), smoother(x, r, 0.01, weights=w), atol=1e-10)


def test_dense_refuses_weight_zero():
    x, r, w = draw(5)
    w[7] = 0.0
    with pytest.raises(ValueError, match="positive weight at every point"):
        spline_dense(x, r, 0.01, weights=w)


def test_scipy_chooses_its_own_tau_between_line_and_interpolant():
    x, r, _ = draw(6, n=100)
    f = spline_scipy(x, r, None)
    assert 0.0 < np.std(r - f) < np.std(r - spline_scipy(x, r, 1e6))


def test_roughness_is_the_integral_of_the_squared_second_derivative():
    from scipy.interpolate import CubicSpline

    x, r, _ = draw(7, n=12)
    second = CubicSpline(x, r, bc_type="natural").derivative(2)
    fine = np.linspace(x[0], x[-1], 200_001)
    integral = np.trapezoid(second(fine) ** 2, fine)
    assert r @ roughness(x) @ r == pytest.approx(integral, rel=1e-6)


def test_on_knots_keeps_its_input():
    x, r, w = draw(8)
    before = x[::-1].copy(), r.copy(), w.copy()
    given_x = x[::-1].copy()
    on_knots(given_x, r, w)
    for kept, now in zip(before, (given_x, r, w)):
        np.testing.assert_array_equal(kept, now)
