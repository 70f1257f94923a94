"""The plain beam for splines of any order, against the fast one and against sums over all labellings."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from stepsmooth.datasets import make_sine_steps
from stepsmooth.line import orders
from stepsmooth.line.beam import backward
from stepsmooth.line.chain import Signal
from stepsmooth.line.relabel import relabel
from stepsmooth.line.search import search

EXACT = (3**7, 1e-9, 1e3)


def few(n, seed, outlier=0.0):
    d = make_sine_steps(n, 3, 2.0, noise_variance=0.05, random_state=seed)
    return Signal(d.X[:, 0], d.y[:, None], np.ones(n), outlier=outlier), d.levels.ravel()


def covariance(t, order, first):
    """Cov f(t) f(s) of a spline whose derivatives begin with variances `first`, by numerical integration."""
    u = np.linspace(0.0, t[-1], 20_001)
    past = np.maximum(t[:, None] - u, 0.0) ** (order - 1) * (t[:, None] > u) / orders.FACTORIALS[order - 1]
    noise = past @ past.T * (u[1] - u[0])
    powers = t[:, None] ** np.arange(order) / orders.FACTORIALS[:order]
    return noise + powers * first @ powers.T


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_likelihood_is_the_sum_over_all_labellings(order):
    signal, levels = few(6, seed=order)
    omega, noise = 0.7, 0.05
    found = orders.run(signal, order, omega, levels, noise, np.full(3, 1 / 3), EXACT)
    t = np.arange(6) * omega
    first = orders.beginning(signal, order, omega, noise)
    density = multivariate_normal(cov=noise * (covariance(t, order, first) + np.eye(6)))
    rest = signal.mean - signal.centre - (signal.centre - levels.mean())
    labellings = np.array(list(product(range(3), repeat=6)))
    each = density.logpdf(rest - (levels - signal.centre)[labellings]) - 6 * np.log(3)
    assert found[0] == pytest.approx(np.logaddexp.reduce(each), abs=2e-3)
    share = np.exp(each - found[0])
    gamma = [[share[labellings[:, i] == k].sum() for k in range(3)] for i in range(6)]
    np.testing.assert_allclose(backward(3, EXACT[0], *found[1:])[0], gamma, atol=2e-3)


def test_labels_under_a_smoother_f_are_probabilities_and_change_little_where_noise_is_small():
    d = make_sine_steps(200, 3, 2.0, noise_variance=0.01, random_state=3)
    signal = Signal(d.X[:, 0], d.y[:, None], np.ones(200))
    best = search(signal, 3, "uniform")[0]
    found = relabel(signal, best, "free")
    np.testing.assert_allclose(found.found.gamma.sum(axis=1), 1.0)
    assert np.mean(found.found.gamma.argmax(axis=1) == d.labels) > 0.99
    assert found.theta is best.theta


def test_a_rough_f_keeps_its_cubic_spline():
    rng = np.random.default_rng(0)
    f = np.cumsum(rng.normal(size=300)) * 0.15  # a random walk: nothing smoother than order 1
    y = f + 4.0 * rng.integers(2, size=300) + 0.05 * rng.normal(size=300)
    signal = Signal(np.arange(300.0), y[:, None], np.ones(300))
    best = search(signal, 2, "uniform")[0]
    assert relabel(signal, best, "free") is best
