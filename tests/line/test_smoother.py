"""What the smoother on a line knows of its points, and f where steps are of very different length."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from stepsmooth.line import LineSmoother

ORDERS = pytest.mark.parametrize("order", [1, 2])


@pytest.mark.parametrize(
    "x, order, origin, expected",
    [
        ([0.0, 1.0, 2.0], 2, None, (2.0, 3.0)),
        ([0.0, 1.0, 2.0], 1, None, (0.0, 2.0)),  # f is 0 at the origin
        ([0.5, 1.0, 2.0], 1, None, (0.0, 3.0)),
        ([-1.0, 1.0, 2.0], 1, None, (0.0, 2.0)),  # the origin is the first point
        ([-1.0, 1.0, 2.0], 1, -3.0, (0.0, 3.0)),
        ([1.0, 1.0, 2.0], 2, None, (2.0, 2.0)),
        ([1.0], 2, None, (1.0, 1.0)),
    ],
)
def test_degrees_of_freedom_range_from_what_is_free_to_the_distinct_points(x, order, origin, expected):
    smoother = LineSmoother(x, order=order, origin=origin)
    assert smoother.dof_range == expected
    assert smoother.trace(1e-13) == pytest.approx(expected[1], abs=1e-6)


def test_the_origin_is_zero_or_the_first_point_or_what_is_asked_for():
    assert LineSmoother([2.0, 1.0], order=1).origin == 0.0
    assert LineSmoother([2.0, 0.0], order=1).origin == 0.0
    assert LineSmoother([2.0, -1.0], order=1).origin == -1.0
    assert LineSmoother([2.0, 1.0], order=1, origin=0.5).origin == 0.5
    with pytest.raises(ValueError, match="origin must not lie right of the data"):
        LineSmoother([2.0, 1.0], order=1, origin=1.5)
    assert LineSmoother([2.0, 1.0], order=2, origin=1.5).solve(np.ones(2), 1.0) == pytest.approx([1.0, 1.0])


def test_weights_are_kept_and_counted():
    smoother = LineSmoother([3.0, 1.0, 3.0], [1.0, 2.0, 4.0])
    assert smoother.n_effective == 7.0
    assert_array_equal(smoother.weights, [1.0, 2.0, 4.0])
    assert_array_equal(LineSmoother([1.0, 2.0]).weights, [1.0, 1.0])


@ORDERS
@pytest.mark.parametrize("unit", [1e-6, 1e5])
def test_the_unit_of_length_goes_with_a_power_of_tau(order, unit):
    rng = np.random.default_rng(0)
    x, r, tau = rng.uniform(0.5, 2.0, 9), rng.normal(size=9), 0.02
    here, there = LineSmoother(x, order=order), LineSmoother(unit * x, order=order)
    other = tau * unit ** (2 * order - 1)
    t = np.linspace(0.6, 2.4, 7)
    assert_allclose(there.solve(r, other), here.solve(r, tau), atol=1e-9)
    assert_allclose(there.at(unit * t, r, other), here.at(t, r, tau), atol=1e-9)
    assert_allclose(there.leverage(other), here.leverage(tau), atol=1e-9)
    assert there.norm2(r) == pytest.approx(here.norm2(r) / unit ** (2 * order - 1))
    free = 2.0 * np.log(unit) if order == 2 else 0.0  # the slope of the free line has a unit
    assert there.logdet(other) == pytest.approx(here.logdet(tau) + free, rel=1e-9, abs=1e-9)


def test_the_determinant_of_two_points_on_a_free_line():
    # V = diag(1 / w), T = (1, x): det T'WT = w0 w1 (x1 - x0)^2.
    assert LineSmoother([1.0, 3.0], [2.0, 5.0]).logdet(0.1) == pytest.approx(np.log(2.0 * 5.0 * 4.0))
    assert LineSmoother([1.0], [2.0]).logdet(0.1) == 0.0
    # Brownian motion to x = 1 and 3, n tau / w of noise.
    K = np.array([[1.0, 1.0], [1.0, 3.0]]) * np.sqrt(np.outer([2.0, 5.0], [2.0, 5.0])) / (7.0 * 0.1)
    got = LineSmoother([1.0, 3.0], [2.0, 5.0], order=1).logdet(0.1)
    assert got == pytest.approx(np.linalg.slogdet(np.eye(2) + K)[1])


def test_order_1_is_straight_between_points_and_from_its_origin_and_level_beyond():
    smoother, r = LineSmoother([1.0, 3.0], order=1), np.array([2.0, 6.0])
    assert_allclose(smoother.at([0.0, 0.5, 1.0, 2.0, 3.0, 9.0], r, 0.0), [0.0, 1.0, 2.0, 4.0, 6.0, 6.0])
    assert_allclose(LineSmoother([0.0, 2.0], order=1).at([0.0, 1.0], np.array([0.0, 4.0]), 0.0), [0.0, 2.0])


def test_order_2_is_a_cubic_between_points_and_straight_beyond():
    # Through 0, 1, 0 at 0, 1, 2: f'' is 0, -3, 0, and f' at the ends 3/2 and -3/2.
    smoother, r = LineSmoother([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0])
    assert_allclose(smoother.at([0.5, 1.5], r, 0.0), [0.6875, 0.6875])
    assert_allclose(smoother.at([-1.0, -2.0, 3.0, 4.0], r, 0.0), [-1.5, -3.0, -1.5, -3.0])
    assert smoother.norm2(r) == pytest.approx(6.0)
    assert_allclose(LineSmoother([2.0]).at([1.0, 5.0], np.array([4.0]), 0.1), [4.0, 4.0])


@pytest.mark.parametrize("end", [-1.0, 1.0])
def test_beyond_points_that_all_but_coincide_f_goes_on_as_beyond_one_of_them(end):
    """The slope at an end comes from the first step that is wide enough, and from f'' over those that are not."""
    x = end * np.array([0.0, 0.3, 1.0, 2.0, 3.3, 4.0])
    close = end * np.array([-1e-9, 0.0, 0.3, 1.0, 2.0, 3.3, 4.0])
    r = np.sin(2.0 * x) + 1.0
    once = LineSmoother(x, np.array([2.0, 1.0, 1.0, 1.0, 1.0, 1.0])).at(end * np.array([-1.0, -3.0, 6.0]), r, 0.01)
    twice = LineSmoother(close).at(end * np.array([-1.0, -3.0, 6.0]), np.append(r[0], r), 0.01)
    assert_allclose(twice, once, atol=1e-6)


@pytest.mark.parametrize("end", [-1.0, 1.0])
def test_f_has_no_kink_at_its_ends_where_the_first_steps_are_short(end):
    x = end * np.array([0.0, 0.1, 0.25, 2.0, 4.0, 6.0, 6.2, 6.3])
    smoother, r = LineSmoother(x), np.cos(3.0 * x)
    for edge in (x.min(), x.max()):
        left, here, right = smoother.at(edge + 1e-5 * np.array([-1.0, 0.0, 1.0]), r, 1e-3)
        assert right - here == pytest.approx(here - left, abs=1e-9)


def test_repeated_points_at_tau_zero_must_agree_and_the_origin_must_be_zero():
    assert_allclose(LineSmoother([0.0, 1.0], order=1).solve(np.array([0.0, 2.0]), 0.0), [0.0, 2.0])
    almost = np.array([1.0, 1.0 + 1e-9, 2.0])
    assert_allclose(LineSmoother([1.0, 1.0, 2.0]).solve(almost, 0.0), almost, atol=1e-8)
    for order, x, r in ((1, [0.0, 1.0], [0.1, 2.0]), (2, [1.0, 1.0, 2.0], [1.0, 1.1, 2.0])):
        with pytest.raises(ValueError, match="no function of this space passes through the data"):
            LineSmoother(x, order=order).solve(np.array(r), 0.0)


@ORDERS
def test_gains_belong_to_their_tau(order):
    x, r = np.array([0.5, 1.0, 2.0, 4.0]), np.array([1.0, -1.0, 2.0, 0.0])
    smoother = LineSmoother(x, order=order)
    for tau in (0.1, 0.1, 3.0, 0.1):
        fresh = LineSmoother(x, order=order)
        assert_array_equal(smoother.solve(r, tau), fresh.solve(r, tau))
        assert_array_equal(smoother.leverage(tau), fresh.leverage(tau))
    assert np.abs(smoother.solve(r, 0.1) - smoother.solve(r, 3.0)).max() > 0.01


@ORDERS
def test_other_weights_at_the_same_points_in_the_same_order(order):
    x, r, w = np.array([2.0, 0.5, 2.0, 1.0]), np.array([1.0, -1.0, 2.0, 0.0]), np.array([1.0, 3.0, 2.0, 0.5])
    again = LineSmoother(x, order=order, origin=0.25 if order == 1 else None).reweighted(w)
    fresh = LineSmoother(x, w, order=order, origin=0.25 if order == 1 else None)
    assert_array_equal(again.solve(r, 0.1), fresh.solve(r, 0.1))
    assert again.origin == fresh.origin


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("n", [1, 2, 3, 40, 700])
@pytest.mark.parametrize("repeated", [False, True])
def test_the_innovations_give_what_solving_for_each_direction_gives(order, n, repeated):
    rng = np.random.default_rng(n)
    x = np.cumsum(rng.uniform(0.2, 1.0, n))
    if repeated:
        x = np.append(x, x[0])
    smoother = LineSmoother(x, rng.uniform(0.5, 2.0, len(x)), order=order)
    D, labels, r = rng.normal(size=(3, 2)), rng.integers(0, 3, len(x)), rng.normal(size=(len(x), 2))
    for tau in (1e-6, 1e-2, 10.0):
        moved = np.column_stack([D[labels], r])
        left = moved - np.column_stack([smoother.solve(column, tau) for column in moved.T])
        expected = moved[:, :2].T @ (smoother.weights[:, None] * left)
        assert_allclose(smoother.products(D, labels, r, tau), expected, rtol=1e-8, atol=1e-11)
        squares = smoother.squares(moved[:, 0], moved[:, 1:].copy(), tau)
        assert_allclose(squares, moved.T @ (smoother.weights[:, None] * left), rtol=1e-8, atol=1e-11)
    assert_allclose(smoother.products(D, labels, r[:, :0], 0.1), smoother.products(D, labels, r, 0.1)[:, :2])


def test_constants_and_lines_leave_nothing_under_a_spline():
    x = 1e3 + np.cumsum(np.random.default_rng(0).uniform(0.2, 1.0, 600))
    left = LineSmoother(x, order=2).products(np.ones((1, 1)), np.zeros(600, dtype=np.int64), x[:, None], 1.0)
    assert_allclose(left, 0.0, atol=1e-9)
