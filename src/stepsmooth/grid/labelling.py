"""Labels of the voxels and how sure they are, from what a voxel of each class looks like under the field."""

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from stepsmooth.grid.background import Air
from stepsmooth.grid.chunks import CHUNK, field_at
from stepsmooth.grid.mixture import OUTLIERS
from stepsmooth.grid.partial import Components
from stepsmooth.grid.volume import Bools, Floats32, Labels, Volume
from stepsmooth.model.arrays import Floats, Ints
from stepsmooth.model.elementary import exp, log

# Classes so many nats behind do not show in single precision.
FAR = 18.0
# Loops over a multiple of so many numbers leave none to be worked on one by one.
LANES = 32


@dataclass(frozen=True)
class Emission:
    """What a voxel of each class looks like: the components of the classes, and of air as the last class if there is.

    Levels and half precisions (K, p), log weights (K,), the class that owns each component, whether f touches it.
    """

    levels: Floats
    precision: Floats
    logs: Floats
    owner: Ints
    touched: Bools

    @property
    def n_classes(self) -> int:
        """Return how many classes there are, air included."""
        return int(self.owner.max()) + 1

    @classmethod
    def of(cls, components: Components, air: Air | None = None, *, uniform: bool = False) -> "Emission":
        """Return the emission with the shares as they are, or such that all classes have the same."""
        levels, variances, share, owner = components.levels, components.variances, components.shares, components.owner
        touched = np.ones(len(levels), dtype=bool)
        if air is not None:
            levels = np.vstack([levels, air.mean])
            variances = np.vstack([variances, np.maximum(air.variance, 1e-6 * variances.min(axis=0))])
            share = np.append(share * (1.0 - air.share), air.share)
            owner = np.append(owner, owner.max() + 1)
            touched = np.append(touched, False)
        if uniform:
            of_class = np.bincount(owner, share)
            share = share / (of_class[owner] * len(of_class))
        logs = np.log(np.maximum((1.0 - OUTLIERS) * share, 1e-300))
        logs = logs - 0.5 * np.sum(np.log(2.0 * np.pi * variances), axis=1)
        return cls(levels, 0.5 / variances, logs, owner.astype(np.int64), touched)


def label_voxels(volume: Volume, f: Floats32, multiplicative: bool, emission: Emission) -> tuple[Labels, Floats32]:
    """Return the most probable class of every voxel, -1 where none is present, and by how much it beats the second.

    The margin is the difference of the two probabilities, NaN where no voxel is present.
    """
    labels = np.empty(volume.grid, dtype=np.int16)
    margin = np.empty(volume.grid, dtype=np.float32)
    _label(
        volume.values,
        f,
        multiplicative,
        emission.levels,
        emission.precision,
        emission.logs,
        emission.owner,
        emission.touched,
        labels,
        margin,
    )
    return labels, margin


