"""Solutions and signals that several tests of the search begin with."""

import numpy as np

from stepsmooth.line.chain import Expectation, Signal, Theta
from stepsmooth.line.solution import Solution


def solution_of(levels=(0.0, 1.0), noise=0.01, tau=1e-3, loglik=-10.0, prior="uniform", gamma=None, **more):
    levels = np.asarray(levels, dtype=float)
    levels = levels[:, None] if levels.ndim == 1 else levels
    M = len(levels)
    gamma = np.full((6, M), 1.0 / M) if gamma is None else gamma
    found = Expectation(loglik, gamma, more.pop("pairs", np.zeros((M, M))))
    return Solution(Theta(levels, tau, noise, np.full(M, 1.0 / M), **more), found, prior)


def steps(n=60, M=2, noise=0.1, seed=0, order=2):
    rng = np.random.default_rng(seed)
    x, labels = np.linspace(0.0, 1.0, n), rng.integers(M, size=n)
    y = np.sin(6.0 * x) + 2.0 * labels + noise * rng.normal(size=n)
    return Signal(x, y[:, None], np.ones(n), order=order), labels
