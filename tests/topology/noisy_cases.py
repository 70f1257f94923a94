"""Small samples under noise: labels that mostly lie together, f added or multiplied, one channel or two."""

import numpy as np

from stepsmooth.topology.emission import Noise
from stepsmooth.topology.pooling import Sample


def noisy_sample(seed, p=1, multiplicative=False, n=220, deviation=None):
    """Return a sample whose noise is of the size that it says."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    labels = np.digitize(X[:, 0] + 0.25 * rng.normal(size=n), [0.3, 0.8])
    labels[:3] = [0, 1, 2]
    levels = np.array([[1.0], [2.0], [2.6]]) * (1.0 + np.arange(p))
    smooth = 0.1 * np.sin(3.0 * X[:, 1:]) * np.ones((1, p if rng.random() < 0.5 else 1))
    sd = rng.uniform(0.03, 0.15) if deviation is None else deviation
    variance = sd**2 * rng.uniform(0.5, 1.0, (3, p))
    noise = Noise.of(levels, variance, smooth if multiplicative else None)
    rest = np.sqrt(noise.variance[labels]) * rng.normal(size=(n, p))
    if multiplicative:
        rest, levels = rest * np.exp(-smooth), np.log(levels)
    return Sample(X, labels, levels, smooth, rest, noise)
