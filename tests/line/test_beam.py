"""The beam against enumeration: every label history, each with its dense Gaussian likelihood."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from stepsmooth.line.chain import Signal, Theta
from stepsmooth.line.maximise import sticky

EXACT = (4096, 0.0, 1e9)


def _covariance(signal, theta, order):
    """Return the covariance of the mean channel given its labels, from the definition of the process."""
    p = signal.Y.shape[1]
    t = np.cumsum(signal.dx)
    scale = theta.noise / p / signal.lam(theta.tau / p)
    low, high = np.minimum.outer(t, t), np.maximum.outer(t, t)
    K = scale * (low if order == 1 else low**2 * (3 * high - low) / 6)
    K += signal.range**2
    if order == 2:
        lam = signal.lam(theta.tau / p)
        K += (2.8 * lam**0.25 * scale + (2 * signal.range / len(signal)) ** 2) * np.outer(t, t)
    return K + np.diag(theta.noise / p / signal.weights)


def _histories(signal, theta, order):
    """Return all label histories and log p(y, history) of each."""
    n, M = len(signal), theta.n_levels
    V = _covariance(signal, theta, order)
    level = theta.levels.mean(axis=1)
    start = np.full(n, signal.centre - level.mean())
    contrast = signal._contrasts(theta) if signal.Y.shape[1] > 1 else np.zeros((n, M))
    logs, paths = [], list(product(range(M), repeat=n))
    for path in paths:
        z = np.array(path)
        value = multivariate_normal(start, V).logpdf(signal.mean - level[z])
        value += contrast[np.arange(n), z].sum() + np.log(theta.proportions[z[0]])
        for a, b in pairwise(z):
            value += np.log(theta.proportions[b] if theta.transition is None else theta.transition[a, b])
        logs.append(value)
    return paths, logs


def _enumerate(signal, theta, order):
    n, M = len(signal), theta.n_levels
    paths, logs = _histories(signal, theta, order)
    total = logsumexp(logs)
    weight = np.exp(np.array(logs) - total)
    gamma = np.zeros((n, M))
    for path, w in zip(paths, weight):
        gamma[np.arange(n), path] += w
    return total, gamma


def _signal(order, channels=1, seed=0):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 1, 6))
    Y = rng.normal(size=(6, channels)) + rng.integers(2, size=6)[:, None]
    return Signal(x, Y, rng.uniform(0.5, 2.0, 6), order=order, outlier=0.0)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("markov", [False, True])
def test_an_unpruned_beam_is_the_sum_over_all_label_histories(order, channels, markov):
    signal = _signal(order, channels)
    levels = np.array([[-0.4, 0.1], [0.9, 0.3]])[:, :channels]
    theta = Theta(levels, 0.02, 0.3, np.array([0.3, 0.7]), sticky(2, 0.2) if markov else None)
    found = signal.expect(theta, EXACT)
    total, gamma = _enumerate(signal, theta, order)
    assert_allclose(found.loglik, total, atol=1e-7)
    assert_allclose(found.gamma, gamma, atol=1e-7)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_the_history_that_an_unpruned_beam_decides_for_is_the_likeliest_of_all(order, seed):
    signal = _signal(order, seed=seed)
    theta = Theta(np.array([[-0.4], [0.9]]), 0.02, 0.3, np.array([0.3, 0.7]), sticky(2, 0.2))
    decided = signal.decide(theta, EXACT)
    paths, logs = _histories(signal, theta, order)
    likeliest = np.array(paths[int(np.argmax(logs))])
    assert_allclose(decided.gamma, np.eye(2)[likeliest])
    assert_allclose(
        decided.pairs, [[sum(pair == (a, b) for pair in pairwise(likeliest)) for b in (0, 1)] for a in (0, 1)]
    )
    assert decided.loglik == signal.expect(theta, EXACT).loglik


def test_expected_transitions_add_up_to_one_for_each_step():
    signal = _signal(2)
    theta = Theta(np.array([[0.0], [1.0]]), 0.02, 0.3, np.array([0.5, 0.5]), sticky(2, 0.2))
    assert_allclose(signal.expect(theta).pairs.sum(), len(signal) - 1)


@pytest.mark.parametrize("seed", range(5))
def test_a_narrow_beam_is_close_to_the_whole_sum(seed):
    rng = np.random.default_rng(seed)
    x = np.arange(60) / 60
    y = np.sin(6 * x) + rng.integers(2, size=60) + 0.2 * rng.normal(size=60)
    signal = Signal(x, y[:, None], np.ones(60))
    theta = Theta(np.array([[0.0], [1.0]]), 1e-6, 0.04, np.array([0.5, 0.5]))
    narrow, wide = signal.expect(theta), signal.expect(theta, (1000, 0.05, 30.0))
    assert_allclose(narrow.loglik, wide.loglik, atol=0.5)
    assert np.abs(narrow.gamma - wide.gamma).max() < 0.1


def test_a_spike_moves_neither_the_smooth_part_nor_the_labels_if_outliers_are_allowed():
    rng = np.random.default_rng(0)
    x, z = np.arange(200) / 200, np.arange(200) // 20 % 2
    y = np.sin(3 * x) + 2.0 * z + 0.1 * rng.normal(size=200)
    y[90] += 8.0
    theta = Theta(np.array([[0.0], [2.0]]), 1e-7, 0.01, np.array([0.5, 0.5]), sticky(2, 0.05))
    right = [
        np.mean(Signal(x, y[:, None], np.ones(200), outlier=o).expect(theta).gamma.argmax(1) == z) for o in (0, 0.01)
    ]
    assert right[1] > 0.98
    assert right[1] >= right[0]
