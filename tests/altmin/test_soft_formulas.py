"""The variational fit, term by term with dense matrices; weights as repeated points; the best tau for soft labels."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsmooth.altmin import Problem, SoftFit, altmin, evidence, refine, soften
from stepsmooth.altmin.alternation import least_moves
from stepsmooth.altmin.level_count import LevelCurve, select_n_levels
from stepsmooth.altmin.selection import tau_candidates
from stepsmooth.altmin.soft import LEAST_CURVATURE
from stepsmooth.line import LineSmoother
from stepsmooth.model import FreeLevels

SEEDS = st.integers(0, 2**32 - 1)
CASES = pytest.mark.parametrize(
    ("order", "p", "per_channel"), [(1, 1, False), (2, 1, False), (1, 2, False), (1, 2, True), (2, 2, True)]
)


def draw(seed, order=1, p=1, per_channel=False, n=20, n_levels=2, times=None):
    """Return a problem whose labels are uncertain, with whole weights or their repetitions."""
    rng = np.random.default_rng(seed)
    x, labels = np.cumsum(rng.uniform(0.5, 1.5, n)) / n, rng.permutation(np.arange(n) % n_levels)
    Y = np.sin(3.0 * x)[:, None] + labels[:, None] * np.linspace(1.0, 0.6, p) + 0.4 * rng.normal(size=(n, p))
    w = rng.integers(1, 4, n)
    if times == "repeated":
        x, Y, w = np.repeat(x, w), np.repeat(Y, w, axis=0), np.ones(w.sum())
    smoother = LineSmoother(x, w.astype(float), order=order)
    return Problem(Y, smoother, FreeLevels(n_levels), per_channel=per_channel)


def hat(problem, tau):
    return problem.smoother.solve(np.eye(len(problem.Y)), tau)


@CASES
@settings(max_examples=6)
@given(seed=SEEDS)
def test_one_iteration_is_probabilities_then_levels_with_f_then_variance_then_the_bound(order, p, per_channel, seed):
    problem = draw(seed, order, p, per_channel)
    Y, w, tau, n_levels = problem.Y, problem.weights, 0.03, 2
    rng = np.random.default_rng(seed)
    old = SoftFit(np.full((20, 2), 0.5), rng.normal(size=(2, p)), rng.normal(size=(20, 1)), tau, 0.3, -np.inf)
    found = soften(problem, old, max_iter=1)
    q = np.exp(-np.sum((Y[:, None] - old.levels - old.smooth[:, None]) ** 2, axis=2) / (2 * 0.3))
    q /= q.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.probabilities, q, atol=1e-12)
    # f is the smooth of what the levels leave on average.
    left = Y - q @ found.levels
    S = hat(problem, tau if per_channel else tau / p)
    f = S @ left if per_channel else (S @ left.mean(axis=1))[:, None]
    np.testing.assert_allclose(found.smooth, f, atol=1e-8)

    # The objective with soft labels; no other levels, with their own f, have a smaller one.
    def objective(levels):
        left = Y - q @ levels
        f = S @ left if per_channel else (S @ left.mean(axis=1))[:, None]
        squared = np.sum(q * np.sum((Y[:, None] - levels - f[:, None]) ** 2, axis=2), axis=1)
        inner = f * (left - f) if per_channel else p * f * (left.mean(axis=1, keepdims=True) - f)
        return np.sum(w * squared) + np.sum(w[:, None] * inner)

    least = objective(found.levels)
    for move in 0.05 * rng.normal(size=(5, n_levels, p)):
        assert objective(found.levels + move) >= least - 1e-9 * abs(least)
    fields = p if per_channel else 1
    free = 2 if order == 2 else 0
    size = w.sum() * p - fields * free
    assert found.noise_variance == pytest.approx(least / size, rel=1e-7)
    entropy = -np.sum(w[:, None] * q * np.log(q))
    logdet = fields * problem.smoother.logdet(tau if per_channel else tau / p)
    bound = entropy - w.sum() * np.log(n_levels) - 0.5 * logdet
    bound -= 0.5 * size * (np.log(2 * np.pi * least / size) + 1.0)
    assert found.bound == pytest.approx(bound, rel=1e-7)
    assert found.tau == tau


@CASES
@settings(max_examples=4)
@given(seed=SEEDS)
def test_a_weight_of_two_is_the_point_twice(order, p, per_channel, seed):
    weighted, repeated = (draw(seed, order, p, per_channel, times=t) for t in ("weighted", "repeated"))
    times = weighted.weights.astype(int)
    labels = np.arange(20) % 2
    hard = altmin(weighted, 0.03, start=labels), altmin(repeated, 0.03, start=np.repeat(labels, times))
    fits = [soften(problem, fit, max_iter=15) for problem, fit in zip((weighted, repeated), hard)]
    np.testing.assert_allclose(np.repeat(fits[0].probabilities, times, axis=0), fits[1].probabilities, atol=1e-6)
    np.testing.assert_allclose(fits[0].levels, fits[1].levels, atol=1e-6)
    np.testing.assert_allclose(np.repeat(fits[0].smooth, times, axis=0), fits[1].smooth, atol=1e-6)
    assert fits[0].noise_variance == pytest.approx(fits[1].noise_variance, rel=1e-6)
    assert fits[0].bound == pytest.approx(fits[1].bound, rel=1e-6)
    assert evidence(weighted, fits[0]) == pytest.approx(evidence(repeated, fits[1]), rel=1e-6, abs=1e-5)


@CASES
@settings(max_examples=5)
@given(seed=SEEDS)
def test_the_evidence_puts_the_curvature_of_each_point_into_the_determinant(order, p, per_channel, seed):
    problem = draw(seed, order, p, per_channel)
    fit = soften(problem, altmin(problem, 0.03), max_iter=15)
    q, w, s2 = fit.probabilities, problem.weights, fit.noise_variance
    expected = fit.bound
    for c in range(p if per_channel else 1):
        level = fit.levels[:, c] if per_channel else fit.levels.mean(axis=1)
        noise, tau = (s2, fit.tau) if per_channel else (s2 / p, fit.tau / p)
        spread = np.array([np.average((level - row @ level) ** 2, weights=row) for row in q])
        rho = np.clip(1.0 - spread / noise, LEAST_CURVATURE, 1.0)
        other = problem.smoother.reweighted(w * rho)
        # The kernel over n tau stays as it was, whatever the weights sum to.
        expected -= 0.5 * (other.logdet(tau * w.sum() / np.sum(w * rho)) - problem.smoother.logdet(tau))
    assert evidence(problem, fit) == pytest.approx(expected, rel=1e-9)


@CASES
@settings(max_examples=4)
@given(seed=SEEDS)
def test_the_refined_tau_is_a_least_deviance_of_its_soft_labels(order, p, per_channel, seed):
    problem = draw(seed, order, p, per_channel)
    fit = soften(problem, altmin(problem, 0.03), max_iter=15)
    q, w = fit.probabilities, problem.weights
    fields, free = p if per_channel else 1, 2 if order == 2 else 0
    size = w.sum() * p - fields * free
    left = problem.Y - q @ fit.levels
    spread = np.sum(w[:, None, None] * q[..., None] * (fit.levels - (q @ fit.levels)[:, None]) ** 2)

    def deviance(tau):
        share = tau if per_channel else tau / p
        S = hat(problem, share)
        # At its minimum the objective is the residual against what is left of it: r' W (I - S) r.
        if per_channel:
            rest = np.sum(w[:, None] * left * (left - S @ left))
        else:
            mean = left.mean(axis=1)
            rest = p * np.sum(w * mean * (mean - S @ mean)) + np.sum(w[:, None] * (left - mean[:, None]) ** 2)
        return size * np.log(rest + spread) + fields * problem.smoother.logdet(share)

    tau = refine(problem, fit, rounds=1, tol=-np.inf).tau
    assert abs(np.log(tau / fit.tau)) <= 6.0
    if abs(np.log(tau / fit.tau)) < 5.5:
        for away in (0.25, -0.25):
            assert deviance(tau) <= deviance(tau * np.exp(away)) + 1e-9


@settings(max_examples=3)
@given(seed=SEEDS)
def test_refining_stops_at_the_first_round_that_gains_too_little_and_keeps_the_better(seed):
    problem = draw(seed)
    fit = soften(problem, altmin(problem, 0.3), max_iter=15)
    one = refine(problem, fit, rounds=1, tol=-np.inf)
    assert refine(problem, fit, tol=np.inf).bound == max(one.bound, fit.bound)
    two = refine(problem, fit, rounds=2, tol=-np.inf)
    assert two.tau == refine(problem, one, rounds=1, tol=-np.inf).tau
    assert refine(problem, fit, rounds=0) is fit


def test_a_soft_fit_goes_on_from_its_own_variance_and_a_hard_one_from_its_objective():
    problem = draw(0)
    hard = altmin(problem, 0.03)
    variance = problem.weights.sum() * hard.objective / problem.weights.sum()
    soft = SoftFit(np.ones((20, 2)), hard.levels, hard.smooth, 0.03, variance, 0.0)
    assert soften(problem, hard, max_iter=1).bound == pytest.approx(soften(problem, soft, max_iter=1).bound)
    other = soften(problem, replace(soft, noise_variance=9.0), max_iter=1)
    assert np.abs(other.probabilities - 0.5).max() < 0.2  # so much noise tells levels hardly apart


def test_an_exact_fit_has_a_variance_all_the_same():
    x = np.arange(1, 9) / 8
    problem = Problem(np.repeat([[0.0], [1.0]], 4, axis=0), LineSmoother(x, order=1), FreeLevels(2))
    exact = replace(altmin(problem, 1e9, start="kmeans"), objective=0.0)
    found = soften(problem, exact)
    assert 0.0 < found.noise_variance < 1e-6
    np.testing.assert_allclose(found.probabilities, np.repeat(np.eye(2), 4, axis=0), atol=1e-12)


def test_the_evidence_criterion_is_the_best_of_the_refined_fits_with_its_price_per_level():
    def make(n_levels):
        problem = draw(3, n=30, n_levels=2)
        return Problem(problem.Y, problem.smoother, FreeLevels(n_levels))

    curve = select_n_levels(make, "evidence", altmin, most=2)
    assert curve.n_levels.tolist() == [1, 2]
    for m, value in zip(curve.n_levels, curve.criterion):
        problem = make(int(m))
        taus = tau_candidates(problem.smoother)
        fits = [soften(problem, altmin(problem, tau), max_iter=40, tol=0.1) for tau in taus]
        best = sorted(fits, key=lambda fit: fit.bound)[-3:]
        top = max(evidence(problem, refine(problem, fit)) for fit in best)
        assert value == pytest.approx(-2.0 * top + (m + 1) * np.log(problem.weights.sum()))


def test_the_search_for_levels_stops_after_two_that_do_not_pay(monkeypatch):
    """Each M has its price; the third M after the best is not looked at."""
    for prices, looked_at in (([3.0, 1.0, 2.0, 1.5, 0.0], 4), ([3.0, 1.0, 2.0, 0.5, 0.7], 5), ([1.0, 2.0], 2)):
        costs = iter(prices)
        monkeypatch.setattr(
            "stepsmooth.altmin.level_count.cross_validate", lambda *_, costs=costs: np.array([next(costs), 9.0])
        )
        curve = select_n_levels(lambda m: draw(0), "cv", altmin, most=len(prices))
        assert curve.criterion.tolist() == prices[:looked_at]
        assert isinstance(curve, LevelCurve)
        assert curve.best == 1 + int(np.argmin(prices[:looked_at]))


@settings(max_examples=15)
@given(seed=SEEDS)
def test_the_least_moves_solve_the_equations_and_leave_free_directions_alone(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 4))
    full, moment = root @ root.T, rng.normal(size=(4, 2))
    np.testing.assert_allclose(full @ least_moves(full, moment, 1.0), moment, atol=1e-6)
    flat = np.ones((4, 1)) / 2.0
    singular = full - flat @ (flat.T @ full) - (full @ flat) @ flat.T + (flat.T @ full @ flat) * flat @ flat.T
    moves = least_moves(singular, singular @ moment, 1e3)
    np.testing.assert_allclose(moves, moment - flat @ (flat.T @ moment), atol=1e-6)
