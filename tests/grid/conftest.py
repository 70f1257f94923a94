"""Small images that the grid tests decompose."""

import numpy as np
import pytest

from stepsmooth.grid import Volume


@pytest.fixture(scope="session")
def patches():
    """Return a maker of an image of patches under a smooth field: image, labels, f."""

    def make(shape=(60, 56), levels=(1.0, 1.6, 2.4), noise=0.05, strength=0.6, patch=8, seed=0):
        rng = np.random.default_rng(seed)
        labels = rng.integers(len(levels), size=tuple(-(-n // patch) for n in shape))
        for axis in range(len(shape)):
            labels = np.repeat(labels, patch, axis=axis)
        labels = labels[tuple(slice(0, n) for n in shape)]
        axes = np.meshgrid(*(np.linspace(-1.0, 1.0, n) for n in shape), indexing="ij")
        f = strength * (np.sin(1.5 * axes[0]) + axes[-1] ** 2 + 0.5 * axes[0] * axes[-1])
        f -= f.mean()
        image = np.asarray(levels)[labels] * np.exp(f) + noise * rng.normal(size=shape)
        return np.abs(image), labels, f

    return make


@pytest.fixture(scope="session")
def volume_of():
    """Return a maker of a Volume from an image of up to three axes, with NaN outside a mask."""

    def make(image, mask=None, spacing=(1.0, 1.0, 1.0)):
        values = np.array(image, dtype=np.float32)
        if mask is not None:
            values[~mask] = np.nan
        shape = values.shape + (1,) * (3 - values.ndim)
        return Volume(values.reshape(1, 1, *shape), spacing)

    return make
