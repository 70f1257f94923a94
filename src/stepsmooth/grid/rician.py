"""Magnitude images: the noise floor that complex noise leaves under the signal, and how to take it away.

The magnitude of a signal A under complex noise of standard deviation s has second moment A^2 + 2 s^2 and, from A = 2 s
on, mean close to sqrt(A^2 + s^2). So sqrt(I^2 - s^2) has mean close to A.
"""

from dataclasses import replace

import numpy as np

from stepsmooth.grid.blocks import noise_floor
from stepsmooth.grid.moments import block_moments
from stepsmooth.grid.volume import Volume
from stepsmooth.model.arrays import Floats


def noise_variance(volume: Volume) -> Floats:
    """Return the noise variance of each channel, from the blocks that spread least; zero if there is no full block."""
    sides = tuple(2 if n > 1 else 1 for n in volume.grid[1:])
    counts, means, spread, _ = block_moments(volume, sides, volume.box)
    n = int(np.prod(sides))
    full = np.flatnonzero(counts == n)
    if n == 1 or not len(full):
        return np.zeros(volume.n_channels)
    # Under a bright signal the noise is nearly Gaussian; in the dark it is squeezed against zero.
    bright = full[np.all(means[full] >= np.median(means[full], axis=0), axis=1)]
    return noise_floor(spread, bright if len(bright) else full, n)


def without_floor(volume: Volume, sigma2: Floats) -> Volume:
    """Return the volume with sqrt(I^2 - s^2) for I, signed where noise has won.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(2, 1, 1, 100, 100, 1))
    >>> image = np.hypot(3.0 + noise[0], noise[1]).astype(np.float32)
    >>> better = without_floor(Volume(image, (1.0, 1.0, 1.0)), np.ones(1)).values
    >>> round(float(image.mean()), 1), round(float(better.mean()), 1)
    (3.2, 3.0)
    """
    values = np.empty_like(volume.values)
    for c, channel in enumerate(volume.values):
        squared = channel**2 - np.float32(sigma2[c])
        values[c] = np.sign(squared) * np.sqrt(np.abs(squared))
    return replace(volume, values=values)
