"""The beam of any order, number by number, against the plain one, and where it says that f begins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from stepsmooth.line import orders
from stepsmooth.line.beam import backward
from stepsmooth.line.chain import Signal

ORDERS = pytest.mark.parametrize("order", [1, 2, 3])


def problem(n=6, seed=0):
    """Uneven points and weights."""
    rng = np.random.default_rng(seed)
    levels = np.array([-1.0, 0.4, 1.3])
    y = np.cumsum(rng.normal(scale=0.5, size=n)) + levels[rng.integers(3, size=n)]
    signal = Signal(np.cumsum(rng.uniform(0.4, 1.6, n)), y[:, None], rng.uniform(0.5, 2.0, n), outlier=0.1)
    return signal, levels, rng.dirichlet(np.full(3, 3.0))


@ORDERS
def test_the_gains_are_those_of_a_kalman_filter(order, transition_over):
    rng = np.random.default_rng(order)
    dx, h, first = rng.uniform(0.4, 1.6, 5), rng.uniform(0.3, 2.0, 5), rng.uniform(1.0, 3.0, order)
    A, F, gain, precision = orders.spline_gains(dx, h, order, first)
    P = np.diag(first)
    for t in range(5):
        step, Q = transition_over(dx[t] if t else 0.0, order)
        P = step @ P @ step.T + Q if t else P
        assert_allclose(A[t], step)
        assert_allclose(F[t], P[0, 0] + h[t])
        assert_allclose(gain[t], P[:, 0] / F[t])
        P = P - np.outer(P[:, 0], P[:, 0]) / F[t]
        assert_allclose(precision[t] @ P, np.eye(order), atol=1e-8)


@ORDERS
@pytest.mark.parametrize("width", [(400, 0.0, 1e9), (30, 0.8, 9.0), (5, 0.5, 6.0), (20, 0.0, 2.5)])
def test_it_is_the_plain_beam(plain_beam, order, width):
    for seed in range(2):
        signal, levels, proportions = problem(n=5, seed=seed)
        omega, noise = 0.8, 0.3
        scale = noise / signal.weights.mean()
        total, gamma, _ = plain_beam(
            signal.mean, signal.dx * omega, signal.weights.mean() / signal.weights,
            orders.beginning(signal, order, omega, scale), scale, signal.centre - levels.mean(), levels, proportions,
            outlier=0.1, width=width[0], merge=width[1], drop=width[2],
        )  # fmt: skip
        found = orders.run(signal, order, omega, levels, noise, proportions, width)
        assert_allclose(found[0], total, rtol=1e-8)
        assert_allclose(backward(3, width[0], *found[1:])[0], gamma, atol=1e-8)


def test_f_begins_anywhere_and_its_derivatives_as_large_as_the_noise_or_the_range_makes_them():
    signal = Signal(np.arange(4.0), np.array([[1.0], [6.0], [2.0], [3.0]]), np.ones(4))
    got = orders.beginning(signal, 3, 0.5, 0.25)  # range 5, four points, 4 * 0.5 = 2 units of time
    assert_allclose(got, [25.0 / 0.25, 3.0 + 100.0 / 0.25 / 4.0, 3.0 + 100.0 / 0.25 / 16.0])


def test_a_level_without_a_share_has_no_probability():
    signal, levels, _ = problem()
    found = orders.run(signal, 2, 0.8, levels, 0.3, np.array([0.5, 0.0, 0.5]), (60, 0.5, 9.0))
    gamma, _ = backward(3, 60, *found[1:])
    assert_allclose(gamma[:, 1], 0.0)
    assert_allclose(gamma.sum(axis=1), 1.0)


def test_a_shift_of_y_and_levels_is_nothing():
    signal, levels, proportions = problem()
    moved = Signal(signal.x, signal.Y + 7.0, signal.weights, outlier=0.1)
    one = orders.run(signal, 3, 0.8, levels, 0.3, proportions, (60, 0.5, 9.0))
    other = orders.run(moved, 3, 0.8, levels + 7.0, 0.3, proportions, (60, 0.5, 9.0))
    assert_allclose(other[0], one[0])
    assert_allclose(other[4], one[4], rtol=1e-8)


def test_an_outlier_far_away_overflows_nothing():
    signal, levels, proportions = problem()
    signal.mean[3] += 1e4
    found = orders.run(signal, 3, 0.8, levels, 0.3, proportions, (60, 0.5, 9.0))
    assert np.isfinite(found[0])
    assert_allclose(backward(3, 60, *found[1:])[0].sum(axis=1), 1.0)


def test_the_distance_of_two_states_is_mahalanobis_s():
    rng = np.random.default_rng(0)
    one, other, precision = rng.normal(size=(2, 3)), rng.normal(size=(4, 3)), rng.normal(size=(2, 3, 3))
    d = one[1] - other[2]
    assert_allclose(orders._distance(one, 1, other, 2, precision, 1), d @ precision[1] @ d)
