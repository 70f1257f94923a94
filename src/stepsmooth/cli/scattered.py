"""The scattered points that ``stepsmooth demo`` decomposes."""

from dataclasses import dataclass

import numpy as np

from stepsmooth.model.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class ScatteredPoints:
    """Observations at points of the plane, ``y = smooth + levels[labels] + noise``, and their parts."""

    X: Floats
    y: Floats
    labels: Ints
    levels: Floats
    smooth: Floats
    noise_variance: float


def scattered_points(n_samples: int = 1_600, *, random_state: int = 0) -> ScatteredPoints:
    """Draw a fine checkerboard at random points of the unit square, hidden by a hill and a valley.

    The squares are narrow beside the hill. AltMin would take squares as wide as the hill for a part of it.

    Parameters
    ----------
    n_samples : int
        The number of points.
    random_state : int
        The seed.

    Returns
    -------
    ScatteredPoints
        The observations and their parts.

    Examples
    --------
    >>> points = scattered_points(100)
    >>> points.X.shape, points.levels
    ((100, 2), array([-0.5,  0.5]))
    """
    rng = np.random.default_rng(random_state)
    X = rng.random((n_samples, 2))
    smooth = 1.1 * np.sin(3.2 * X[:, 0]) * np.cos(4.4 * X[:, 1] - 0.4)
    labels = np.floor(10 * X).astype(np.int64).sum(axis=1) % 2
    levels, noise_variance = np.array([-0.5, 0.5]), 0.04
    y = smooth + levels[labels] + np.sqrt(noise_variance) * rng.standard_normal(n_samples)
    return ScatteredPoints(X, y, labels, levels, smooth, noise_variance)
