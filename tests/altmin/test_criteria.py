"""GCV, REML and cross-validation, against their definitions written out with dense matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.altmin import Decomposition, Problem, altmin, select_tau
from stepsmooth.altmin.selection import N_FOLDS, cross_validate, gcv, reml
from stepsmooth.line import LineSmoother
from stepsmooth.model import CubicSplineKernel, FreeLevels, KnownLevels, MinKernel, ShiftedLevels
from stepsmooth.points import DenseSmoother

KERNELS = {1: MinKernel(), 2: CubicSplineKernel()}
MODELS = {"free": lambda mu: FreeLevels(len(mu)), "known": KnownLevels, "shifted": ShiftedLevels}


@st.composite
def cases(draw):
    """Draw data with integer weights, labels, a level model: all that a criterion depends on."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p, order = 14, draw(st.integers(1, 2)), draw(st.integers(1, 2))
    x, labels = np.cumsum(rng.uniform(0.5, 1.5, n)) / n, np.arange(n) % 3
    mu = np.sort(rng.normal(size=(3, p)), axis=0)
    Y = np.sin(5.0 * x)[:, None] + mu[labels] + 0.3 * rng.normal(size=(n, p))
    times = rng.integers(1, 4, n)
    model = MODELS[draw(st.sampled_from(list(MODELS)))](mu)
    smoother = LineSmoother(x, times.astype(float), order=order)
    return Problem(Y, smoother, model, per_channel=draw(st.booleans())), labels, mu, x, times


def fit_of(problem, labels, mu, tau):
    """Return the best decomposition with these labels."""
    levels = problem.profile_levels(mu, labels, tau)
    f, loss, cost = problem.smooth_given(levels, labels, tau)
    return Decomposition(labels, levels, f, tau, loss + cost, loss, [], 1, True)


def stacked(problem, labels, x, times, tau):
    """Return y, its covariance over sigma^2 and the fixed effects, every repetition and channel written out."""
    p, rows = problem.Y.shape[1], np.repeat(np.arange(len(x)), times)
    kernel = KERNELS[problem.smoother.order]
    K, y = kernel(x[rows]) / (len(rows) * tau), problem.Y[rows].T.ravel()
    together = np.eye(p) if problem.per_channel else np.ones((p, p))
    free = kernel.null_space(x[rows]) if hasattr(kernel, "null_space") else np.zeros((len(rows), 0))
    Z = problem.level_model.directions(3)[labels[rows]]
    fields = np.eye(p) if problem.per_channel else np.ones((p, 1))
    effects = np.hstack([np.kron(np.eye(p), Z), np.kron(fields, free)])
    if not isinstance(problem.level_model, FreeLevels):
        y = y - problem.level_model.levels[labels[rows]].T.ravel()
    return y, np.eye(len(y)) + np.kron(together, K), effects


@given(case=cases(), log_tau=st.floats(-5, 0))
def test_gcv_is_its_definition(case, log_tau):
    problem, labels, mu, x, times = case
    fit = fit_of(problem, labels, mu, 10.0**log_tau)
    rows, p = np.repeat(np.arange(len(x)), times), problem.Y.shape[1]
    dense = DenseSmoother(x[rows, None], kernel=KERNELS[problem.smoother.order])
    tau = fit.tau if problem.per_channel else fit.tau / p
    f = dense.solve((problem.Y - fit.levels[labels])[rows].mean(axis=1), tau)[:, None]
    if problem.per_channel:
        f = dense.solve((problem.Y - fit.levels[labels])[rows], tau)
    rss = np.sum(((problem.Y - fit.levels[labels])[rows] - f) ** 2)
    fields = p if problem.per_channel else 1
    used = fields * dense.trace(tau) + p * problem.level_model.directions(3).shape[1]
    N = len(rows) * p
    assert gcv(problem, fit) == pytest.approx((rss / len(rows)) / (1.0 - used / N) ** 2, rel=1e-6)


