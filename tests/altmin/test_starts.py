"""Starts: the half-step of the paper, k-means first, labels that are given."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.altmin import Problem, altmin
from stepsmooth.altmin.alternation import start_labels
from stepsmooth.datasets import make_sine_steps
from stepsmooth.line import LineSmoother
from stepsmooth.metrics import label_accuracy
from stepsmooth.model import FreeLevels, MinKernel, kmeans_1d


@given(seed=st.integers(0, 2**32 - 1), log_tau=st.floats(-5, 0))
def test_the_half_step_is_kernel_ridge_of_the_centred_data(seed, log_tau):
    rng = np.random.default_rng(seed)
    n, tau = 25, 10.0**log_tau
    x, y, w = np.cumsum(rng.uniform(0.5, 1.5, n)) / n, rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    K = np.sqrt(np.outer(w, w)) * MinKernel()(x) / w.sum()
    rooted = np.sqrt(w) * (y - np.average(y, weights=w))
    expected = K @ np.linalg.solve(K + tau * np.eye(n), rooted) / np.sqrt(w)

    def half_step(Y, **options):
        return Problem(Y, LineSmoother(x, w, order=1), FreeLevels(2), **options).half_step(tau)

    np.testing.assert_allclose(half_step(y[:, None])[:, 0], expected, atol=1e-9)
    np.testing.assert_allclose(half_step(y[:, None] + 1e3)[:, 0], expected, atol=1e-9)
    both = half_step(np.column_stack([y, -y]), per_channel=True)
    np.testing.assert_allclose(both, np.column_stack([expected, -expected]), atol=1e-9)


@given(data=st.data())
def test_the_smooth_start_finds_levels_in_what_the_half_step_leaves(problems, data):
    problem, _ = data.draw(problems())
    expected = problem.level_model.start(problem.Y - problem.half_step(1e-3), problem.weights)
    levels, labels = start_labels(problem, "smooth", 1e-3)
    np.testing.assert_array_equal(labels, expected[1])
    np.testing.assert_allclose(levels, expected[0], atol=1e-10)


@given(data=st.data())
def test_the_kmeans_start_finds_levels_in_y(problems, data):
    problem, _ = data.draw(problems(models=("free",), channels=(1,)))
    levels, labels = start_labels(problem, "kmeans", 1e-3)
    expected = kmeans_1d(problem.Y[:, 0], problem.level_model.n_levels, problem.weights)
    np.testing.assert_array_equal(labels, expected[1])
    np.testing.assert_array_equal(levels[:, 0], expected[0])


@given(data=st.data(), log_tau=st.floats(-5, 0))
def test_given_labels_stand_with_the_best_levels_for_them(problems, data, log_tau):
    """Whatever the level model, however far f is from what the levels say: labels are what was given."""
    problem, labels = data.draw(problems())
    problem = Problem(problem.Y + 30.0, problem.smoother, problem.level_model, problem.per_channel)
    tau = 10.0**log_tau
    fit = altmin(problem, tau, start=labels, max_iter=0)
    np.testing.assert_array_equal(fit.labels, labels)
    again = problem.profile_levels(fit.levels, labels, tau)
    np.testing.assert_allclose(again, fit.levels, atol=1e-5)


@given(data=st.data(), log_tau=st.floats(-5, 0))
def test_labels_may_be_given_in_any_order_of_their_levels(problems, data, log_tau):
    problem, labels = data.draw(problems(models=("free",), channels=(1,)))
    one, other = (altmin(problem, 10.0**log_tau, start=given) for given in (labels, labels.max() - labels))
    assert other.converged
    assert other.objective == pytest.approx(one.objective, rel=1e-7, abs=1e-20)


def test_given_labels_with_equal_means_stay_apart():
    """f hides the step: both labels have the same mean of y, and still are two levels."""
    x = np.arange(1, 9) / 8
    labels = np.array([0, 0, 1, 1, 1, 1, 0, 0])
    problem = Problem(np.zeros((8, 1)), LineSmoother(x, order=1), FreeLevels(2))
    np.testing.assert_array_equal(start_labels(problem, labels, 1e-3)[1], labels)


def test_the_truth_as_start_is_kept_where_another_start_fails():
    """The paper's case (3, 3) with n = 64: k-means first goes astray, the true labels are a fixed point."""
    data = make_sine_steps(64, 3, 3.0, random_state=2)
    problem = Problem(data.y[:, None], LineSmoother(data.x, order=1), FreeLevels(3))
    astray = altmin(problem, 1e-4, start="kmeans")
    kept = altmin(problem, 1e-4, start=data.labels)
    assert label_accuracy(data.labels, astray.labels) < 0.9
    np.testing.assert_array_equal(kept.labels, data.labels)
    assert kept.objective < astray.objective


def test_smoothing_first_beats_kmeans_first_on_the_paper_s_hard_case():
    accuracy = {"smooth": [], "kmeans": []}
    for seed in range(10):
        data = make_sine_steps(400, 3, 3.0, random_state=seed)
        problem = Problem(data.y[:, None], LineSmoother(data.x, order=1), FreeLevels(3))
        for start in accuracy:
            accuracy[start].append(label_accuracy(data.labels, altmin(problem, 2e-4, start=start).labels))
    assert np.mean(accuracy["smooth"]) > 0.99
    assert np.mean(accuracy["kmeans"]) < np.mean(accuracy["smooth"]) - 0.02
