"""The Potts prior: neighbouring voxels tend to share a class.

p(z) is proportional to exp(strength * sum over neighbours w [z_i = z_j]), over the voxels that touch by a face, an edge
or a corner, w falling with their distance in space. The labels descend to a mode by sweeps over the voxels (ICM, Besag
1986), in an order of eight colours in which no two voxels of a colour touch: the result does not depend on threads.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from stepsmooth.grid.closing import Emission, class_scores
from stepsmooth.grid.volume import Bools, Floats32, Labels, Volume
from stepsmooth.model.arrays import Floats, Ints

# The weight of a neighbour falls with this power of its distance: faces count, corners hardly do.
POWER = 6.0
N_SWEEPS = 6
# Strengths that are compared, and the strength of the sweeps from which it is first estimated.
STRENGTHS = np.arange(0.0, 12.5, 0.5)
FIRST_STRENGTH = 5.0
# ICM never takes back what it has smoothed: it labels best a little below the strength of the labels (measured).
CAUTION = 0.8


@dataclass(frozen=True)
class Neighbours:
    """The offsets (m, 3) of the neighbours of a voxel, and their weights (m,), that sum to one.

    Examples
    --------
    >>> Neighbours.of((9, 9, 1), (1.0, 1.0, 1.0)).weights.round(3)
    array([0.028, 0.222, 0.028, 0.222, 0.222, 0.028, 0.222, 0.028])
    """

    offsets: Ints
    weights: Floats

    @classmethod
    def of(cls, grid: tuple[int, ...], spacing: tuple[float, ...]) -> "Neighbours":
        """Return the neighbours on a grid of three axes; axes of length one have none."""
        steps = [(-1, 0, 1) if n > 1 else (0,) for n in grid]
        offsets = np.array([(i, j, k) for i in steps[0] for j in steps[1] for k in steps[2] if i or j or k])
        offsets = offsets.reshape(-1, 3).astype(np.int64)
        distance = np.sqrt(np.sum((offsets * np.array(spacing)) ** 2, axis=1))
        weights = (distance / max(float(distance.min(initial=np.inf)), 1e-300)) ** -POWER
        return cls(offsets, weights / max(float(weights.sum()), 1e-300))


def potts_labels(
    volume: Volume,
    f: Floats32,
    multiplicative: bool,
    emission: Emission,
    start: Labels,
    neighbours: Neighbours,
    strength: float | None = None,
) -> tuple[Labels, float]:
    """Return labels under a Potts prior and its strength, which is estimated by pseudo-likelihood unless given."""
    labels = start.copy()
    if strength is None:
        sweep_labels(volume, f, multiplicative, emission, labels, neighbours, FIRST_STRENGTH)
        strength = CAUTION * estimate_strength(labels, neighbours, emission.n_classes)
        labels = start.copy()
    sweep_labels(volume, f, multiplicative, emission, labels, neighbours, strength)
    return labels, strength


def sweep_labels(
    volume: Volume,
    f: Floats32,
    multiplicative: bool,
    emission: Emission,
    labels: Labels,
    neighbours: Neighbours,
    strength: float,
    sweeps: int = N_SWEEPS,
) -> int:
    """Lower the energy of the labels in place by some sweeps; return how many changed in the last one."""
    changed = 0
    for _ in range(sweeps):
        counts = np.zeros((8, labels.shape[0] * labels.shape[1]), dtype=np.int64)
        _sweep(
            volume.values,
            f,
            multiplicative,
            emission.levels,
            emission.precision,
            emission.logs,
            emission.owner,
            emission.touched,
            labels,
            neighbours.offsets,
            strength * neighbours.weights,
            counts,
        )
        changed = int(counts.sum())
        if changed == 0:
            break
    return changed


@njit(parallel=True, cache=True)
def _sweep(
    values: Floats32,
    f: Floats32,
    multiplicative: bool,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    owner: Ints,
    touched: Bools,
    labels: Labels,
    offsets: Ints,
    pull: Floats,
    counts: Ints,
) -> None:
    _, frames, nx, ny, nz = values.shape
    n_levels = owner.max() + 1
    for colour in range(8):
        for row in prange(frames * nx):
            t, x = row // nx, row % nx
            if x % 2 != colour // 4:
                continue
            parts, score = np.empty(len(levels)), np.empty(n_levels)
            for y in range((colour // 2) % 2, ny, 2):
                for z in range(colour % 2, nz, 2):
                    here = labels[t, x, y, z]
                    if here < 0:
                        continue
                    class_scores(
                        values,
                        t,
                        x,
                        y,
                        z,
                        f[x, y, z],
                        multiplicative,
                        levels,
                        precision,
                        logs,
                        owner,
                        touched,
                        parts,
                        score,
                    )
                    for j in range(len(offsets)):
                        u, v, w = x + offsets[j, 0], y + offsets[j, 1], z + offsets[j, 2]
                        if 0 <= u < nx and 0 <= v < ny and 0 <= w < nz:
                            beside = labels[t, u, v, w]
                            if beside >= 0:
                                score[beside] += pull[j]
                    best = here
                    for k in range(n_levels):
                        if score[k] > score[best]:
                            best = k
                    if best != here:
                        labels[t, x, y, z] = best
                        counts[colour, row] += 1


def estimate_strength(labels: Labels, neighbours: Neighbours, n_levels: int) -> float:
    """Return the strength that maximises the labels' pseudo-likelihood: of each given its neighbours (Besag 1975)."""
    parts = np.zeros((labels.shape[0] * labels.shape[1], len(STRENGTHS)))
    _pseudo_likelihood(labels, neighbours.offsets, neighbours.weights, n_levels, STRENGTHS, parts)
    return float(STRENGTHS[np.argmax(parts.sum(axis=0))])


@njit(parallel=True, cache=True)
def _pseudo_likelihood(
    labels: Labels, offsets: Ints, weights: Floats, n_levels: int, strengths: Floats, parts: Floats
) -> None:
    frames, nx, ny, nz = labels.shape
    for row in prange(frames * nx):
        t, x = row // nx, row % nx
        share = np.empty(n_levels)
        for y in range(x % 2, ny, 2):  # a quarter of the voxels is plenty
            for z in range(0, nz, 2 if nz > 1 else 1):
                here = labels[t, x, y, z]
                if here < 0:
                    continue
                share[:] = 0.0
                for j in range(len(offsets)):
                    u, v, w = x + offsets[j, 0], y + offsets[j, 1], z + offsets[j, 2]
                    if 0 <= u < nx and 0 <= v < ny and 0 <= w < nz and labels[t, u, v, w] >= 0:
                        share[labels[t, u, v, w]] += weights[j]
                if share[here] == 1.0:
                    # By far the most common case, and the same for all such voxels.
                    for b in range(len(strengths)):
                        parts[row, b] -= np.log1p((n_levels - 1) * np.exp(-strengths[b]))
                    continue
                for b in range(len(strengths)):
                    total = 0.0
                    for k in range(n_levels):
                        total += np.exp(strengths[b] * (share[k] - share[here]))
                    parts[row, b] -= np.log(total)
