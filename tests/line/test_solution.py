"""What a solution is worth, and in which order its levels are, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from line_cases import solution_of
from numpy.testing import assert_array_equal

from stepsmooth.line.solution import in_order, ranked


def test_the_parameters_of_a_prior():
    assert solution_of((0.0, 1.0, 2.0)).n_prior_parameters == 0.0
    assert solution_of((0.0, 1.0, 2.0), prior="proportions").n_prior_parameters == 2.0
    pairs = np.array([[9.0, 4.0, 2.0], [6.0, 9.0, 0.0], [3.0, 0.0, 9.0]])  # 15 switches, 5 a row
    assert solution_of((0.0, 1.0, 2.0), prior="markov", pairs=pairs).n_prior_parameters == 1.0 + 5.0 * 0.5
    assert solution_of(prior="markov", pairs=np.eye(2)).n_prior_parameters == 1.0


def test_separation_is_the_smallest_gap_in_noise_sds():
    assert solution_of((0.0, 3.0, 4.0), noise=0.04).separation == pytest.approx(5.0)
    assert solution_of(np.array([[0.0, 0.0], [3.0, 4.0]]), noise=0.25).separation == pytest.approx(10.0)
    assert solution_of((1.0,)).separation == np.inf


def test_a_solution_is_worth_its_likelihood_less_what_overlap_costs():
    assert solution_of((0.0, 1.0), noise=0.01).worth == -10.0
    assert solution_of((0.0,)).worth == -10.0
    close = solution_of((0.0, 0.2), noise=0.01)  # two sds
    assert close.worth == pytest.approx(-10.0 - 0.5 * (np.log(1.5) / 0.35) ** 2)
    assert solution_of((0.0, 0.035), noise=0.01).worth == -10.0 - 15.0
    assert solution_of((0.0, 0.02), noise=0.01).worth == -10.0 - 30.0
    assert solution_of((0.0, 0.0)).worth == -40.0


def test_ranked_puts_the_worthiest_first():
    given = [solution_of(loglik=v) for v in (-3.0, -1.0, -2.0)]
    assert [x.loglik for x in ranked(given)] == [-1.0, -2.0, -3.0]


def test_in_order_sorts_everything_by_level():
    gamma = np.array([[0.1, 0.2, 0.7]])
    P = np.arange(9.0).reshape(3, 3)
    mixed = solution_of((2.0, 3.0, 1.0), gamma=gamma, pairs=P + 10.0, transition=P, ratio=np.array([4.0, 5.0, 6.0]))
    mixed = replace(mixed, theta=replace(mixed.theta, proportions=np.array([0.2, 0.3, 0.5])), history=(1.0,))
    out = in_order(mixed)
    order = [2, 0, 1]
    assert_array_equal(out.theta.levels[:, 0], [1.0, 2.0, 3.0])
    assert_array_equal(out.theta.proportions, [0.5, 0.2, 0.3])
    assert_array_equal(out.theta.transition, P[order][:, order])
    assert_array_equal(out.theta.ratio, [6.0, 4.0, 5.0])
    assert_array_equal(out.found.gamma, [[0.7, 0.1, 0.2]])
    assert_array_equal(out.found.pairs, (P + 10.0)[order][:, order])
    assert (out.history, out.loglik, out.theta.tau) == ((1.0,), mixed.loglik, mixed.theta.tau)
    assert in_order(out) is out
    plain = in_order(solution_of((1.0, 0.0)))
    assert (plain.theta.transition, plain.theta.ratio) == (None, None)


def test_levels_of_channels_are_ordered_by_the_first():
    out = in_order(solution_of(np.array([[1.0, 5.0], [0.0, 9.0], [1.0, 2.0]])))
    assert_array_equal(out.theta.levels, [[0.0, 9.0], [1.0, 2.0], [1.0, 5.0]])
