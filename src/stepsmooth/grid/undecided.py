"""The voxels that their neighbours may yet persuade, and sweeps over them alone.

A voxel whose class leads by more than all its neighbours together can pull never changes. The others are listed with
their likeliest classes, in an order of eight colours in which no two voxels of a colour touch: the result does not
depend on threads. After the first sweep only voxels beside a change are looked at again.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from stepsmooth.grid.labelling import Emission, class_scores
from stepsmooth.grid.padding import Small, small_type
from stepsmooth.grid.volume import Bools, Floats32, Volume
from stepsmooth.model.arrays import Floats, Ints

# So many classes of a voxel are kept, the likeliest.
N_CHOICES = 4
CHUNK = 4096
# So many chunks of a colour are worth several threads.
MANY = 8


@dataclass(frozen=True)
class Undecided:
    """Places on the padded grid, (n,), by colour; the likeliest classes of each, (n, w), and their log densities."""

    place: NDArray[np.int32]
    choice: Small
    score: Floats32
    bounds: Ints

    @classmethod
    def of(
        cls,
        volume: Volume,
        f: Floats32,
        multiplicative: bool,
        emission: Emission,
        margin: Floats32,
        strength: float,
        planes: Bools | None = None,
    ) -> "Undecided":
        """Return the voxels whose margin is too small for a Potts prior of a strength; of some planes x, if given."""
        frames, nx = margin.shape[:2]
        planes = np.ones(nx, dtype=bool) if planes is None else planes
        # A lead of s nats is a margin of at most (1 - e^-s) / (1 + e^-s), however many classes there are.
        limit = np.tanh(0.5 * strength) + 1e-6
        counts = np.zeros((8, frames * nx), dtype=np.int64)
        _count(margin, limit, planes, counts)
        ends = np.cumsum(counts.ravel())
        n, width = int(ends[-1]), min(emission.n_classes, N_CHOICES)
        place = np.empty(n, dtype=np.int32)
        choice = np.empty((n, width), dtype=small_type(emission.n_classes))
        score = np.empty((n, width), dtype=np.float32)
        starts = (ends - counts.ravel()).reshape(counts.shape)
        _list(
            volume.values,
            f,
            multiplicative,
            emission.levels,
            emission.precision,
            emission.logs,
            emission.owner,
            emission.touched,
            margin,
            limit,
            planes,
            starts.copy(),
            place,
            choice,
            score,
        )
        return cls(place, choice, score, np.append(starts[:, 0], n))

    def sweep(self, padded: Small, steps: Ints, pull: Floats, none: int, sweeps: int) -> int:
        """Lower the energy of padded labels in place by some sweeps; return how many changed in the last one.

        `steps` are the neighbours' offsets on the padded grid, `pull` what each adds to the score of its label.
        """
        stale = np.zeros(padded.size, dtype=np.uint8)
        stale[self.place] = 1
        flat, changed = padded.reshape(-1), 0
        for _ in range(sweeps):
            changed = 0
            for low, high in zip(self.bounds[:-1], self.bounds[1:]):
                counts = np.zeros(max(-(-(high - low) // CHUNK), 1), dtype=np.int64)
                run = _sweep_threads if len(counts) >= MANY else _sweep
                run(self.place, self.choice, self.score, low, high, flat, stale, steps, pull, none, counts)
                changed += int(counts.sum())
            if changed == 0:
                break
        return changed


@njit(parallel=True, cache=True)
def _count(margin: Floats32, limit: float, planes: Bools, counts: Ints) -> None:
    frames, nx, ny, nz = margin.shape
    for row in prange(frames * nx):
        t, x = row // nx, row % nx
        if not planes[x]:
            continue
        for y in range(ny):
            colour = 4 * (x % 2) + 2 * (y % 2)
            for z in range(nz):
                if margin[t, x, y, z] < limit:  # false for NaN
                    counts[colour + z % 2, row] += 1


@njit(parallel=True, cache=True)
def _list(
    values: Floats32,
    f: Floats32,
    multiplicative: bool,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    owner: Ints,
    touched: Bools,
    margin: Floats32,
    limit: float,
    planes: Bools,
    starts: Ints,
    place: NDArray[np.int32],
    choice: Small,
    score: Floats32,
) -> None:
    frames, nx, ny, nz = margin.shape
    n_classes, width = owner.max() + 1, choice.shape[1]
    for row in prange(frames * nx):
        t, x = row // nx, row % nx
        if not planes[x]:
            continue
        parts, every = np.empty(len(levels)), np.empty(n_classes)
        for y in range(ny):
            colour, column = 4 * (x % 2) + 2 * (y % 2), values[:, t, x, y]
            for z in range(nz):
                if not margin[t, x, y, z] < limit:
                    continue
                class_scores(
                    column, z, f[x, y, z], multiplicative, levels, precision, logs, owner, touched, parts, every
                )
                at = starts[colour + z % 2, row]
                starts[colour + z % 2, row] += 1
                place[at] = ((t * (nx + 2) + x + 1) * (ny + 2) + y + 1) * (nz + 2) + z + 1
                for j in range(width):
                    best = 0
                    for k in range(1, n_classes):
                        if every[k] > every[best]:
                            best = k
                    choice[at, j] = best
                    score[at, j] = every[best]
                    every[best] = -np.inf


@njit(cache=True)
def _sweep_chunk(
    place: NDArray[np.int32],
    choice: Small,
    score: Floats32,
    low: int,
    high: int,
    labels: Small,
    stale: NDArray[np.uint8],
    steps: Ints,
    pull: Floats,
    none: int,
) -> int:
    changed = 0
    share = np.empty(none + 1)
    for i in range(low, high):
        at = place[i]
        if stale[at] == 0:
            continue
        stale[at] = 0
        share[:] = 0.0
        for j in range(len(steps)):
            share[labels[at + steps[j]]] += pull[j]
        here = labels[at]
        best, top = here, -np.inf
        for k in range(choice.shape[1]):
            if choice[i, k] == here:
                top = score[i, k] + share[here]
        for k in range(choice.shape[1]):
            total = score[i, k] + share[choice[i, k]]
            if total > top:
                best, top = choice[i, k], total
        if best != here:
            labels[at] = best
            changed += 1
            for j in range(len(steps)):
                stale[at + steps[j]] = 1
    return changed


@njit(cache=True)
def _sweep(
    place: NDArray[np.int32],
    choice: Small,
    score: Floats32,
    low: int,
    high: int,
    labels: Small,
    stale: NDArray[np.uint8],
    steps: Ints,
    pull: Floats,
    none: int,
    counts: Ints,
) -> None:
    counts[0] = _sweep_chunk(place, choice, score, low, high, labels, stale, steps, pull, none)


@njit(parallel=True, cache=True)
def _sweep_threads(
    place: NDArray[np.int32],
    choice: Small,
    score: Floats32,
    low: int,
    high: int,
    labels: Small,
    stale: NDArray[np.uint8],
    steps: Ints,
    pull: Floats,
    none: int,
    counts: Ints,
) -> None:
    for chunk in prange(len(counts)):
        start = low + chunk * CHUNK
        end = min(start + CHUNK, high)
        counts[chunk] = _sweep_chunk(place, choice, score, start, end, labels, stale, steps, pull, none)
