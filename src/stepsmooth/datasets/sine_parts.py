"""The parts that the sine generators share: points, levels and smooth part of the paper's simulated model.

The model: ``x_i = i / n``, ``mu_k = k - (M + 1) / 2`` for ``k = 1..M``, ``f(x) = 3/4 sin(2 pi beta x)``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .arguments import flag, real_number, whole_number


def points(n_samples: int, equispaced: bool, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return ``i / n`` for i = 1..n, or n sorted independent uniform draws from [0, 1).

    Examples
    --------
    >>> points(4, True, np.random.default_rng(0))
    array([0.25, 0.5 , 0.75, 1.  ])
    """
    if equispaced:
        return np.arange(1, n_samples + 1) / n_samples
    return np.sort(rng.random(n_samples))


def unit_levels(n_levels: int, n_channels: int = 1) -> NDArray[np.float64]:
    """Return levels one apart and centred at 0; further channels hold them rotated and shrunk.

    Channel c (from 0) gives label k the level ``mu[(k + c) mod M] / (c + 1)``. The rotation makes the
    channels disagree about the order of the levels, as the sequences of an MRI scan do; the shrinking keeps
    the mean over channels from cancelling the steps, which would lay the smooth part bare.

    Examples
    --------
    >>> unit_levels(3)
    array([-1.,  0.,  1.])
    >>> unit_levels(3, 2)
    array([[-1. ,  0. ],
           [ 0. ,  0.5],
           [ 1. , -0.5]])
    """
    levels = np.arange(1, n_levels + 1, dtype=np.float64) - (n_levels + 1) / 2
    if n_channels == 1:
        return levels
    return np.column_stack([np.roll(levels, -c) / (c + 1) for c in range(n_channels)])


def sine_parts(
    n_samples: object,
    n_levels: object,
    beta: object,
    *,
    amplitude: object,
    phase: object,
    n_channels: object,
    equispaced: object,
    rng: np.random.Generator,
    least_levels: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Check the arguments of a sine generator and return its points, levels and smooth part.

    Examples
    --------
    >>> x, levels, smooth = sine_parts(
    ...     4, 2, 1.0, amplitude=2.0, phase=0.0, n_channels=1, equispaced=True, rng=np.random.default_rng(0)
    ... )
    >>> levels, smooth.round(12) + 0.0
    (array([-0.5,  0.5]), array([ 2.,  0., -2.,  0.]))
    """
    n = whole_number("n_samples", n_samples, least=1)
    m = whole_number("n_levels", n_levels, least=least_levels)
    frequency = real_number("beta", beta, least=0)
    height = real_number("amplitude", amplitude)
    shift = real_number("phase", phase)
    channels = whole_number("n_channels", n_channels, least=1)
    x = points(n, flag("equispaced", equispaced), rng)
    smooth = height * np.sin(2 * np.pi * frequency * x + shift)
    return x, unit_levels(m, channels), smooth
