"""Of very many points a part says where the best tau lies; all of them then settle it."""

import numpy as np
import pytest

from stepsmooth import StepSmooth
from stepsmooth.altmin import Problem, altmin, select_tau, selection, thinned
from stepsmooth.estimators import fitting


def signal(n, seed, periods=1.0):
    rng = np.random.default_rng(seed)
    x = np.arange(1, n + 1) / n
    labels = rng.integers(2, size=n)
    return x, np.sin(2.0 * np.pi * periods * x) + 2.0 * labels + 0.2 * rng.normal(size=n), labels


def few(monkeypatch, asked):
    monkeypatch.setattr(selection, "N_ASKED", asked)
    monkeypatch.setattr(selection, "MANY", 2 * asked)


class Counted:
    """AltMin that notes on how many points it ran."""

    def __init__(self):
        self.sizes = []

    def __call__(self, problem, tau):
        self.sizes.append(len(problem.Y))
        return altmin(problem, tau)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("method", ["gcv", "reml"])
@pytest.mark.parametrize("periods", [0.2, 2.0, 20.0])
def test_the_choice_is_as_good_as_that_among_all_candidates(problem_of, order, method, periods, monkeypatch):
    x, y, labels = signal(3_000, 0, periods)
    problem = problem_of(x, y, order)
    full, every = select_tau(problem, method, altmin)
    few(monkeypatch, 300)
    run = Counted()
    fit, curve = select_tau(problem, method, run)
    # In between two candidates of the finer grid; a curve is flat around its minimum.
    spread = every.criterion[np.isfinite(every.criterion)]
    assert curve.criterion.min() - every.criterion.min() < 1e-3 * (np.median(spread) - spread.min())
    assert np.mean(fit.labels != labels) <= np.mean(full.labels != labels) + 0.002
    # What it costs does not depend on the machine: a few runs on all points.
    asked = 2 * selection.N_CANDIDATES
    assert run.sizes[:asked] == [300] * asked
    assert set(run.sizes[asked:]) == {3_000}
    assert 3 <= len(run.sizes) - asked <= 12


def test_the_curve_is_of_what_was_tried_on_all_points(problem_of, monkeypatch):
    few(monkeypatch, 300)
    x, y, _ = signal(3_000, 1)
    problem = problem_of(x, y, 2)
    fit, curve = select_tau(problem, "gcv", altmin)
    assert curve.criterion[curve.best] == curve.criterion.min() == selection.gcv(problem, fit)
    assert fit.tau == curve.tau[curve.best]
    assert np.all(np.diff(curve.tau) < 0.0)
    assert np.all(np.diff(curve.effective_dof) > 0.0)
    # It is a minimum: a candidate on either side is worse.
    assert 0 < curve.best < len(curve.tau) - 1


def test_a_curve_of_two_minima_is_seen_from_both(problem_of, monkeypatch):
    """Without noise, f may take the rare steps for its own: then only the stiffest candidates see them as steps."""
    few(monkeypatch, 500)
    n = 1_200
    x, labels = np.arange(1, n + 1) / n, np.zeros(n, dtype=int)
    labels[:60] = np.arange(60) % 3
    fit, _ = select_tau(problem_of(x, labels.astype(float), 2, n_levels=3), "gcv", altmin)
    np.testing.assert_array_equal(fit.labels, labels)


def test_labels_to_start_from_and_folds_ask_all_points(problem_of, monkeypatch):
    few(monkeypatch, 300)
    x, y, labels = signal(1_000, 4)
    for options in ({"parts": False}, {}):
        run = Counted()
        _, curve = select_tau(problem_of(x, y, 2), "cv" if not options else "gcv", run, **options)
        assert run.sizes[: selection.N_CANDIDATES] == [1_000] * selection.N_CANDIDATES
        assert len(curve.tau) == selection.N_CANDIDATES
    few(monkeypatch, 100)
    m = StepSmooth(2, solver="altmin", kernel="spline", start=labels).fit(x[:, None], y)
    assert len(m.selection_["tau"]["tau"]) == selection.N_CANDIDATES


