"""Comparing solutions on a line: scores, standard errors and choices, by hand and against dense algebra."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from stepsmooth.line import joint as j
from stepsmooth.line.chain import Expectation, Signal, Theta
from stepsmooth.line.independence import TOLD_BY
from stepsmooth.line.solution import Solution


def signal_of(n=40, p=1, noise=0.1, seed=0, **more):
    rng = np.random.default_rng(seed)
    x, labels = np.linspace(0.0, 1.0, n), rng.integers(2, size=n)
    Y = (np.sin(5.0 * x) + 2.0 * labels)[:, None] + noise * rng.normal(size=(n, p))
    return Signal(x, Y, np.linspace(0.5, 1.5, n), **more), labels


def solution_of(labels, *, levels=(0.0, 2.0), prior="uniform", loglik=-10.0, p=1, tau=1e-3, **more):
    levels = np.array(levels)[:, None] * np.ones(p)
    found = Expectation(loglik, np.eye(len(levels))[labels], more.pop("pairs", np.zeros((2, 2))))
    return Solution(Theta(levels, tau, 0.01, np.full(len(levels), 1.0 / len(levels)), **more), found, prior)


def dense(signal, tau):
    """Return S, column by column."""
    return np.column_stack([signal.smoother.solve(e, tau) for e in np.eye(len(signal))])


def test_a_score_is_the_worth_less_half_a_log_n_for_each_parameter():
    signal, labels = signal_of()
    log_n = np.log(40.0)
    assert j.score(signal, solution_of(labels)) == -10.0
    assert j.score(signal, solution_of(labels, prior="proportions")) == pytest.approx(-10.0 - 0.5 * log_n)
    own = solution_of(labels, prior="proportions", ratio=np.ones(2))
    assert j.score(signal, own) == pytest.approx(-10.0 - 0.5 * 2.0 * log_n)
    # Among few points a chain has to be better by ten nats; it has at least one parameter.
    assert j.score(signal, solution_of(labels, prior="markov")) == pytest.approx(-20.0 - 0.5 * log_n)
    many, labels = signal_of(151)
    assert j.score(many, solution_of(labels, prior="markov")) == pytest.approx(-10.0 - 0.5 * np.log(151.0))


def test_solutions_differ_if_more_than_one_label_in_twenty_does():
    labels = np.zeros(100, dtype=int)
    for changed, differ in ((5, False), (6, True)):
        other = np.where(np.arange(100) < changed, 1, 0)
        assert j._differ(solution_of(labels), solution_of(other)) == differ


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("p", [1, 2])
def test_errors_of_levels_are_those_of_generalised_least_squares(order, p):
    signal, labels = signal_of(20, p, order=order)
    Z, w = np.eye(2)[labels], signal.weights
    got = j._level_errors(signal, solution_of(labels, p=p), "free")
    R = np.diag(w) @ (np.eye(20) - dense(signal, 1e-3 / p))
    mass = w @ Z
    C = np.eye(2) - mass / mass.sum()  # levels, less their mean over the points
    profiled = C @ np.linalg.pinv(Z.T @ R @ Z, rcond=1e-10) @ C.T
    direct = C @ np.diag(1.0 / mass) @ C.T
    variance = 0.01 * (1.0 / mass.sum() + np.diag(profiled) / p + np.diag(direct) * (1.0 - 1.0 / p))
    assert_allclose(got, np.sqrt(variance)[:, None] * np.ones(p), rtol=1e-6)
    assert_array_equal(j._level_errors(signal, solution_of(labels, p=p), "known"), np.zeros((2, p)))


def test_errors_of_transitions_are_those_of_shares():
    labels, P = np.zeros(4, dtype=int), np.array([[0.9, 0.1], [0.4, 0.6]])
    pairs = np.array([[8.0, 1.0], [0.2, 0.3]])
    got = j._transition_errors(solution_of(labels, transition=P, pairs=pairs))
    assert_allclose(got, [[0.1, 0.1], [np.sqrt(0.24), np.sqrt(0.24)]])  # half a step counts as one
    assert j._transition_errors(solution_of(labels)) is None


@pytest.mark.parametrize("p", [1, 2])
def test_the_smooth_part_and_its_error_are_those_of_the_dense_smoother(p):
    signal, labels = signal_of(160, p)
    fit = j.fit_joint(signal, 2, "uniform", "known", np.array([[0.0], [2.0]]) * np.ones(p))
    theta, gamma = fit.solution.theta, fit.solution.found.gamma
    S, level = dense(signal, theta.tau / p), np.array([0.0, 2.0])
    residual = signal.Y.mean(axis=1) - gamma @ level
    assert_allclose(fit.residual, residual)
    assert_allclose(fit.smooth, S @ residual, atol=1e-8)
    spread = gamma @ level**2 - (gamma @ level) ** 2
    variance = np.diag(S) / signal.weights * (theta.noise / p + signal.weights * np.maximum(S @ spread, 0.0))
    assert_allclose(fit.smooth_se, np.sqrt(variance), rtol=1e-5)
    assert_array_equal(fit.levels_se, np.zeros((2, p)))
    assert_array_equal(fit.labels, labels)
    assert fit.transition_se is None
    assert fit.rivals == []
    assert fit.smoother is signal.smoother
    assert list(fit.scores) == ["uniform"]


def test_one_level_is_a_smoothing_spline():
    signal, _ = signal_of(30, noise=0.3)
    fit = j.fit_joint(signal, 1, "auto")
    tau = fit.solution.theta.tau
    assert_array_equal(fit.labels, 0)
    assert_allclose(fit.smooth + fit.solution.theta.levels[0, 0], dense(signal, tau) @ signal.mean, atol=1e-8)
    assert list(fit.scores) == ["uniform"]


@pytest.fixture
def told(monkeypatch):
    """Searches and climbs that say what they were asked for, and find what a test writes down."""
    asked = []

    def install(signal, labels, independent=True, **values):
        def searched(given, n_levels, prior, structure, known):
            asked.append(("search", prior))
            return [solution_of(labels, prior=prior, loglik=values.get(prior, -10.0))]

        def climbed(given, theta, prior, structure, **how):
            asked.append(("climb", prior, theta))
            return Solution(theta, Expectation(values.get(prior, -10.0), np.eye(2)[labels], np.zeros((2, 2))), prior)

        monkeypatch.setattr(j, "search", searched)
        monkeypatch.setattr(j, "climb", climbed)
        # "in short": long blocks differ, short ones do not.
        monkeypatch.setattr(
            j, "is_independent", lambda Y, blocks=TOLD_BY: independent is True or (independent and blocks != TOLD_BY)
        )
        return asked

    return install


@pytest.mark.parametrize(
    "n, independent, searched, climbed",
    [
        (19, True, ["uniform"], ["proportions"]),  # fewer than five points a transition
        (20, True, ["uniform", "markov"], ["proportions"]),
        (1999, False, ["uniform", "markov"], ["proportions"]),
        (2000, True, ["uniform"], ["proportions"]),
        (2000, False, ["markov"], ["uniform", "proportions"]),
        (2000, "in short", ["uniform", "markov"], ["proportions"]),
    ],
)
def test_which_priors_are_searched_and_which_are_tried_from_there(told, n, independent, searched, climbed):
    signal, labels = signal_of(n)
    asked = told(signal, labels, independent)
    found = j.solve(signal, 2, "auto", "free", None)
    assert [what[1] for what in asked if what[0] == "search"] == searched
    assert [what[1] for what in asked if what[0] == "climb"] == climbed
    assert [s.prior for s in found] == searched + climbed
    for _, _, theta in (what for what in asked if what[0] == "climb"):
        assert theta.transition is None
        assert_array_equal(theta.proportions, [0.5, 0.5])


def test_proportions_begin_where_the_search_ended_and_even_ones_even(told, monkeypatch):
    signal, labels = signal_of(2000)
    asked = told(signal, labels, False)
    shares = np.array([0.2, 0.8])
    best = solution_of(labels, prior="markov", transition=np.eye(2))
    best = replace(best, theta=replace(best.theta, proportions=shares))
    monkeypatch.setattr(j, "search", lambda *args: [best])
    j.solve(signal, 2, "auto", "free", None)
    begun = {what[1]: what[2] for what in asked}
    assert_array_equal(begun["proportions"].proportions, shares)
    assert_array_equal(begun["uniform"].proportions, [0.5, 0.5])
    assert begun["proportions"].transition is None


def test_a_prior_that_is_asked_for_is_the_only_one(told):
    signal, labels = signal_of(30)
    asked = told(signal, labels)
    assert [s.prior for s in j.solve(signal, 2, "markov", "free", None)] == ["markov"]
    assert [s.prior for s in j.solve(signal, 1, "auto", "free", None)] == ["uniform"]
    assert asked == [("search", "markov"), ("search", "uniform")]


def test_noises_of_their_own_need_points_one_channel_and_two_nats(told):
    signal, labels = signal_of(100)
    plain = solution_of(labels)
    for gain, chosen in ((0.5 * np.log(100.0) + 1.9, False), (0.5 * np.log(100.0) + 2.1, True)):
        asked = told(signal, labels, uniform=-10.0 + gain)
        own = j.unequal(signal, plain, "free")
        assert (own is not plain) == chosen
        assert_array_equal(asked[-1][2].ratio, [1.0, 1.0])
    few, labels = signal_of(99)
    assert j.unequal(few, solution_of(labels), "free").theta.ratio is None
    double, labels = signal_of(100, p=2)
    assert j.unequal(double, solution_of(labels, p=2), "free").theta.ratio is None
    one = solution_of(np.zeros(100, dtype=int), levels=(0.0,))
    assert j.unequal(signal, one, "free") is one


def test_scores_name_every_prior_and_rivals_are_as_good_but_different(told, monkeypatch):
    signal, labels = signal_of(1200)
    other = np.where(np.arange(1200) < 100, 1 - labels, labels)
    given = [
        solution_of(labels, loglik=-10.0),
        solution_of(other, loglik=-11.9),  # as good, and different
        solution_of(labels, loglik=-10.1),  # as good, and the same
        solution_of(other, loglik=-12.1),  # different, and worse
    ]
    monkeypatch.setattr(j, "solve", lambda *args: [given[2], given[3], given[0], given[1]])
    monkeypatch.setattr(j, "unequal", lambda signal, solution, structure: solution)
    fit = j.fit_joint(signal, 2, "uniform")
    assert fit.solution is given[0]
    assert fit.rivals == [given[1]]
    assert fit.scores == {"uniform": -10.0}


@pytest.mark.parametrize(
    "n, structure, expected", [(150, "free", "average"), (151, "free", "relabel"), (150, "ladder", "relabel"),
                               (1000, "free", "relabel"), (1001, "free", "neither")]
)  # fmt: skip
def test_few_points_are_averaged_and_some_relabelled(monkeypatch, n, structure, expected):
    signal, labels = signal_of(n)
    best, seen = solution_of(labels), []
    monkeypatch.setattr(j, "solve", lambda *args: [best])
    monkeypatch.setattr(j, "unequal", lambda signal, solution, structure: solution)
    monkeypatch.setattr(j, "average", lambda signal, best: seen.append("average") or best)
    monkeypatch.setattr(j, "relabel", lambda signal, best, structure: seen.append("relabel") or best)
    assert j.fit_joint(signal, 2, "uniform", structure).solution is best
    assert (seen or ["neither"]) == [expected]


def test_few_points_are_averaged_with_even_proportions_unless_others_are_clearly_better(monkeypatch):
    signal, labels = signal_of(40)
    asked = []
    monkeypatch.setattr(j, "average", lambda signal, best: asked.append(best) or replace(best, history=(1.0,)))
    uniform = solution_of(labels, loglik=-20.0)
    half = 0.5 * np.log(40.0)
    for loglik, even in ((-20.0 + half + 9.9, True), (-20.0 + half + 10.1, False)):
        own = solution_of(labels, prior="proportions", loglik=loglik)
        assert j._averaged(signal, own, [own, uniform]).history == (1.0,)
        assert asked[-1] is (uniform if even else own)
    chain = solution_of(labels, prior="markov")
    j._averaged(signal, chain, [chain, uniform])
    assert asked[-1] is chain
    # Where averaging declines, the best stays, whatever was averaged.
    monkeypatch.setattr(j, "average", lambda signal, best: best)
    own = solution_of(labels, prior="proportions", loglik=-20.0)
    assert j._averaged(signal, own, [own, uniform]) is own


def test_the_number_of_levels_is_tried_until_the_criterion_has_risen_twice(monkeypatch):
    signal, _ = signal_of(40)
    logliks, asked = {1: -50.0, 2: -20.0, 3: -19.0, 4: -18.5, 5: 100.0}, []

    def compared(signal, n_levels, prior, structure):
        asked.append((n_levels, prior))
        levels = np.arange(float(n_levels))
        best = solution_of(np.zeros(40, dtype=int), levels=levels, loglik=logliks[n_levels])
        return j.Contest(best, [], [best], {})

    monkeypatch.setattr(j, "compare", compared)
    # Only the best of them is labelled anew and given errors.
    monkeypatch.setattr(j, "complete", lambda signal, contest, structure: contest)
    fit, criterion = j.select_levels(signal, "proportions", "free", 6)
    assert asked == [(1, "uniform"), (2, "proportions"), (3, "proportions"), (4, "proportions")]
    expected = [-2.0 * logliks[M] + (M + 1) * np.log(40.0) for M in (1, 2, 3, 4)]
    assert_allclose(criterion, expected)
    assert fit.best.theta.n_levels == 1 + np.argmin(expected)
    assert len(j.select_levels(signal, "proportions", "free", 2)[1]) == 2
