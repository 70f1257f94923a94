"""Filter and costate pass, number by number, against dense covariances: min(s, t) and integrated Brownian motion."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from stepsmooth.line import statespace

SIZES = pytest.mark.parametrize("n", [1, 2, 3, 4, 9])


def problem(n, seed=0):
    """Uneven steps, uneven noise and data."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.3, 2.0, n), rng.uniform(0.2, 3.0, n), rng.normal(size=n)


def brownian(dx, h):
    t = np.cumsum(dx)
    return np.minimum.outer(t, t) + np.diag(h)


def integrated(dx, h):
    """Return the covariance of the data less the free line, and the line's two columns."""
    t = np.cumsum(dx) - dx[0]
    low, high = np.minimum.outer(t, t), np.maximum.outer(t, t)
    return low**2 * (3.0 * high - low) / 6.0 + np.diag(h), np.column_stack([np.ones_like(t), t])


def without_line(V, T):
    """Return V^-1 less what the columns of T explain."""
    VT = np.linalg.solve(V, T)
    return np.linalg.inv(V) - VT @ np.linalg.solve(T.T @ VT, VT.T)


@SIZES
def test_order_1_has_the_innovation_variances_of_brownian_motion(n):
    dx, h, _ = problem(n)
    F, k = statespace.gains1(dx, h)
    assert_allclose(F, np.diag(np.linalg.cholesky(brownian(dx, h))) ** 2)
    assert_allclose(k, 1.0 - h / F)


@SIZES
def test_order_1_smooths_as_the_dense_formula_does(n):
    dx, h, r = problem(n)
    V = brownian(dx, h)
    F, k = statespace.gains1(dx, h)
    assert_allclose(statespace.smooth1(F, k, h, r), (V - np.diag(h)) @ np.linalg.solve(V, r))
    assert_allclose(statespace.leverage1(F, k, h), 1.0 - h * np.diag(np.linalg.inv(V)))


def test_order_1_is_zero_at_its_origin_even_where_nothing_is_noisy():
    dx, h, r = np.array([0.0, 1.0, 2.0]), np.zeros(3), np.array([5.0, 1.0, -2.0])
    F, k = statespace.gains1(dx, h)
    assert_allclose(F, dx)
    assert_allclose(k, [0.0, 1.0, 1.0])
    assert_allclose(statespace.smooth1(F, k, h, r), [0.0, 1.0, -2.0])
    assert_allclose(statespace.leverage1(F, k, h), [0.0, 1.0, 1.0])


@SIZES
def test_order_2_has_the_innovation_variances_of_integrated_brownian_motion_on_a_free_line(n):
    dx, h, _ = problem(n)
    V, T = integrated(dx, h)
    # The density of the first m points, the line summed out; each point more multiplies its determinant by F.
    sizes = [np.linalg.det(V[:m, :m]) * np.linalg.det(without_free(V, T, m)) for m in range(2, n + 1)]
    F, k, stretch, back, keep = statespace.gains2(dx, h)
    assert_allclose(F[2:], np.array(sizes[1:]) / np.array(sizes[:-1]))
    assert_allclose(k[2:], 1.0 - h[2:] / F[2:])
    for gain in (F, k, stretch, back, keep):
        assert_allclose(gain[:2], 0.0)


def without_free(V, T, m):
    return T[:m].T @ np.linalg.solve(V[:m, :m], T[:m])


@pytest.mark.parametrize("n", [3, 4, 9])
def test_order_2_predicts_value_and_slope_as_two_matrices_do(n, transition_over):
    """Rest is the slope less b times the value; its transition is that of (value, slope) in other coordinates."""
    dx, h, _ = problem(n, seed=n)
    _, _, stretch, back, keep = statespace.gains2(dx, h)
    u = dx[1]
    P = np.array([[h[1], h[1] / u], [h[1] / u, (h[0] + h[1]) / u**2 + u / 3.0]])  # after two points
    for t in range(2, n):
        A, Q = transition_over(dx[t], 2)
        b, P = P[0, 1] / P[0, 0], A @ P @ A.T + Q
        new = P[0, 1] / P[0, 0]
        moved = np.array([[1.0, 0.0], [-new, 1.0]]) @ A @ np.array([[1.0, 0.0], [b, 1.0]])
        assert_allclose(moved, [[stretch[t], dx[t]], [-back[t], keep[t]]])
        P = P - np.outer(P[0], P[0]) / (P[0, 0] + h[t])


@SIZES
def test_order_2_smooths_as_the_dense_formula_does(n):
    dx, h, r = problem(n)
    gains = statespace.gains2(dx, h)
    f, second = statespace.smooth2(*gains, dx, h, r)
    leverage = statespace.leverage2(*gains, dx, h)
    if n < 3:  # a line goes through them
        assert_allclose([*f, *second, *leverage], [*r, *np.zeros(n), *np.ones(n)])
        return
    V, T = integrated(dx, h)
    residual = without_line(V, T) @ r
    assert_allclose(f, r - h * residual)
    t = np.cumsum(dx)
    bend = np.maximum(t - t[:, None], 0.0) @ residual  # the second derivative of the kernel, at each point
    assert_allclose(second, bend, atol=1e-12)
    assert_allclose(leverage, 1.0 - h * np.diag(without_line(V, T)))


def test_the_data_of_the_caller_stay_as_they_are():
    dx, h, r = problem(6)
    before = dx.copy(), h.copy(), r.copy()
    statespace.smooth1(*statespace.gains1(dx, h), h, r)
    statespace.smooth2(*statespace.gains2(dx, h), dx, h, r)
    for now, then in zip((dx, h, r), before):
        np.testing.assert_array_equal(now, then)