def test_a_middle_that_is_one_place_says_nothing(problem_of, monkeypatch):
    few(monkeypatch, 200)
    rng = np.random.default_rng(0)
    x = np.r_[np.linspace(0.0, 1.0, 300), np.full(400, 1.0), np.linspace(1.0, 2.0, 300)]
    y = np.sin(x) + 2.0 * rng.integers(2, size=len(x)) + 0.2 * rng.normal(size=len(x))
    found = [select_tau(problem_of(unit * x, y, 2), "gcv", altmin) for unit in (1.0, 1e6)]
    (fit, curve), (other, curve_other) = found
    assert len(curve.tau) == len(curve_other.tau)
    np.testing.assert_array_equal(fit.labels, other.labels)


@pytest.mark.parametrize("periods", [0.3, 60.0])
def test_what_is_slow_and_what_is_fast_are_both_seen(problem_of, periods, monkeypatch):
    """Sixty periods cannot be seen in a hundred points of all, nor a third of one in a hundred in a row."""
    few(monkeypatch, 100)
    x, y, labels = signal(3_000, 2, periods)
    fit, _ = select_tau(problem_of(x, y, 2), "gcv", altmin)
    assert np.mean(fit.labels != labels) < 0.002
    truth = np.sin(2.0 * np.pi * periods * x)
    assert np.std(fit.smooth[:, 0] - truth) < 0.15


def test_a_part_is_drawn_and_has_no_rhythm(problem_of):
    n = 5_000
    x = np.arange(1, n + 1) / n
    y = 2.0 * (np.arange(n) % 50 == 0)  # every fiftieth sample has a level of its own
    part = thinned(problem_of(x, y, 2), 100)
    assert len(part.Y) == 100
    assert len(np.unique(part.Y)) == 2
    np.testing.assert_array_equal(part.Y, thinned(problem_of(x, y, 2), 100).Y)


@pytest.mark.parametrize("places", [2, 3, 20])
@pytest.mark.parametrize("order", [1, 2])
def test_many_points_at_few_places_end_where_candidates_do(problem_of, places, order, monkeypatch):
    """There f could pass through every mean, and ever smaller taus would gain next to nothing for ever."""
    few(monkeypatch, 100)
    rng = np.random.default_rng(0)
    x = np.repeat(np.arange(1.0, places + 1), 600 // places)
    y = np.sin(x) + 3.0 * rng.integers(2, size=len(x)) + 0.1 * rng.normal(size=len(x))
    problem, run = problem_of(x, y, order), Counted()
    fit, _ = select_tau(problem, "gcv", run)
    low, high = problem.smoother.dof_range
    assert problem.dof(fit.tau) <= (low + high) / 2.0 * 1.1  # a part has not quite as many at each place
    assert run.sizes.count(len(x)) <= 12


def test_few_points_and_problems_that_leave_none_out_stay_whole(problem_of):
    x, y, _ = signal(200, 0)
    problem = problem_of(x, y, 2)
    assert thinned(problem, 100) is problem
    alone = Problem(problem.Y, problem.smoother, problem.level_model)
    assert thinned(alone, 10) is alone


@pytest.mark.parametrize("n_levels", ["auto", "cv"])
def test_the_number_of_levels_is_asked_of_a_part(n_levels, monkeypatch):
    monkeypatch.setattr(fitting, "N_FOR_COUNT", 150)
    x, y, labels = signal(1_200, 3)
    sizes = []
    asked = fitting.select_n_levels
    monkeypatch.setattr(
        fitting, "select_n_levels", lambda make, *rest: asked(lambda m: sizes.append(len(make(m).Y)) or make(m), *rest)
    )
    m = StepSmooth(n_levels, solver="altmin", kernel="spline", tau=1e-7).fit(x[:, None], y)
    assert set(sizes) == {150}
    if n_levels == "auto":
        assert m.n_levels_ == 2
        assert np.mean(m.labels_ != labels) < 0.01
