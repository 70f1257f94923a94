"""A signal, points and an image with known labels, which the cases take to extremes."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def signal():
    """Return a maker of x, y, labels on a line: a wave, steps of 2, little noise."""

    def make(n=40, n_levels=2, seed=0, noise=0.1, step=2.0):
        rng = np.random.default_rng(seed)
        x = np.arange(1, n + 1) / n
        labels = np.append(np.arange(n_levels), rng.integers(n_levels, size=n - n_levels))
        return x, 0.7 * np.sin(5.0 * x) + step * labels + noise * rng.normal(size=n), labels

    return make


@pytest.fixture(scope="session")
def cloud():
    """Return a maker of points in the plane, y and labels."""

    def make(n=60, seed=0):
        rng = np.random.default_rng(seed)
        X, labels = rng.uniform(size=(n, 2)), rng.integers(2, size=n)
        return X, np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2 + 3.0 * labels + 0.1 * rng.normal(size=n), labels

    return make


@pytest.fixture(scope="session")
def image():
    """Return a maker of an image and its labels: patches of two levels, a field that multiplies or adds, noise."""

    def make(multiplicative=True, n=24, seed=0):
        rng = np.random.default_rng(seed)
        labels = np.repeat(np.repeat(rng.integers(2, size=(n // 4, n // 4)), 4, axis=0), 4, axis=1)
        f = np.linspace(-0.4, 0.4, n)[:, None]
        noise = 0.05 * rng.normal(size=labels.shape)
        return (np.exp(f) * (1.0 + labels) if multiplicative else f + 2.0 * labels) + noise, labels

    return make
