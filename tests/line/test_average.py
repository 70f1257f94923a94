"""Averaging over parameters: the prior by hand, the chains on a known target, the means one by one."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from scipy.stats import t as student

from stepsmooth.altmin import Problem, altmin, select_tau
from stepsmooth.line import average as a
from stepsmooth.line.beam import backward
from stepsmooth.line.chain import Signal, Theta
from stepsmooth.line.maximise import retuned
from stepsmooth.line.orders import run
from stepsmooth.line.solution import Solution
from stepsmooth.model.levels import FreeLevels


def problem(n=40, M=2, noise=0.4, **more):
    rng = np.random.default_rng(0)
    x, labels = np.linspace(0.0, 1.0, n), rng.integers(M, size=n)
    y = 3.0 + np.sin(5.0 * x) + 2.0 * labels + noise * rng.normal(size=n)
    signal = Signal(x, y[:, None], np.ones(n), **more)
    theta = Theta(3.0 + 2.0 * np.arange(M)[:, None], 1e-4, noise**2, np.full(M, 1.0 / M))
    return signal, Solution(theta, signal.expect(theta), "uniform")


def test_the_prior_of_gaps_and_noise_is_a_student_and_a_mixture_of_gaussians():
    one, other = np.array([0.1, 0.5, -0.2]), np.array([0.3, 0.3, 0.2])

    def by_hand(gaps, log_noise):
        away = (gaps.min() - 0.5 * log_noise - np.log(4.0)) / 0.35
        # Three gaps about their mean are Gaussian in two directions: along their own, and zero across it.
        spread = np.sqrt(np.sum((gaps - gaps.mean()) ** 2))
        mixed = [norm.pdf(spread, scale=sd) * norm.pdf(0.0, scale=sd) for sd in (0.05, 0.4)]
        return np.log(student.pdf(away, 4)) + np.log(sum(mixed))

    got = a.log_prior(one, -3.0) - a.log_prior(other, -2.0)
    assert got == pytest.approx(by_hand(one, -3.0) - by_hand(other, -2.0))


def test_one_gap_has_nothing_to_be_alike():
    at = np.array([0.7])
    got = a.log_prior(at, 2.0 * (0.7 - np.log(4.0))) - a.log_prior(at, 2.0 * (0.7 - np.log(4.0) - 0.7))
    assert got == pytest.approx(2.5 * np.log(1.0 + 4.0 / 4.0))


@pytest.mark.parametrize("n, order", [(74, 2), (75, 3)])
def test_a_point_of_a_chain_means_levels_noise_and_a_rate(n, order):
    signal, _ = problem(n)
    parameters = a.Parameters(signal, np.array([0.3, 0.3, 0.4]), np.log(2.0), np.log(20.0))
    assert parameters.order == order
    point = np.array([np.log(1.5), np.log(3.0), np.log(0.2), np.log(7.0)])
    levels = parameters.levels(point)
    assert_allclose(np.diff(levels), [1.5, 3.0])
    assert levels.mean() == pytest.approx(signal.centre)
    expected = run(signal, order, np.pi * 7.0 / n, levels, 0.2, np.array([0.3, 0.3, 0.4]), a.WIDTH)
    assert parameters.run(point)[0] == pytest.approx(expected[0])
    joint = expected[0] + a.log_prior(point[:2], np.log(0.2))
    assert parameters.log_joint(point) == pytest.approx(joint)
    assert parameters.log_posterior(point) == pytest.approx(joint)
    for dof in (1.9, 20.1):
        outside = np.append(point[:-1], np.log(dof))
        assert parameters.log_posterior(outside) == -np.inf
        assert np.isfinite(parameters.log_joint(outside))


def test_chains_that_cannot_move_stay_at_the_best_places():
    begin = np.arange(30.0).reshape(10, 3)
    values = {tuple(row): float(v) for row, v in zip(begin, [3, 9, 1, 8, 2, 7, 6, 5, 4, 0])}
    drawn, top = a._draw(lambda point: values.get(tuple(point), -np.inf), begin)
    assert top == 9.0
    assert drawn.shape == (8 * 40, 3)
    assert_array_equal(np.unique(drawn, axis=0), begin[[0, 1, 3, 4, 5, 6, 7, 8]])
    assert_array_equal(drawn[:8], begin[[1, 3, 5, 6, 7, 8, 0, 4]])


def test_chains_draw_from_the_target():
    sd = np.array([0.1, 0.2, 0.15])
    centre = np.array([1.0, -2.0, 0.5])
    begin = centre + sd * np.random.default_rng(1).normal(size=(12, 3))
    drawn, top = a._draw(lambda point: float(-0.5 * np.sum(((point - centre) / sd) ** 2)), begin)
    assert_allclose(drawn.mean(axis=0), centre, atol=1.0 * sd.min())
    assert np.all((drawn.std(axis=0) > 0.6 * sd) & (drawn.std(axis=0) < 1.5 * sd))
    assert -0.3 < top <= 0.0


def test_a_few_chains_step_alone():
    begin = np.zeros((2, 3))
    drawn, top = a._draw(lambda point: float(-0.5 * np.sum((point / 0.1) ** 2)), begin)
    assert drawn.shape == (2 * 40, 3)
    assert top == 0.0
    assert np.all(drawn.std(axis=0) > 0.03)


def test_the_mean_over_what_was_drawn_counts_each_place_as_often_as_it_was_visited():
    signal, best = problem()
    parameters = a.Parameters(signal, np.array([0.4, 0.6]), np.log(2.0), np.log(20.0))
    one, other = np.array([np.log(2.0), np.log(0.1), np.log(5.0)]), np.array([np.log(1.0), np.log(0.4), np.log(8.0)])
    out = a._mean(signal, best, parameters, np.array([one, other, one, one]))
    gammas = [backward(2, a.WIDTH[0], *parameters.run(point)[1:])[0] for point in (one, other)]
    assert_allclose(out.found.gamma, 0.75 * gammas[0] + 0.25 * gammas[1])
    gap = 0.75 * 2.0 + 0.25 * 1.0
    assert_allclose(out.theta.levels, signal.centre + np.array([[-gap / 2.0], [gap / 2.0]]))
    assert out.theta.noise == pytest.approx(np.exp(0.75 * np.log(0.1) + 0.25 * np.log(0.4)))
    theta = replace(out.theta, tau=best.theta.tau)
    for _ in range(a.N_TAU):
        theta = replace(theta, tau=retuned(signal, theta, out.found))
    assert out.theta.tau == pytest.approx(theta.tau)
    assert out.loglik == best.loglik
    assert out.found.pairs is best.found.pairs


def test_the_value_of_a_solution_is_its_own_or_that_of_its_levels_with_another_f():
    signal, best = problem()
    parameters = a.Parameters(signal, best.theta.proportions, np.log(2.0), np.log(20.0))
    prior = a.log_prior(np.log([2.0]), np.log(0.16))
    points = [np.array([np.log(2.0), np.log(0.16), np.log(dof)]) for dof in a.DOFS]
    others = max(parameters.log_joint(point) for point in points)
    own = signal.loglik(best.theta, a.WIDTH) + prior
    assert a._value(parameters, best) == pytest.approx(max(own, others))
    rough = replace(best, theta=replace(best.theta, tau=1e-12))
    assert a._value(parameters, rough) == pytest.approx(others)
    doubled = replace(best, theta=replace(best.theta, levels=np.full((2, 1), 4.0)))
    assert np.isfinite(a._value(parameters, doubled))


@pytest.fixture
def chains(monkeypatch):
    """Chains that stay where they begin, with a top that a test writes down."""
    seen = {}

    def install(top):
        def draw(log_posterior, begin):
            seen.update(begin=begin, parameters=log_posterior.__self__)
            return begin[:2], top

        monkeypatch.setattr(a, "_draw", draw)
        return seen

    return install


def test_chains_begin_at_altmin_s_gaps_with_several_noises_and_rates(chains):
    signal, best = problem(n=20)
    seen = chains(1e9)
    out = a.average(signal, best)
    begin = seen["begin"]
    assert out is not best
    dofs = [4.0, 6.0, 8.0, 10.0]  # at most 0.6 of 20 points
    assert len(begin) == 5 * len(dofs)
    assert_allclose(np.exp(begin[:4, -1]), dofs)
    gap = np.exp(begin[0, 0])
    levels = select_tau(Problem(signal.Y, signal.smoother, FreeLevels(2)), "gcv", altmin)[0].levels
    assert gap == pytest.approx(np.ptp(levels))
    assert_allclose(np.exp(0.5 * begin[::4, -2]) / gap, a.NOISE_TO_GAP)
    assert_allclose(np.exp([seen["parameters"].low, seen["parameters"].high]), [2.0, 12.0])
    signal, best = problem(n=100)
    a.average(signal, best)
    assert np.exp(seen["parameters"].high) == pytest.approx(50.0)


def test_a_solution_stays_if_it_is_better_than_all_draws_by_its_parameters(chains):
    signal, best = problem()
    parameters = a.Parameters(signal, best.theta.proportions, 0.0, 9.0)
    cost = 0.5 * 3 * np.log(40.0)  # the gap, tau and the noise
    for lead, stays in ((cost + 0.1, True), (cost - 0.1, False)):
        chains(a._value(parameters, best) - lead)
        assert (a.average(signal, best) is best) == stays


def test_what_is_not_plain_is_not_averaged(chains):
    signal, best = problem()
    chains(1e9)
    assert a.average(signal, best) is not best
    markov = replace(best, prior="markov")
    one = replace(best, theta=replace(best.theta, levels=np.zeros((1, 1)), proportions=np.ones(1)))
    assert a.average(signal, markov) is markov
    assert a.average(signal, one) is one
    for other in (
        Signal(signal.x, signal.Y, signal.weights, tau=1e-3),
        Signal(signal.x, signal.Y, signal.weights, order=1),
        Signal(signal.x, signal.Y.repeat(2, axis=1), signal.weights),
        Signal(signal.x[:6], signal.Y[:6], signal.weights[:6]),
        Signal(signal.x, np.zeros((40, 1)), signal.weights),
    ):
        assert a.average(other, best) is best
