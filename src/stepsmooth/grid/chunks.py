"""Observations a chunk at a time: the probabilities of their classes, in loops over the observations of a chunk.

The innermost loops run over observations and have no branches, so that the compiler works on several at a time; a chunk
is so small that what one loop leaves is still at hand for the next.
"""

import numpy as np
from numba import njit

from stepsmooth.model.arrays import Floats
from stepsmooth.model.elementary import exp, log

CHUNK = 256
# So many nats behind the likeliest a class has no part in an observation.
FAR = 40.0


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def probabilities(
    y: Floats,
    gain: Floats,
    shift: Floats,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    outlier: float,
    q: Floats,
    density: Floats,
) -> None:
    """Put the probabilities of the classes of a chunk's observations into q (M, n), and log densities into `density`.

    y (p, ...), gain and shift (n,) are those of the chunk; `precision`, `logs`, `outlier` as `mixture.constants` says.
    """
    n = len(gain)
    top = density
    for i in range(n):
        top[i] = outlier
    for k in range(len(levels)):
        score = q[k]
        for i in range(n):
            score[i] = logs[k]
        for c in range(levels.shape[1]):
            level, half, values = levels[k, c], precision[k, c], y[c]
            for i in range(n):
                residual = values[i] - gain[i] * level - shift[i]
                score[i] -= half * residual * residual
        for i in range(n):
            top[i] = max(top[i], score[i])
    mass = np.empty(n)
    for i in range(n):
        mass[i] = _odds(outlier - top[i])
    for k in range(len(levels)):
        score = q[k]
        for i in range(n):
            odds = _odds(score[i] - top[i])
            score[i] = odds
            mass[i] += odds
    for k in range(len(levels)):
        score = q[k]
        for i in range(n):
            score[i] /= mass[i]
    for i in range(n):
        density[i] = top[i] + log(mass[i])


@njit(cache=True, error_model="numpy")
def _odds(behind: float) -> float:
    return exp(behind) if behind > -FAR else 0.0


@njit(cache=True)
def channels_first(Y: Floats, low: int, n: int, y: Floats) -> None:
    """Put n observations of (n, p) from `low` on into y (p, CHUNK)."""
    for c in range(Y.shape[1]):
        for i in range(n):
            y[c, i] = Y[low + i, c]


@njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def add_sums(y: Floats, gain: Floats, shift: Floats, mass: Floats, levels: Floats, part: Floats) -> None:
    """Add mass, mass * gain^2, and for each channel mass * gain * residual, mass * residual^2 of a class to `part`.

    `levels` (p,) are those of the class, `mass` (CHUNK,) its share of the observations' weights.
    """
    n, p = len(gain), len(levels)
    whole, information = 0.0, 0.0
    for i in range(n):
        whole += mass[i]
        information += mass[i] * gain[i] * gain[i]
    part[0] += whole
    part[1] += information
    for c in range(p):
        values, level = y[c], levels[c]
        pull, squares = 0.0, 0.0
        for i in range(n):
            residual = values[i] - gain[i] * level - shift[i]
            pull += mass[i] * gain[i] * residual
            squares += mass[i] * residual * residual
        part[2 + c] += pull
        part[2 + p + c] += squares


@njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def weighted_sum(weights: Floats, values: Floats) -> float:
    """Return the sum over weights of weight * value."""
    total = 0.0
    for i in range(len(weights)):
        total += weights[i] * values[i]
    return total


@njit(cache=True, error_model="numpy")
def field_at(f: Floats, multiplicative: bool, gain: Floats, shift: Floats) -> None:
    """Put what f does to a level into gain and shift, as `mixture.gain_and_shift` does."""
    for i in range(len(f)):
        gain[i] = exp(f[i]) if multiplicative else 1.0
        shift[i] = 0.0 if multiplicative else f[i]
