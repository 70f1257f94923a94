"""How a fit goes: choices and their curves, restarts, callbacks, convergence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF

from stepsmooth import StepSmooth
from stepsmooth.datasets import make_sine_steps
from stepsmooth.metrics import label_accuracy

SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("n_levels", [1, 2, 3])
@pytest.mark.parametrize("kernel", ["min", "spline"])
def test_auto_finds_the_number_of_levels(signal, n_levels, kernel):
    X, y, labels = signal(n=120, n_levels=n_levels, noise=0.2)
    m = StepSmooth("auto", kernel=kernel, solver="altmin").fit(X, y)
    assert m.n_levels_ == n_levels == m.selection_["n_levels"]["chosen"]
    np.testing.assert_array_equal(m.labels_, labels)
    assert m.selection_["n_levels"]["method"] == "evidence"


def test_cross_validation_of_the_number_of_levels_is_on_offer():
    data = make_sine_steps(100, 2, 1.0, random_state=0)
    m = StepSmooth("cv", kernel="min", solver="altmin").fit(data.X, data.y)
    assert m.selection_["n_levels"]["method"] == "cv"
    assert m.n_levels_ >= 2


@pytest.mark.parametrize("tau", ["gcv", "reml", "cv", "auto"])
def test_the_curve_behind_tau_is_kept(signal, tau):
    X, y, _ = signal()
    m = StepSmooth(3, tau=tau, solver="altmin").fit(X, y)
    curve = m.selection_["tau"]
    assert curve["method"] == ("gcv" if tau == "auto" else tau)
    assert m.tau_ == curve["tau"][curve["chosen"]]
    assert curve["criterion"][curve["chosen"]] == curve["criterion"].min()
    assert m.effective_dof_ == pytest.approx(curve["effective_dof"][curve["chosen"]])


def test_a_given_tau_needs_no_choice(signal):
    X, y, _ = signal()
    m = StepSmooth(3, tau=1e-4, solver="altmin").fit(X, y)
    assert m.tau_ == 1e-4
    assert m.selection_ == {}


def test_the_paper_s_hard_case_is_solved_by_its_own_order_of_steps():
    accuracy = []
    for seed in range(5):
        data = make_sine_steps(400, 3, 3.0, random_state=seed)
        m = StepSmooth(3, kernel="min", tau="gcv", start="smooth").fit(data.X, data.y)
        accuracy.append(label_accuracy(data.labels, m.labels_))
    assert np.mean(accuracy) > 0.98


@given(seed=SEEDS)
@settings(max_examples=15)
def test_restarts_are_never_worse(signal, seed):
    X, y, _ = signal(seed, n=60, n_levels=4, noise=1.0)
    one = StepSmooth(4, tau=1e-5, start="kmeans").fit(X, y)
    best = StepSmooth(4, tau=1e-5, start="kmeans", n_init=4, random_state=0).fit(X, y)
    assert best.objective_ <= one.objective_


def test_restarts_find_what_one_start_misses(signal):
    better = 0
    for seed in range(8):
        X, y, _ = signal(seed, n=60, n_levels=4, noise=1.0)
        one = StepSmooth(4, tau=1e-3, start="kmeans").fit(X, y)
        many = StepSmooth(4, tau=1e-3, start="kmeans", n_init=15, random_state=0).fit(X, y)
        better += many.objective_ < one.objective_ * (1.0 - 1e-6)
    assert better >= 2


@pytest.mark.parametrize("params", [{"n_init": 3}, {"kernel": RBF(0.3)}, {"field": "per_channel"}], ids=str)
def test_a_callback_changes_nothing(cloud, params):
    """Neither the random starts nor the k-means++ seeds depend on how many runs came before."""
    X, Y, _ = cloud(d=1, n=60, p=2, n_levels=4, noise=1.5)
    seen = []
    one = StepSmooth(4, random_state=0, **params).fit(X, Y)
    other = StepSmooth(4, random_state=0, callback=seen.append, **params).fit(X, Y)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.smooth_, other.smooth_)
    assert len(seen) >= other.n_iter_


def test_the_callback_sees_each_iteration_of_the_answer(signal):
    X, y, _ = signal()
    for tau in (1e-4, "gcv"):
        seen = []
        m = StepSmooth(3, tau=tau, callback=seen.append).fit(X, y)
        assert [s.iteration for s in seen] == list(range(1, m.n_iter_ + 1))
        assert [s.objective for s in seen] == m.objective_history_[1:]
        assert m.objective_history_[-1] == m.objective_


def test_given_labels_start_the_alternation(signal):
    X, y, labels = signal()
    m = StepSmooth(3, tau=1e-4, start=labels).fit(X, y)
    np.testing.assert_array_equal(m.labels_, labels)
    np.testing.assert_array_equal(StepSmooth(3, tau=1e-4, start=labels.tolist()).fit(X, y).smooth_, m.smooth_)
    renamed = StepSmooth(3, tau=1e-4, start=10 * (2 - labels)).fit(X, y)
    np.testing.assert_array_equal(renamed.labels_, labels)


@pytest.mark.parametrize("tau", ["gcv", "cv"])
def test_given_labels_go_with_a_choice_of_tau(signal, tau):
    X, y, labels = signal()
    np.testing.assert_array_equal(StepSmooth(3, tau=tau, start=labels).fit(X, y).labels_, labels)


@pytest.mark.parametrize("free_shift", [False, True])
def test_given_labels_are_kept_with_known_levels_far_away(signal, free_shift):
    X, y, labels = signal(n=40)
    m = StepSmooth(levels=[0.0, 2.0, 4.0], free_shift=free_shift, tau=1e-4, start=labels).fit(X, y + 50.0)
    np.testing.assert_array_equal(m.labels_, labels)


def test_a_run_that_is_cut_short_warns_and_says_what_to_try():
    rng = np.random.default_rng(0)
    X, y = np.arange(100.0)[:, None], rng.normal(size=100)
    with pytest.warns(ConvergenceWarning, match=r"did not converge in 1 iterations .* raise max_iter or tol"):
        m = StepSmooth(4, kernel="min", tau=1e-2, max_iter=1, solver="altmin").fit(X, y)
    assert not m.converged_
    assert m.n_iter_ == 1
    assert "NOT converged" in m.summary()


def test_two_values_and_two_levels_are_an_exact_decomposition():
    m = StepSmooth(2, tau=1e-5, solver="altmin").fit(np.linspace(0.1, 1.0, 30)[:, None], np.arange(30) % 2)
    assert m.converged_
    assert m.n_iter_ <= 5
    np.testing.assert_array_equal(m.labels_, np.arange(30) % 2)


@pytest.mark.parametrize("slope", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("tau", [0.1, 3.0, 100.0])
def test_an_exact_decomposition_converges_at_once(slope, tau):
    """A straight line and steps, no noise: the objective falls to rounding, and that is the end."""
    x, z = np.arange(50.0), np.arange(50) % 3
    m = StepSmooth(3, tau=tau, solver="altmin").fit(x[:, None], slope * x + 2.0 * z)
    assert m.converged_
    assert m.n_iter_ <= 5
    np.testing.assert_array_equal(m.labels_, z)
    np.testing.assert_allclose(np.diff(m.levels_), 2.0, atol=1e-9)
    assert 0.0 <= m.objective_ < 1e-15


def test_a_long_signal_takes_the_path_without_sorting():
    data = make_sine_steps(30_000, 3, 3.0, noise_variance=0.05, random_state=0)
    m = StepSmooth(3, kernel="min", tau=1e-4, solver="altmin").fit(data.X, data.y)
    assert label_accuracy(data.labels, m.labels_) > 0.97
    assert np.all(np.diff(m.objective_history_) <= 0.0)
