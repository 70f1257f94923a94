"""AltMin: the objective is the paper's and never increases; each half-step minimises over its own block."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.altmin import Problem, altmin
from stepsmooth.line import LineSmoother
from stepsmooth.model import FreeLevels, loss_and_penalty
from stepsmooth.model.levels import nearest_level

LOG_TAUS = st.floats(-6, 0)


@given(data=st.data(), log_tau=LOG_TAUS, start=st.sampled_from(["smooth", "kmeans"]))
def test_the_objective_is_the_paper_s_and_never_increases(problems, objective, data, log_tau, start):
    problem, _ = data.draw(problems())
    tau, states = 10.0**log_tau, []
    fit = altmin(problem, tau, start=start, callback=states.append)
    history = np.array(fit.history)
    assert np.all(np.diff(history) <= 0.0)
    for state in states:
        value = objective(problem, state.levels, state.labels, state.smooth, tau)
        assert value == pytest.approx(state.objective, rel=1e-5, abs=1e-9)
    assert objective(problem, fit.levels, fit.labels, fit.smooth, tau) == pytest.approx(
        fit.objective, rel=1e-5, abs=1e-9
    )


@given(data=st.data(), log_tau=LOG_TAUS)
def test_neither_half_step_raises_the_objective(problems, objective, data, log_tau):
    """Plain half-steps, without the safeguard of the loop: from wherever the labels are."""
    problem, labels = data.draw(problems())
    tau = 10.0**log_tau
    levels = problem.level_model.near(np.stack([problem.Y[labels == k].mean(axis=0) for k in range(labels.max() + 1)]))
    f, loss, cost = problem.smooth_given(levels, labels, tau)
    for _ in range(5):
        value = loss + cost
        levels, labels = problem.level_model.update(problem.Y - f, problem.weights, levels)
        moved = loss_and_penalty(f, problem.Y - levels[labels], problem.weights)[0] + cost
        assert moved <= value * (1.0 + 1e-9) + 1e-12
        f, loss, cost = problem.smooth_given(levels, labels, tau)
        assert loss + cost <= moved * (1.0 + 1e-9) + 1e-12


@given(data=st.data(), log_tau=LOG_TAUS)
def test_no_other_f_is_better_for_these_levels_and_labels(problems, objective, data, log_tau):
    problem, labels = data.draw(problems())
    tau = 10.0**log_tau
    rng = np.random.default_rng(0)
    levels = rng.normal(size=(labels.max() + 1, problem.Y.shape[1]))
    f, loss, cost = problem.smooth_given(levels, labels, tau)
    best = objective(problem, levels, labels, f, tau)
    assert loss + cost == pytest.approx(best, rel=1e-5, abs=1e-9)
    other = problem.smooth_of(rng.normal(size=problem.Y.shape), 0.01)
    for step in (0.1, -0.1):
        assert objective(problem, levels, labels, f + step * other, tau) >= best - 1e-9 * (1.0 + best)


@given(data=st.data(), log_tau=LOG_TAUS)
def test_where_it_stops_each_label_is_the_nearest_level(problems, data, log_tau):
    problem, _ = data.draw(problems(channels=(1,)))
    fit = altmin(problem, 10.0**log_tau, tol=0.0)
    residual = problem.Y - fit.smooth
    own = np.abs(residual - fit.levels[fit.labels])[:, 0]
    nearest = np.abs(residual - fit.levels[nearest_level(residual, fit.levels)])[:, 0]
    assert fit.converged
    np.testing.assert_allclose(own, nearest, atol=1e-6)


@given(data=st.data(), log_tau=LOG_TAUS)
def test_a_common_tau_means_the_same_for_one_channel_shared_or_not(problems, data, log_tau):
    problem, _ = data.draw(problems(channels=(1,)))
    fits = [
        altmin(Problem(problem.Y, problem.smoother, problem.level_model, per_channel), 10.0**log_tau)
        for per_channel in (False, True)
    ]
    np.testing.assert_array_equal(fits[0].labels, fits[1].labels)
    np.testing.assert_allclose(fits[0].smooth, fits[1].smooth, atol=1e-9)
    assert fits[0].objective == pytest.approx(fits[1].objective, rel=1e-9, abs=1e-15)


def easy(n=200, seed=0):
    rng = np.random.default_rng(seed)
    x, labels = np.arange(1, n + 1) / n, rng.integers(3, size=n)
    return Problem((np.sin(6 * x) + 2.0 * labels)[:, None], LineSmoother(x, order=1), FreeLevels(3)), labels


def test_it_finds_labels_levels_and_f_where_that_is_easy():
    problem, labels = easy()
    fit = altmin(problem, 1e-3)
    np.testing.assert_array_equal(fit.labels, labels)
    np.testing.assert_allclose(np.diff(fit.levels[:, 0]), 2.0, atol=0.02)


def test_the_callback_sees_each_iteration():
    problem, _ = easy()
    states = []
    fit = altmin(problem, 1e-4, callback=states.append)
    assert [s.iteration for s in states] == list(range(1, fit.n_iter + 1))
    assert [s.objective for s in states] == fit.history[1:]
    assert len(fit.history) == fit.n_iter + 1
    np.testing.assert_array_equal(states[-1].smooth, fit.smooth)


def test_a_run_that_is_cut_short_says_so():
    rng = np.random.default_rng(0)
    x = np.arange(1, 101) / 100
    problem = Problem(rng.normal(size=(100, 1)), LineSmoother(x, order=1), FreeLevels(4))
    whole = altmin(problem, 1e-5)
    assert whole.converged
    assert whole.n_iter > 1
    short = altmin(problem, 1e-5, max_iter=1)
    assert not short.converged
    assert short.n_iter == 1
    assert short.history == whole.history[:2]


def test_labels_that_settle_are_counted_by_weight():
    """A heavy point that changes its label is not 'settled', however many light ones stay."""
    rng = np.random.default_rng(3)
    n = 120
    x, y = np.arange(1, n + 1) / n, rng.normal(size=n)
    times = np.where(np.arange(n) % 10 == 0, 30, 1)
    weighted = Problem(y[:, None], LineSmoother(x, times.astype(float), order=1), FreeLevels(3))
    repeated = Problem(np.repeat(y, times)[:, None], LineSmoother(np.repeat(x, times), order=1), FreeLevels(3))
    one, other = altmin(weighted, 1e-4), altmin(repeated, 1e-4)
    np.testing.assert_allclose(one.history, other.history, rtol=1e-9)
    np.testing.assert_array_equal(np.repeat(one.labels, times), other.labels)
