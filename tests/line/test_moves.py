"""The neighbours of a solution, by hand, and when one of them takes its place."""

import numpy as np
import pytest
from line_cases import solution_of, steps
from numpy.testing import assert_allclose

from stepsmooth.line import climb as climb_module
from stepsmooth.line import moves
from stepsmooth.line.chain import Signal


def test_f_is_shifted_by_gaps():
    signal, labels = steps(n=6, order=1)
    sure = solution_of((0.0, 2.0, 5.0), gamma=np.eye(3)[labels], noise=0.01)
    f = signal.smoother.solve(signal.mean - np.array([0.0, 2.0])[labels], 1e-3)
    starts = moves._shifted(signal, sure)
    assert_allclose([theta.start[0] for theta in starts], f[0] + 2.5 * np.arange(-2, 3))
    assert_allclose([theta.start[1] for theta in starts], 2.5 / 6.0)
    noisy = moves._shifted(signal, solution_of((0.0, 2.0, 5.0), gamma=np.eye(3)[labels], noise=4.0))
    assert_allclose([theta.start[1] for theta in noisy], 1.0)
    assert all(theta.levels is sure.theta.levels for theta in starts)


def test_f_of_channels_is_shifted_by_gaps_of_their_means():
    signal, labels = steps(n=6)
    double = Signal(signal.x, np.column_stack([signal.mean - 1.0, signal.mean + 1.0]), np.ones(6))
    levels = np.array([[-1.0, 1.0], [1.0, 3.0]])
    f = signal.smoother.solve(signal.mean - np.array([0.0, 2.0])[labels], 1e-3 / 2)
    starts = moves._shifted(double, solution_of(levels, gamma=np.eye(2)[labels]))
    assert_allclose([theta.start[0] for theta in starts], f[0] + 2.0 * np.arange(-2, 3))


def test_the_rarest_level_is_tried_elsewhere():
    gamma = np.tile([0.5, 0.1, 0.4], (6, 1))
    out = moves._exchanged(solution_of((0.0, 1.2, 3.0), gamma=gamma, start=(1.0, 2.0)), "free")
    # Without the second, left of 0, right of 3 and between them, by the typical gap of 1.5.
    assert [theta.levels[:, 0].tolist() for theta in out] == [[-1.5, 0.0, 3.0], [0.0, 3.0, 4.5], [0.0, 1.5, 3.0]]
    assert all(theta.start is None for theta in out)


def test_one_of_two_close_levels_is_tried_elsewhere_too():
    gamma = np.tile([0.1, 0.2, 0.3, 0.4], (6, 1))
    out = moves._exchanged(solution_of((0.0, 2.0, 2.5, 4.5), gamma=gamma), "free")
    got = {tuple(theta.levels[:, 0]) for theta in out}
    # Of the gaps 2, 0.5 and 2, the second is small: levels 0 (the rarest) and 2 (of the pair) go.
    rarest = {(2.0, 2.5, 4.5, 6.5), (2.0, 2.25, 2.5, 4.5), (2.0, 2.5, 3.5, 4.5)}
    double = {(-2.0, 0.0, 2.5, 4.5), (0.0, 2.5, 4.5, 6.5), (0.0, 1.25, 2.5, 4.5), (0.0, 2.5, 3.5, 4.5)}
    assert got == rarest | double  # and not the levels there were, which one of them would be again


def test_nothing_is_exchanged_where_levels_are_not_free():
    assert moves._exchanged(solution_of(), "ladder") == []
    assert moves._exchanged(solution_of((0.0,)), "free") == []
    assert moves._exchanged(solution_of(np.array([[0.0, 1.0], [2.0, 3.0]])), "free") == []


@pytest.fixture
def valued(monkeypatch):
    """Climbs end where they begin, with a likelihood that a test writes down."""
    asked = []

    def install(value):
        def climb(signal, theta, prior, structure, **how):
            asked.append((theta, how))
            return solution_of(theta.levels, tau=theta.tau, loglik=value(theta), start=theta.start)

        for module in (moves, climb_module):
            monkeypatch.setattr(module, "climb", climb)
        return asked

    return install


def test_a_move_is_made_if_it_gains_more_than_a_nat(valued):
    signal, labels = steps(n=6)
    here = solution_of((0.0, 2.0), gamma=np.eye(2)[labels])
    valued(lambda theta: -9.0)
    assert moves.moved(signal, here, "free") is here
    asked = valued(lambda theta: -8.5 if theta.tau > 1e-2 else -9.9)
    assert moves.moved(signal, here, "free").theta.tau == pytest.approx(30.0 * 1e-3)
    asked = valued(lambda theta: -8.5 if theta.start and theta.start[0] > 3.0 else -9.9)
    assert moves.moved(signal, here, "ladder").theta.start[0] > 3.0
    assert len(asked) > 7


def test_neighbours_are_given_up_far_below_and_a_given_tau_is_not_moved(valued):
    signal, labels = steps(n=6)
    given = Signal(signal.x, signal.Y, signal.weights, tau=1e-3)
    here = solution_of((0.0, 2.0), gamma=np.eye(2)[labels])
    asked = valued(lambda theta: -20.0)
    moves.moved(given, here, "ladder")
    assert len(asked) == 5  # shifts alone
    assert all(how["floor"] == -10.0 - 300.0 and how["max_iter"] == 4 for _, how in asked)
