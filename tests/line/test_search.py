"""The search: which starts are followed, on how many points."""

from dataclasses import replace

import numpy as np
import pytest
from line_cases import solution_of, steps
from numpy.testing import assert_allclose, assert_array_equal

from stepsmooth.line import search as s
from stepsmooth.line.chain import ANSWER, SEARCH, Signal, Theta
from stepsmooth.line.climb import climb
from stepsmooth.line.maximise import neighbourly, sticky


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
    rough = climb(signal, Theta(np.array([[0.0], [1.9]]), 1e-5, 0.02, np.full(2, 0.5)), "uniform", "free", max_iter=1)
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
    monkeypatch.setattr(s, "climbed", climbed)
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
    monkeypatch.setattr(s, "climbed", lambda signal, candidates, *args, **how: candidates)
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
    monkeypatch.setattr(s, "climbed", lambda *args, **how: [chain])
    monkeypatch.setattr(s, "moved", lambda signal, solution, structure: solution)
    monkeypatch.setattr(s, "finish", lambda signal, solution, structure: solution)
    s.search(signal, 2, "markov")
    assert seen == sizes