@given(case=cases())
def test_reml_is_the_restricted_likelihood_up_to_a_constant(case):
    problem, labels, mu, x, times = case
    differences = []
    for tau in (1e-4, 1e-2, 1.0):
        y, V, T = stacked(problem, labels, x, times, tau)
        rank = np.linalg.matrix_rank(T) if T.shape[1] else 0
        Q = np.linalg.svd(T)[0][:, rank:] if T.shape[1] else np.eye(len(y))
        inside, r = Q.T @ V @ Q, Q.T @ y
        size = len(y) - rank
        deviance = r @ np.linalg.solve(inside, r) / size
        expected = size * np.log(deviance) + np.linalg.slogdet(inside)[1]
        differences.append(reml(problem, fit_of(problem, labels, mu, tau)) - expected)
    np.testing.assert_allclose(differences, differences[0], atol=1e-5)


@pytest.mark.parametrize("order", [1, 2])
def test_cross_validation_is_the_held_out_distance_to_the_nearest_level(problem_of, order):
    rng = np.random.default_rng(0)
    n, taus = 40, np.array([1e-4, 1e-2, 1.0])
    x = rng.uniform(0.0, 1.0, n)
    y = np.sin(6.0 * x) + 2.0 * rng.integers(2, size=n) + 0.1 * rng.normal(size=n)
    problem = problem_of(x, y, order)
    found = cross_validate(problem, taus, altmin)
    folds = np.random.RandomState(0).permutation(n) % N_FOLDS
    for tau, value in zip(taus, found):
        errors = []
        for k in range(N_FOLDS):
            train, test = folds != k, folds == k
            dense = DenseSmoother(x[train, None], kernel=KERNELS[order])
            fit = altmin(Problem(y[train, None], dense, FreeLevels(2)), tau)
            f = dense.at(x[test, None], y[train] - fit.levels[fit.labels, 0], tau)
            errors.extend(np.min(((y[test] - f)[:, None] - fit.levels[:, 0]) ** 2, axis=1))
        assert value == pytest.approx(np.mean(errors), rel=1e-6)


def test_cross_validation_needs_to_leave_points_out():
    problem = Problem(np.zeros((5, 1)), LineSmoother(np.arange(5.0)), FreeLevels(1))
    with pytest.raises(ValueError, match="needs a problem that can leave points out"):
        cross_validate(problem, np.array([1.0]), altmin)


@pytest.mark.parametrize("method", ["gcv", "reml", "cv"])
def test_the_choice_is_the_minimum_of_its_curve(problem_of, method):
    rng = np.random.default_rng(1)
    x = np.arange(1, 81) / 80
    y = np.sin(6.0 * x) + 2.0 * rng.integers(2, size=80) + 0.2 * rng.normal(size=80)
    fit, curve = select_tau(problem_of(x, y, 1), method, altmin)
    assert curve.method == method
    assert curve.criterion[curve.best] == curve.criterion.min()
    assert fit.tau == curve.tau[curve.best]
    assert len(curve.tau) == len(curve.criterion) == len(curve.effective_dof)
    assert np.all(np.diff(curve.effective_dof) > 0.0)
    assert curve.as_dict()["chosen"] == curve.best


def test_gcv_is_infinite_where_nothing_is_left():
    x, y = np.array([0.3, 0.6, 1.0]), np.array([[0.0], [1.0], [2.0]])
    problem = Problem(y, LineSmoother(x, order=1), FreeLevels(3))
    assert gcv(problem, altmin(problem, 1e-6)) == np.inf


@pytest.mark.parametrize("method", ["gcv", "reml", "cv"])
def test_the_chosen_tau_comes_near_the_best_in_hindsight(problem_of, method):
    """Steps that are easy to tell, so that all depends on tau; the median of ten signals."""
    n, ratios = 150, []
    x = np.arange(1, n + 1) / n
    truth = np.sin(2.0 * np.pi * x)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = truth + 6.0 * rng.integers(2, size=n) + 0.3 * rng.normal(size=n)
        fit, curve = select_tau(problem_of(x, y, 2), method, altmin)
        fits = [altmin(problem_of(x, y, 2), tau) for tau in curve.tau]
        errors = [np.std(each.smooth[:, 0] - truth) for each in fits]
        ratios.append(np.std(fit.smooth[:, 0] - truth) / min(errors))
    assert np.median(ratios) < 1.5
