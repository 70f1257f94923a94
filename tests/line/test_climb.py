"""When a climb ends, and what its steps are."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from line_cases import solution_of, steps
from numpy.testing import assert_allclose, assert_array_equal

from stepsmooth.line import climb as module
from stepsmooth.line.chain import SEARCH, Expectation, Signal, Theta
from stepsmooth.line.climb import climb
from stepsmooth.line.maximise import maximise, sticky


class Script:
    """A signal whose log-likelihoods are written down."""

    tau = None

    def __init__(self, *values):
        self.values = list(values)

    def expect(self, theta, width):
        self.width = width
        return Expectation(self.values.pop(0), np.full((3, 2), 0.5), np.zeros((2, 2)))


@pytest.fixture
def counted(monkeypatch):
    """Parameters after k steps have tau = k."""
    seen = []

    def count(signal, theta, found, prior, structure, *, search_tau):
        seen.append(search_tau)
        return replace(theta, tau=theta.tau + 1.0)

    monkeypatch.setattr(module, "maximise", count)
    return seen


def climbed(*values, **how):
    return climb(Script(*values), solution_of(tau=0.0).theta, "uniform", "free", **how)


@pytest.mark.parametrize(
    "values, how, seen, best, converged",
    [
        ((1.0, 2.0, 3.0, 3.01), {}, 4, 3, True),  # the fourth gains less than 0.05
        ((1.0, 2.0, 3.0, 2.5), {}, 4, 2, True),  # the best is kept
        ((1.0, 1.0, 2.0, 2.0), {}, 4, 2, True),  # not before two steps
        ((1.0, 1.0, 1.0), {}, 3, 0, True),
        ((1.0, 1.0), {"min_iter": 1}, 2, 0, True),
        ((1.0, 2.0, 3.0), {"max_iter": 3}, 3, 2, False),
        ((1.0, 2.0, 3.0), {"tol": 1.5}, 3, 2, True),
        ((1.0, 2.0), {"floor": 5.0}, 2, 1, False),
        ((1.0, 6.0, 7.0, 7.0), {"floor": 5.0}, 4, 2, True),
    ],
)
def test_a_climb_ends_when_it_gains_little_or_is_hopeless(counted, values, how, seen, best, converged):
    out = climbed(*values, **how)
    assert out.history == values[:seen]
    assert (out.loglik, out.theta.tau, out.converged) == (values[best], best, converged)
    assert len(counted) == seen - 1
    assert all(counted)


class Chain(Script):
    """The same, of so many points, and it says after which step it was asked to decide."""

    def __init__(self, n, *values):
        super().__init__(*values)
        self.smoother, self.asked = SimpleNamespace(n_effective=float(n)), []

    def decide(self, theta, width):
        self.asked.append(theta.tau)
        return Expectation(0.0, np.eye(2)[[0, 0, 1]], np.zeros((2, 2)))


@pytest.mark.parametrize(
    "n, values, history, asked",
    [
        (1000, (1.0, 2.0, 0.5, 2.5, 2.51), (1.0, 2.0, 2.5, 2.51), [1.0]),  # the second step falls, and is taken again
        (1000, (1.0, 2.0, 0.5, 0.2), (1.0, 2.0, 0.5), [1.0]),  # the one that falls less is kept
        (1001, (1.0, 2.0, 0.5), (1.0, 2.0, 0.5), []),
    ],
)
def test_a_step_of_a_short_chain_that_falls_is_taken_again_along_one_history(counted, n, values, history, asked):
    signal = Chain(n, *values)
    out = climb(signal, solution_of(tau=0.0).theta, "markov", "free")
    assert (out.history, signal.asked, signal.values) == (history, asked, [])


def test_a_segment_in_doubt_does_not_draw_levels_together():
    """A segment is of one level or of the next as a whole: EM took the mean, and from there the likelihood fell."""
    rng = np.random.default_rng(3)
    n = 300
    x, labels = np.arange(n) / n, np.repeat([1, 2, 1, 0, 1], [70, 60, 80, 20, 70])
    y = 0.75 * np.sin(18.0 * x) + labels + 0.22 * rng.normal(size=n)
    signal = Signal(x, y[:, None], np.ones(n))
    theta = Theta(0.68 * np.arange(3.0)[:, None], 2e-7, 0.057, np.full(3, 1.0 / 3.0), sticky(3, 0.01))
    out = climb(signal, theta, "markov", "free")
    assert np.all(np.diff(out.history) > -1.0)
    assert out.loglik > out.history[0] + 5.0


def test_a_climb_leaves_a_tau_alone_that_is_given_or_not_sought(counted):
    climbed(1.0, 2.0, 3.0, max_iter=3, search_tau=False)
    given = Script(1.0, 2.0)
    given.tau = 0.5
    climb(given, solution_of().theta, "uniform", "free", max_iter=2)
    assert counted == [False, False, False]
    assert given.width == SEARCH


def test_a_step_of_a_climb_is_an_e_and_an_m_step():
    signal, _ = steps()
    theta = Theta(np.array([[0.0], [1.8]]), 1e-4, 0.05, np.full(2, 0.5))
    out = climb(signal, theta, "proportions", "free", max_iter=2)
    found = signal.expect(theta)
    new = maximise(signal, theta, found, "proportions")
    assert_allclose(out.history, [found.loglik, signal.expect(new).loglik])
    assert_array_equal(out.theta.levels, new.levels)
    assert out.prior == "proportions"
