"""Signals and clouds of points that the estimator's tests decompose."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def signal():
    """Return a maker of X, y, labels on a line: a wave, uneven steps, noise, points in any order."""

    def make(seed=0, n=90, n_levels=3, noise=0.1, low=0.1):
        rng = np.random.default_rng(seed)
        x = low + rng.permutation(np.cumsum(rng.uniform(0.5, 1.5, n)) / n)
        labels = np.append(np.arange(n_levels), rng.integers(n_levels, size=n - n_levels))
        y = 0.7 * np.sin(5.0 * x) + 2.0 * labels + noise * rng.normal(size=n)
        return x[:, None], y, labels

    return make


@pytest.fixture(scope="session")
def cloud():
    """Return a maker of X, y, labels in d dimensions; y has p channels if p is given."""

    def make(seed=0, n=150, d=2, p=None, n_levels=2, noise=0.1):
        rng = np.random.default_rng(seed)
        X, labels = rng.uniform(0.0, 1.0, (n, d)), rng.integers(n_levels, size=n)
        smooth = np.sin(3.0 * X[:, 0]) + X[:, -1] ** 2
        if p is None:
            return X, smooth + 3.0 * labels + noise * rng.normal(size=n), labels
        levels = 3.0 * np.arange(n_levels)[:, None] * np.linspace(1.0, 0.5, p)
        return X, smooth[:, None] + levels[labels] + noise * rng.normal(size=(n, p)), labels

    return make
