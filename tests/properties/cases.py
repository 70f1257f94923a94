"""Signals, clouds and images that properties are tried on, the ways to fit them, and how many cases a property gets."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

SEEDS = st.integers(0, 2**32 - 1)

LINE_ALTMIN = {
    "min, gcv": {"kernel": "min", "tau": "gcv"},
    "spline, reml": {"kernel": "spline", "tau": "reml"},
    "spline, k-means first": {"kernel": "spline", "tau": 1e-4, "start": "kmeans"},
    "sobolev1": {"kernel": "sobolev1", "tau": 1e-4},
    "rbf": {"kernel": RBF(0.5), "tau": 1e-3},
}
LINE_JOINT = {
    "joint, markov": {"solver": "joint", "label_prior": "markov"},
    "joint, min": {"solver": "joint", "kernel": "min", "label_prior": "uniform"},
    "joint": {"solver": "joint"},
}
GRID_ALTMIN = {
    "altmin": {"solver": "altmin", "tau": 1.0},
    "altmin, gcv": {"solver": "altmin"},
    "altmin, additive": {"solver": "altmin", "tau": 0.1, "multiplicative": False},
}
GRID_JOINT = {
    "joint, knots": {"knots": 90.0},
    "joint, additive": {"knots": 90.0, "multiplicative": False},
    "joint": {},
}


def share(part):
    """Give a property this share of the profile's cases, because each of its cases costs more."""
    return settings(max_examples=max(round(part * settings.default.max_examples), 1))


def named(ways):
    """Draw one of several ways to fit, by name."""
    return st.sampled_from(sorted(ways))


def signal(seed, n=24, n_levels=2, noise=0.1, channels=None):
    """Return X (points in any order), y and labels on a line: a wave, steps and noise."""
    rng = np.random.default_rng(seed)
    x = 0.1 + rng.permutation(np.cumsum(rng.uniform(0.5, 1.5, n)) / n)
    labels = rng.permutation(np.append(np.arange(n_levels), rng.integers(n_levels, size=n - n_levels)))
    smooth = 0.7 * np.sin(5.0 * x)
    if channels is None:
        return x[:, None], smooth + 2.0 * labels + noise * rng.normal(size=n), labels
    levels = 2.0 * np.arange(n_levels)[:, None] * np.resize([1.0, -0.6], channels)
    return x[:, None], smooth[:, None] + levels[labels] + noise * rng.normal(size=(n, channels)), labels


def cloud(seed, n=30, d=2, noise=0.1):
    """Return X, y and labels of two levels in space."""
    rng = np.random.default_rng(seed)
    X, labels = rng.uniform(0.0, 1.0, (n, d)), rng.permutation(np.append([0, 1], rng.integers(2, size=n - 2)))
    return X, np.sin(3.0 * X[:, 0]) + X[:, -1] ** 2 + 3.0 * labels + noise * rng.normal(size=n), labels


def scene(seed, shape=(16, 14), noise=0.03, patch=4, channels=None, multiplicative=True):
    """Return an image of patches of two levels under a field, and the labels; channels come last."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=tuple(-(-n // patch) for n in shape))
    labels.flat[0], labels.flat[-1] = 0, 1
    for axis in range(len(shape)):
        labels = np.repeat(labels, patch, axis=axis)
    labels = labels[tuple(slice(0, n) for n in shape)]
    axes = np.meshgrid(*(np.linspace(-1.0, 1.0, n) for n in shape), indexing="ij")
    f = 0.3 * (np.sin(1.5 * axes[0]) + axes[-1] ** 2)
    levels = np.array([1.0, 2.0])
    if channels is not None:
        levels, f = np.array([[1.0, 2.0], [2.0, 1.2]])[:, :channels], f[..., None]
    clean = levels[labels] * np.exp(f) if multiplicative else levels[labels] + f
    return np.abs(clean + noise * rng.normal(size=clean.shape)), labels
