"""Labels under a smoother f: an average over rates of change and two sets of levels, recomputed one by one."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from stepsmooth.line import relabel as r
from stepsmooth.line.beam import backward
from stepsmooth.line.chain import Signal, Theta
from stepsmooth.line.orders import run
from stepsmooth.line.solution import Solution


def problem(M=3, n=40, noise=0.5, **more):
    rng = np.random.default_rng(0)
    x, labels = np.linspace(0.0, 1.0, n), rng.integers(M, size=n)
    levels = np.array([-1.0, 0.3, 1.2])[:M]
    signal = Signal(x, (np.sin(5.0 * x) + levels[labels] + noise * rng.normal(size=n))[:, None], np.ones(n), **more)
    shares = np.array([0.5, 0.2, 0.3])[:M]
    theta = Theta(levels[:, None], 1e-3, noise**2, shares / shares.sum())
    return signal, Solution(theta, signal.expect(theta), "uniform")


def averaged(signal, theta, ladders):
    """Return the label probabilities of each rate and ladder, weighted by likelihood and bonus."""
    own = (signal.weights.sum() * theta.tau / signal.unit**3) ** -0.25
    logs, gammas = [], []
    for levels, bonus in ladders:
        for rate in r.RATES:
            out = run(signal, 3, rate * own, levels, theta.noise, theta.proportions, r.WIDTH)
            logs.append(out[0] + bonus)
            gammas.append(backward(theta.n_levels, r.WIDTH[0], *out[1:])[0])
    share = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
    return np.tensordot(share, gammas, axes=1)


def test_labels_are_averaged_over_rates_and_over_found_and_even_levels():
    signal, best = problem()
    theta = best.theta
    out = r.relabel(signal, best, "free")
    spared = 0.5 * np.log(40)  # one of three levels less
    expected = averaged(signal, theta, [(theta.levels[:, 0], 0.0), (r._even(theta), spared)])
    assert_allclose(out.found.gamma, expected, atol=1e-12)
    assert out.theta is theta
    assert out.loglik == best.loglik


@pytest.mark.parametrize("M, structure", [(3, "ladder"), (3, "known"), (2, "free")])
def test_levels_that_are_even_or_given_are_the_only_ones(M, structure):
    signal, best = problem(M)
    expected = averaged(signal, best.theta, [(best.theta.levels[:, 0], 0.0)])
    assert_allclose(r.relabel(signal, best, structure).found.gamma, expected, atol=1e-12)


def test_even_levels_are_the_least_squares_ladder_by_frequency():
    _, best = problem()
    theta = best.theta
    T = np.column_stack([np.ones(3), np.arange(3.0)])
    W = np.diag(theta.proportions)
    first, gap = np.linalg.solve(T.T @ W @ T, T.T @ W @ theta.levels[:, 0])
    assert_allclose(r._even(theta), first + gap * np.arange(3))


def test_what_is_not_plain_keeps_its_labels():
    signal, best = problem()
    chain = replace(best, prior="markov")
    ratio = replace(best, theta=replace(best.theta, ratio=np.ones(3)))
    one = replace(best, theta=replace(best.theta, levels=np.zeros((1, 1)), proportions=np.ones(1)))
    for kept in (chain, ratio, one):
        assert r.relabel(signal, kept, "free") is kept
    for other in (
        Signal(signal.x, signal.Y, signal.weights, tau=1e-3),
        Signal(signal.x, signal.Y, signal.weights, order=1),
        Signal(signal.x, signal.Y.repeat(2, axis=1), signal.weights),
    ):
        assert r.relabel(other, best, "free") is best


def test_the_cubic_spline_is_kept_if_it_is_better_by_many_nats(monkeypatch):
    signal, best = problem(2, n=20)
    own = (signal.weights.sum() * best.theta.tau / signal.unit**3) ** -0.25

    def behind_by(nats):
        def made_up(signal, order, omega, levels, noise, proportions, width):
            out = run(signal, order, omega, levels, noise, proportions, width)
            if order == 2:
                assert omega == pytest.approx(own)
            return (-100.0 if order == 2 else -100.0 - nats, *out[1:])

        monkeypatch.setattr(r, "run", made_up)
        return r.relabel(signal, best, "free")

    assert behind_by(16.0) is best
    assert behind_by(14.0) is not best
    assert_array_equal(behind_by(14.0).theta.levels, best.theta.levels)