@njit(parallel=True, cache=True)
def _label(
    values: Floats32,
    f: Floats32,
    multiplicative: bool,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    owner: Ints,
    touched: Bools,
    labels: Labels,
    margin: Floats32,
) -> None:
    p, frames, nx, ny, _ = values.shape
    K, M = len(levels), owner.max() + 1
    for row in prange(frames * nx):
        t, x = row // nx, row % nx
        smooth, y = np.zeros(CHUNK), np.zeros((p, CHUNK))
        parts, score, best, sure = np.empty((K, CHUNK)), np.empty((M, CHUNK)), np.empty(CHUNK), np.empty(CHUNK)
        for j in range(ny):
            column, line, label, lead = values[:, t, x, j], f[x, j], labels[t, x, j], margin[t, x, j]
            first, end = _ends(column[0])
            label[:first], label[end:] = -1, -1
            lead[:first], lead[end:] = np.nan, np.nan
            for low in range(first, end, CHUNK):
                n = min(CHUNK, end - low)
                for c in range(p):
                    y[c, :n] = column[c, low : low + n]
                smooth[:n] = line[low : low + n]
                whole = -(-n // LANES) * LANES  # what is left over from the chunk before does no harm
                log_densities(y, smooth[:whole], multiplicative, levels, precision, logs, owner, touched, parts, score)
                _likeliest(score, whole, best, sure)
                _put(y[0], n, best, sure, label[low : low + n], lead[low : low + n])


@njit(cache=True)
def _ends(line: Floats32) -> tuple[int, int]:
    """Return where the first present voxel of a line is, and where the last one ends."""
    first, end = 0, len(line)
    while first < end and np.isnan(line[first]):
        first += 1
    while end > first and np.isnan(line[end - 1]):
        end -= 1
    return first, end


@njit(cache=True)
def _put(values: Floats, n: int, best: Floats, sure: Floats, label: Labels, lead: Floats32) -> None:
    for i in range(n):
        absent = np.isnan(values[i])
        label[i] = np.int16(-1.0 if absent else best[i])
        lead[i] = np.float32(np.nan if absent else sure[i])


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def log_densities(
    y: Floats,
    f: Floats,
    multiplicative: bool,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    owner: Ints,
    touched: Bools,
    parts: Floats,
    score: Floats,
) -> None:
    """Put the log densities of the classes of a chunk's voxels into `score` (M, CHUNK); `parts` is room.

    y (p, CHUNK) and f (n,) are those of the chunk; the components of the classes are given as `Emission` has them.
    """
    n, mixed = len(f), len(levels) > len(score)
    room = np.empty((2, CHUNK))
    gain, shift = room[0, :n], room[1, :n]
    field_at(f, multiplicative, gain, shift)
    every = parts if mixed else score
    for k in range(len(levels)):
        part = every[k]
        for i in range(n):
            part[i] = logs[k]
        for c in range(levels.shape[1]):
            values, level, half = y[c], levels[k, c], precision[k, c]
            if touched[k]:
                for i in range(n):
                    residual = values[i] - gain[i] * level - shift[i]
                    part[i] -= half * residual * residual
            else:
                for i in range(n):
                    residual = values[i] - level
                    part[i] -= half * residual * residual
    if mixed:
        _summed(parts, owner, n, score)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _summed(parts: Floats, owner: Ints, n: int, score: Floats) -> None:
    """Put the logarithms of the sums over each class's components into `score`."""
    mass = np.empty(CHUNK)
    for j in range(len(score)):
        top = score[j]
        for i in range(n):
            top[i], mass[i] = -np.inf, 0.0
        for k in range(len(parts)):
            if owner[k] == j:
                part = parts[k]
                for i in range(n):
                    top[i] = max(top[i], part[i])
        for k in range(len(parts)):
            if owner[k] == j:
                part = parts[k]
                for i in range(n):
                    mass[i] += exp(part[i] - top[i])
        for i in range(n):
            top[i] += log(mass[i])


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _likeliest(score: Floats, n: int, best: Floats, sure: Floats) -> None:
    """Put the class with the highest score into `best`, and by how much it beats the second into `sure`.

    The class is a float among floats: numbers of one size are worked on together.
    """
    top, second = np.empty(CHUNK), np.empty(CHUNK)
    top[:n] = score[0, :n]
    second[:n] = -np.inf
    best[:n] = 0.0
    for k in range(1, len(score)):
        other, number = score[k], float(k)
        for i in range(n):
            second[i] = max(second[i], min(top[i], other[i]))
        for i in range(n):
            best[i] = number if other[i] > top[i] else best[i]
        for i in range(n):
            top[i] = max(top[i], other[i])
    # Most voxels are sure of their class, as far as single precision can tell: the others are gathered.
    sure[:n] = 1.0
    open_, m = np.empty(CHUNK, dtype=np.int64), 0
    for i in range(n):
        open_[m] = i
        m += second[i] > top[i] - FAR
    behind, mass = np.empty(CHUNK), np.zeros(CHUNK)
    for k in range(len(score)):
        for i in range(m):
            behind[i] = score[k, open_[i]] - top[open_[i]]
        for i in range(m):
            mass[i] += exp(behind[i])
    for i in range(m):
        behind[i] = second[open_[i]] - top[open_[i]]
    for i in range(m):
        mass[i] = (1.0 - exp(behind[i])) / mass[i]
    for i in range(m):
        sure[open_[i]] = mass[i]


@njit(cache=True)
def class_scores(
    column: Floats32,
    z: int,
    f: float,
    multiplicative: bool,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    owner: Ints,
    touched: Bools,
    parts: Floats,
    score: Floats,
) -> None:
    """Put the log density of each class at a voxel into `score`; `parts` is room for the components.

    `column` are the channels' values along a line of voxels, (p, nz).
    """
    gain, shift = (np.exp(f), 0.0) if multiplicative else (1.0, f)
    mixed = len(levels) > len(score)
    if mixed:
        score[:] = -np.inf
    for k in range(len(levels)):
        value = logs[k]
        g, s = (gain, shift) if touched[k] else (1.0, 0.0)
        for c in range(levels.shape[1]):
            value -= precision[k, c] * (column[c, z] - g * levels[k, c] - s) ** 2
        parts[k] = value
        if mixed:
            score[owner[k]] = max(score[owner[k]], value)
        else:
            score[k] = value
    if mixed:
        for j in range(len(score)):
            top, mass = score[j], 0.0
            for k in range(len(levels)):
                if owner[k] == j and parts[k] > top - FAR:
                    mass += np.exp(parts[k] - top)
            score[j] = top + np.log(mass)
