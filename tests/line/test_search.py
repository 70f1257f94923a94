"""The search: what a solution is worth, when a climb ends, and what its neighbours are, by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from stepsmooth.line import search as s
from stepsmooth.line.chain import ANSWER, SEARCH, Expectation, Signal, Theta
from stepsmooth.line.maximise import maximise, neighbourly, sticky


def solution_of(levels=(0.0, 1.0), noise=0.01, tau=1e-3, loglik=-10.0, prior="uniform", gamma=None, **more):
    levels = np.asarray(levels, dtype=float)
    levels = levels[:, None] if levels.ndim == 1 else levels
    M = len(levels)
    gamma = np.full((6, M), 1.0 / M) if gamma is None else gamma
    found = Expectation(loglik, gamma, more.pop("pairs", np.zeros((M, M))))
    return s.Solution(Theta(levels, tau, noise, np.full(M, 1.0 / M), **more), found, prior)


def steps(n=60, M=2, noise=0.1, seed=0, order=2):
    rng = np.random.default_rng(seed)
    x, labels = np.linspace(0.0, 1.0, n), rng.integers(M, size=n)
    y = np.sin(6.0 * x) + 2.0 * labels + noise * rng.normal(size=n)
    return Signal(x, y[:, None], np.ones(n), order=order), labels


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
    assert [x.loglik for x in s.ranked(given)] == [-1.0, -2.0, -3.0]


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

    monkeypatch.setattr(s, "maximise", count)
    return seen


def climbed(*values, **how):
    return s.climb(Script(*values), solution_of(tau=0.0).theta, "uniform", "free", **how)


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
    out = s.climb(signal, solution_of(tau=0.0).theta, "markov", "free")
    assert (out.history, signal.asked, signal.values) == (history, asked, [])


def test_a_segment_in_doubt_does_not_draw_levels_together():
    """A segment is of one level or of the next as a whole: EM took the mean, and from there the likelihood fell."""
    rng = np.random.default_rng(3)
    n = 300
    x, labels = np.arange(n) / n, np.repeat([1, 2, 1, 0, 1], [70, 60, 80, 20, 70])
    y = 0.75 * np.sin(18.0 * x) + labels + 0.22 * rng.normal(size=n)
    signal = Signal(x, y[:, None], np.ones(n))
    theta = Theta(0.68 * np.arange(3.0)[:, None], 2e-7, 0.057, np.full(3, 1.0 / 3.0), sticky(3, 0.01))
    out = s.climb(signal, theta, "markov", "free")
    assert np.all(np.diff(out.history) > -1.0)
    assert out.loglik > out.history[0] + 5.0


def test_a_climb_leaves_a_tau_alone_that_is_given_or_not_sought(counted):
    climbed(1.0, 2.0, 3.0, max_iter=3, search_tau=False)
    given = Script(1.0, 2.0)
    given.tau = 0.5
    s.climb(given, solution_of().theta, "uniform", "free", max_iter=2)
    assert counted == [False, False, False]
    assert given.width == SEARCH


def test_a_step_of_a_climb_is_an_e_and_an_m_step():
    signal, _ = steps()
    theta = Theta(np.array([[0.0], [1.8]]), 1e-4, 0.05, np.full(2, 0.5))
    out = s.climb(signal, theta, "proportions", "free", max_iter=2)
    found = signal.expect(theta)
    new = maximise(signal, theta, found, "proportions")
    assert_allclose(out.history, [found.loglik, signal.expect(new).loglik])
    assert_array_equal(out.theta.levels, new.levels)
    assert out.prior == "proportions"


def test_in_order_sorts_everything_by_level():
    gamma = np.array([[0.1, 0.2, 0.7]])
    P = np.arange(9.0).reshape(3, 3)
    mixed = solution_of((2.0, 3.0, 1.0), gamma=gamma, pairs=P + 10.0, transition=P, ratio=np.array([4.0, 5.0, 6.0]))
    mixed = replace(mixed, theta=replace(mixed.theta, proportions=np.array([0.2, 0.3, 0.5])), history=(1.0,))
    out = s.in_order(mixed)
    order = [2, 0, 1]
    assert_array_equal(out.theta.levels[:, 0], [1.0, 2.0, 3.0])
    assert_array_equal(out.theta.proportions, [0.5, 0.2, 0.3])
    assert_array_equal(out.theta.transition, P[order][:, order])
    assert_array_equal(out.theta.ratio, [6.0, 4.0, 5.0])
    assert_array_equal(out.found.gamma, [[0.7, 0.1, 0.2]])
    assert_array_equal(out.found.pairs, (P + 10.0)[order][:, order])
    assert (out.history, out.loglik, out.theta.tau) == ((1.0,), mixed.loglik, mixed.theta.tau)
    assert s.in_order(out) is out
    plain = s.in_order(solution_of((1.0, 0.0)))
    assert (plain.theta.transition, plain.theta.ratio) == (None, None)


def test_levels_of_channels_are_ordered_by_the_first():
    out = s.in_order(solution_of(np.array([[1.0, 5.0], [0.0, 9.0], [1.0, 2.0]])))
    assert_array_equal(out.theta.levels, [[0.0, 9.0], [1.0, 2.0], [1.0, 5.0]])


@pytest.mark.parametrize("n, most, expected", [(7, 3, [2, 3, 4]), (8, 3, [2, 3, 4]), (6, 4, [1, 2, 3, 4])])
def test_the_middle_of_a_signal(n, most, expected):
    signal = Signal(np.arange(float(n)), np.zeros((n, 1)), np.ones(n))
    assert_array_equal(s.middle(signal, most).x, expected)
    assert s.middle(signal, n) is signal


def test_n_tau_stays_when_a_signal_gets_longer():
    long = Signal(np.arange(8.0), np.zeros((8, 1)), np.full(8, 2.0))
    short = s.middle(long, 4)
    assert s._rescaled(solution_of(tau=0.3).theta, short, long).tau == pytest.approx(0.15)


def test_a_chain_of_blocks_leaves_as_often_as_one_of_points():
    P = np.array([[0.6, 0.4], [0.2, 0.8]])
    assert_allclose(s._finer(solution_of(transition=P).theta, 3), sticky(2, 0.1))
    assert_array_equal(s._finer(solution_of(transition=P).theta, 1), P)


def test_candidates_are_scored_by_likelihood():
    signal, _ = steps()
    right = Theta(np.array([[0.0], [2.0]]), 1e-5, 0.01, np.full(2, 0.5))
    wrong = [replace(right, noise=4.0), replace(right, levels=np.array([[0.0], [9.0]]))]
    values = [signal.loglik(theta) for theta in (*wrong, right)]
    out = s._scored(signal, [*wrong, right], SEARCH)
    assert_allclose([signal.loglik(theta) for theta in out], sorted(values, reverse=True))
    assert out[0] is right


def test_candidates_differ_in_gaps_or_by_much_in_tau():
    one = solution_of((0.0, 1.0, 3.0)).theta
    same = [replace(one, levels=one.levels + 5.0), replace(one, tau=one.tau * 10.0), replace(one, noise=9.0)]
    same += [replace(one, levels=np.array([[0.0], [1.2], [3.2]]))]  # 0.2 of a mean gap of 1.5
    other = [replace(one, tau=one.tau * 15.0), replace(one, tau=one.tau / 15.0)]
    other += [replace(one, levels=np.array([[0.0], [1.3], [3.3]]))]
    assert not any(s._apart(one, theta) for theta in same)
    assert all(s._apart(one, theta) for theta in other)
    assert s._different([one, *same, *other], 9) == [one, *other]
    assert s._different([one, *same, *other], 2) == [one, other[0]]
    two = solution_of((0.0, 1.0)).theta
    assert s._apart(two, replace(two, levels=np.array([[0.0], [1.2]])))
    alone = solution_of((0.0,)).theta
    assert not s._apart(alone, replace(alone, levels=np.ones((1, 1))))


def test_f_is_shifted_by_gaps():
    signal, labels = steps(n=6, order=1)
    sure = solution_of((0.0, 2.0, 5.0), gamma=np.eye(3)[labels], noise=0.01)
    f = signal.smoother.solve(signal.mean - np.array([0.0, 2.0])[labels], 1e-3)
    starts = s._shifted(signal, sure)
    assert_allclose([theta.start[0] for theta in starts], f[0] + 2.5 * np.arange(-2, 3))
    assert_allclose([theta.start[1] for theta in starts], 2.5 / 6.0)
    noisy = s._shifted(signal, solution_of((0.0, 2.0, 5.0), gamma=np.eye(3)[labels], noise=4.0))
    assert_allclose([theta.start[1] for theta in noisy], 1.0)
    assert all(theta.levels is sure.theta.levels for theta in starts)


def test_f_of_channels_is_shifted_by_gaps_of_their_means():
    signal, labels = steps(n=6)
    double = Signal(signal.x, np.column_stack([signal.mean - 1.0, signal.mean + 1.0]), np.ones(6))
    levels = np.array([[-1.0, 1.0], [1.0, 3.0]])
    f = signal.smoother.solve(signal.mean - np.array([0.0, 2.0])[labels], 1e-3 / 2)
    starts = s._shifted(double, solution_of(levels, gamma=np.eye(2)[labels]))
    assert_allclose([theta.start[0] for theta in starts], f[0] + 2.0 * np.arange(-2, 3))


def test_the_rarest_level_is_tried_elsewhere():
    gamma = np.tile([0.5, 0.1, 0.4], (6, 1))
    out = s._exchanged(solution_of((0.0, 1.2, 3.0), gamma=gamma, start=(1.0, 2.0)), "free")
    # Without the second, left of 0, right of 3 and between them, by the typical gap of 1.5.
    assert [theta.levels[:, 0].tolist() for theta in out] == [[-1.5, 0.0, 3.0], [0.0, 3.0, 4.5], [0.0, 1.5, 3.0]]
    assert all(theta.start is None for theta in out)


def test_one_of_two_close_levels_is_tried_elsewhere_too():
    gamma = np.tile([0.1, 0.2, 0.3, 0.4], (6, 1))
    out = s._exchanged(solution_of((0.0, 2.0, 2.5, 4.5), gamma=gamma), "free")
    got = {tuple(theta.levels[:, 0]) for theta in out}
    # Of the gaps 2, 0.5 and 2, the second is small: levels 0 (the rarest) and 2 (of the pair) go.
    rarest = {(2.0, 2.5, 4.5, 6.5), (2.0, 2.25, 2.5, 4.5), (2.0, 2.5, 3.5, 4.5)}
    double = {(-2.0, 0.0, 2.5, 4.5), (0.0, 2.5, 4.5, 6.5), (0.0, 1.25, 2.5, 4.5), (0.0, 2.5, 3.5, 4.5)}
    assert got == rarest | double  # and not the levels there were, which one of them would be again


def test_nothing_is_exchanged_where_levels_are_not_free():
    assert s._exchanged(solution_of(), "ladder") == []
    assert s._exchanged(solution_of((0.0,)), "free") == []
    assert s._exchanged(solution_of(np.array([[0.0, 1.0], [2.0, 3.0]])), "free") == []


@pytest.fixture
def valued(monkeypatch):
    """Climbs end where they begin, with a likelihood that a test writes down."""
    asked = []

    def install(value):
        def climb(signal, theta, prior, structure, **how):
            asked.append((theta, how))
            return solution_of(theta.levels, tau=theta.tau, loglik=value(theta), start=theta.start)

        monkeypatch.setattr(s, "climb", climb)
        return asked

    return install


def test_a_move_is_made_if_it_gains_more_than_a_nat(valued):
    signal, labels = steps(n=6)
    here = solution_of((0.0, 2.0), gamma=np.eye(2)[labels])
    valued(lambda theta: -9.0)
    assert s.moved(signal, here, "free") is here
    asked = valued(lambda theta: -8.5 if theta.tau > 1e-2 else -9.9)
    assert s.moved(signal, here, "free").theta.tau == pytest.approx(30.0 * 1e-3)
    asked = valued(lambda theta: -8.5 if theta.start and theta.start[0] > 3.0 else -9.9)
    assert s.moved(signal, here, "ladder").theta.start[0] > 3.0
    assert len(asked) > 7


def test_neighbours_are_given_up_far_below_and_a_given_tau_is_not_moved(valued):
    signal, labels = steps(n=6)
    given = Signal(signal.x, signal.Y, signal.weights, tau=1e-3)
    here = solution_of((0.0, 2.0), gamma=np.eye(2)[labels])
    asked = valued(lambda theta: -20.0)
    s.moved(given, here, "ladder")
    assert len(asked) == 5  # shifts alone
    assert all(how["floor"] == -10.0 - 300.0 and how["max_iter"] == 4 for _, how in asked)


@pytest.mark.parametrize("prior", ["uniform", "proportions", "markov"])
def test_steps_with_little_noise_are_found_by_every_prior(prior):
    signal, labels = steps(n=70, noise=0.05)
    best, *others = s.search(signal, 2, prior)
    assert_array_equal(best.found.gamma.argmax(axis=1), labels)
    assert np.diff(best.theta.levels[:, 0])[0] == pytest.approx(2.0, abs=0.15)
    assert all(best.worth >= other.worth >= best.worth - s.HOPELESS - 5.0 for other in others)
    assert best.prior == prior
    assert (best.theta.transition is not None) == (prior == "markov")


def test_known_levels_are_searched_where_they_are():
    signal, labels = steps(n=60, noise=0.05)
    best, *_ = s.search(signal, 2, "uniform", "known", np.array([[0.0], [2.0]]))
    assert_array_equal(best.theta.levels, [[0.0], [2.0]])
    assert_array_equal(best.found.gamma.argmax(axis=1), labels)


def test_a_solution_is_finished_with_the_wide_beam():
    signal, _ = steps(n=60)
    rough = s.climb(signal, Theta(np.array([[0.0], [1.9]]), 1e-5, 0.02, np.full(2, 0.5)), "uniform", "free", max_iter=1)
    out = s.finish(signal, rough, "free")
    assert out.loglik == signal.expect(out.theta, ANSWER).loglik
    assert out.loglik > rough.loglik
    assert out.converged


def test_a_solution_of_the_middle_is_lengthened():
    signal, labels = steps(n=80, noise=0.05)
    short = s.middle(signal, 40)
    best = s.search(short, 2, "uniform")[0]
    out = s.lengthened(signal, short, best, "free")
    assert_array_equal(out.found.gamma.argmax(axis=1), labels)
    begin = replace(best.theta, tau=best.theta.tau / 2.0, start=None)
    assert out.history[0] == pytest.approx(signal.expect(begin).loglik)
    assert s.lengthened(short, short, best, "free") is best


def test_what_is_far_behind_on_some_of_the_points_is_not_followed_on_all(monkeypatch):
    signal, _ = steps(n=60)
    seen = []

    def climbed(signal, candidates, prior, structure, max_iter, floor=-np.inf):
        seen.append((len(signal), [theta.levels[1, 0] for theta in candidates]))
        return [solution_of(theta.levels[:, 0], loglik=-10.0 * theta.levels[1, 0]) for theta in candidates]

    monkeypatch.setattr(s, "N_FOLLOW", 20)
    monkeypatch.setattr(s, "_followed", lambda *args: [solution_of((0.0, gap)) for gap in (4.5, 2.0, 4.0)])
    monkeypatch.setattr(s, "_climbed", climbed)
    monkeypatch.setattr(s, "moved", lambda signal, solution, structure: solution)
    monkeypatch.setattr(s, "finish", lambda signal, solution, structure: solution)
    found = s.search(signal, 2, "uniform")
    assert seen == [(20, [4.5, 2.0, 4.0]), (60, [2.0, 4.0, 4.5])]
    assert [solution.loglik for solution in found] == [-20.0, -20.0, -40.0, -45.0]
    monkeypatch.setattr(s, "_followed", lambda *args: [solution_of((0.0, gap)) for gap in (5.5, 2.0)])
    s.search(signal, 2, "uniform")
    assert seen[-1] == (60, [2.0])


@pytest.mark.parametrize("M", [2, 3])
def test_a_chain_starts_lasting_or_switching_and_between_neighbours_if_there_are_others(monkeypatch, M):
    signal, _ = steps(n=30)
    start = solution_of(np.arange(float(M))).theta
    monkeypatch.setattr(s, "starts", lambda *args: [start])
    monkeypatch.setattr(s, "_different", lambda candidates, most: candidates)
    monkeypatch.setattr(s, "_climbed", lambda signal, candidates, *args, **how: candidates)
    tried = s._followed(signal, M, "markov", "free", None, 9, SEARCH)
    expected = [sticky(M, switching) for switching in (0.05, 0.01, 0.5)]
    expected += [neighbourly(M, switching) for switching in (0.4, 0.1)] if M > 2 else []
    assert {theta.transition.tobytes() for theta in tried} == {chain.tobytes() for chain in expected}
    assert [theta.transition for theta in s._followed(signal, M, "uniform", "free", None, 9, SEARCH)] == [None] * 2


@pytest.mark.parametrize(
    "gap, leaving, dwell", [(4.0, 0.25, 4.0), (2.9, 0.25, np.inf), (4.0, 0.0, 1e12)], ids=["clear", "noisy", "forever"]
)
def test_how_long_labels_last_is_known_where_points_tell_levels_apart(gap, leaving, dwell):
    chain = solution_of((0.0, gap), noise=1.0, prior="markov", transition=sticky(2, leaving))
    assert s._dwell(chain) == pytest.approx(dwell)
    assert s._dwell(solution_of((0.0, gap), noise=1.0)) == np.inf


@pytest.mark.parametrize("leaving, sizes", [(0.5, []), (0.1, [4]), (0.01, [4, 16, 64])])
def test_blocks_longer_than_labels_last_are_not_searched(monkeypatch, leaving, sizes):
    signal, _ = steps(n=64 * 60)
    chain = solution_of((0.0, 4.0), noise=1.0, prior="markov", transition=sticky(2, leaving))
    seen = []
    blocks = Signal.blocks
    monkeypatch.setattr(Signal, "blocks", lambda signal, size: seen.append(size) or blocks(signal, size))
    monkeypatch.setattr(s, "_followed", lambda *args: [chain])
    monkeypatch.setattr(s, "_climbed", lambda *args, **how: [chain])
    monkeypatch.setattr(s, "moved", lambda signal, solution, structure: solution)
    monkeypatch.setattr(s, "finish", lambda signal, solution, structure: solution)
    s.search(signal, 2, "markov")
    assert seen == sizes
