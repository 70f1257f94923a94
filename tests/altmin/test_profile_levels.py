"""`profile_levels` is where the plain alternation of f and levels tends while the labels stay."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsmooth.altmin import Problem
from stepsmooth.line import LineSmoother
from stepsmooth.model import FreeLevels, KnownLevels


def creep(problem, levels, labels, tau, n_iter=20_000):
    """Alternate f given the levels and the levels given f, the labels fixed, until nothing moves."""
    Y, w = problem.Y, problem.weights
    D = problem.level_model.directions(len(levels))
    Z = D[labels]
    tau_field = tau if problem.per_channel else tau / Y.shape[1]
    S = problem.smoother.solve(np.eye(len(Y)), tau_field)
    base = levels
    to_moves = np.linalg.pinv(Z * np.sqrt(w)[:, None]) * np.sqrt(w) if D.shape[1] else np.zeros((0, len(Y)))
    for _ in range(n_iter):
        residual = Y - levels[labels]
        f = S @ residual if problem.per_channel else (S @ residual.mean(axis=1))[:, None]
        moved = base + D @ (to_moves @ (Y - f - base[labels]))
        if np.abs(moved - levels).max(initial=0.0) < 1e-15:
            break
        levels = moved
    return levels


def start(problem, labels):
    return problem.level_model.near(
        np.stack([np.average(problem.Y[labels == k], axis=0) for k in range(labels.max() + 1)])
    )


@given(data=st.data(), log_tau=st.floats(-3, 0))
@settings(max_examples=25)
def test_it_is_the_limit_of_the_plain_alternation(problems, data, log_tau):
    problem, labels = data.draw(problems(smoothers=("order 1", "low rank")))
    tau = 10.0**log_tau
    levels = start(problem, labels)
    profiled = problem.profile_levels(levels, labels, tau)
    np.testing.assert_allclose(profiled, creep(problem, levels, labels, tau), atol=1e-6)


@given(data=st.data(), log_tau=st.floats(-3, 0))
@settings(max_examples=25)
def test_with_free_constants_the_limit_is_the_same_up_to_a_shift(problems, data, log_tau):
    problem, labels = data.draw(problems(smoothers=("order 2",)))
    tau = 10.0**log_tau
    levels = start(problem, labels)
    found = problem.profile_levels(levels, labels, tau), creep(problem, levels, labels, tau)
    composites = [level[labels] + problem.smooth_given(level, labels, tau)[0] for level in found]
    np.testing.assert_allclose(composites[0], composites[1], atol=1e-6)


@given(data=st.data(), log_tau=st.floats(-6, 0))
def test_no_admissible_move_of_the_levels_is_better(problems, data, log_tau):
    problem, labels = data.draw(problems())
    tau = 10.0**log_tau

    def value(levels):
        _, loss, cost = problem.smooth_given(levels, labels, tau)
        return loss + cost

    best = problem.profile_levels(start(problem, labels), labels, tau)
    D = problem.level_model.directions(len(best))
    rng = np.random.default_rng(0)
    for _ in range(4):
        move = 0.1 * D @ rng.normal(size=(D.shape[1], problem.Y.shape[1]))
        assert value(best) <= value(best + move) * (1.0 + 1e-9) + 1e-12


@given(data=st.data())
def test_known_levels_stay(problems, data):
    problem, labels = data.draw(problems(models=("known",)))
    levels = problem.level_model.levels
    assert problem.profile_levels(levels, labels, 1e-3) is levels


@given(data=st.data())
def test_shifted_levels_keep_their_differences(problems, data):
    problem, labels = data.draw(problems(models=("shifted",)))
    known = problem.level_model.levels
    moved = problem.profile_levels(known, labels, 1e-3) - known
    np.testing.assert_allclose(moved, np.broadcast_to(moved[:1], moved.shape), atol=1e-12)
    assert problem.level_dof(len(known)) == problem.Y.shape[1]


def test_levels_have_as_many_degrees_of_freedom_as_they_may_move():
    smoother, mu = LineSmoother(np.arange(1.0, 6.0), order=1), np.zeros((3, 2))
    assert Problem(np.zeros((5, 2)), smoother, FreeLevels(3)).level_dof(3) == 6
    assert Problem(np.zeros((5, 2)), smoother, KnownLevels(mu)).level_dof(3) == 0


def test_dof_counts_a_field_for_each_channel_or_one_for_all():
    smoother, Y = LineSmoother(np.linspace(0.1, 1.0, 12), order=2), np.zeros((12, 3))
    assert Problem(Y, smoother, FreeLevels(2), per_channel=True).dof(0.1) == pytest.approx(3 * smoother.trace(0.1))
    assert Problem(Y, smoother, FreeLevels(2)).dof(0.1) == pytest.approx(smoother.trace(0.1 / 3))
