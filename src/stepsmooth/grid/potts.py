"""The Potts prior: neighbouring voxels tend to share a class.

p(z) is proportional to exp(strength * sum over neighbours w [z_i = z_j]), over the voxels that touch by a face, an edge
or a corner, w falling with their distance in space. The labels descend to a mode by sweeps over the voxels (ICM, Besag
1986).
"""

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from stepsmooth.grid.labelling import Emission
from stepsmooth.grid.padding import Small, pad, unpad
from stepsmooth.grid.undecided import Undecided
from stepsmooth.grid.volume import Bools, Floats32, Labels, Volume
from stepsmooth.model.arrays import Floats, Ints

# The weight of a neighbour falls with this power of its distance: faces count, corners hardly do.
POWER = 6.0
N_SWEEPS = 6
# Strengths that are compared, and the strength of the sweeps from which it is first estimated.
STRENGTHS = np.arange(0.0, 12.5, 0.5)
FIRST_STRENGTH = 5.0
# So many sums over the classes, each below e^12 times their number, multiply up to a double.
N_FACTORS = 20
# ICM never takes back what it has smoothed: it labels best a little below the strength of the labels (measured).
CAUTION = 0.8
# The strength is estimated on about so many voxels, in slabs of so many planes.
N_FOR_STRENGTH, SLAB = 250_000, 6


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

    def steps(self, padded: tuple[int, ...]) -> Ints:
        """Return the offsets on a padded grid (t, x, y, z), counted in voxels."""
        _, _, ny, nz = padded
        return np.asarray(self.offsets @ np.array([ny * nz, nz, 1]))


def potts_labels(
    volume: Volume,
    f: Floats32,
    multiplicative: bool,
    emission: Emission,
    start: Labels,
    margin: Floats32,
    neighbours: Neighbours,
    strength: float | None = None,
) -> tuple[Labels, float]:
    """Return labels under a Potts prior and its strength, which is estimated by pseudo-likelihood unless given.

    `start` and `margin` are the labels without the prior, and how sure they are.
    """
    view = (volume, f, multiplicative, emission, margin, neighbours)
    padded = pad(start, emission.n_classes)
    if strength is None:
        first, planes = some_planes(start)
        rough = padded.copy()
        sweep(*view, rough, FIRST_STRENGTH, planes=first)
        strength = CAUTION * estimate_strength(rough, neighbours, emission.n_classes, planes)
        del rough
    sweep(*view, padded, strength)
    return unpad(padded, emission.n_classes), strength


def some_planes(labels: Labels) -> tuple[Bools, Bools]:
    """Return the planes x of some slabs, evenly spread, that hold about `N_FOR_STRENGTH` voxels, and their inner ones.

    In a small image all planes are both.
    """
    nx = labels.shape[1]
    period = round(SLAB * np.count_nonzero(labels >= 0) / N_FOR_STRENGTH)
    if period <= SLAB:
        return np.ones(nx, dtype=bool), np.ones(nx, dtype=bool)
    within = (np.arange(nx) + period // 2) % period
    return within < SLAB, (within > 0) & (within < SLAB - 1)


def sweep(
    volume: Volume,
    f: Floats32,
    multiplicative: bool,
    emission: Emission,
    margin: Floats32,
    neighbours: Neighbours,
    padded: Small,
    strength: float,
    sweeps: int = N_SWEEPS,
    planes: Bools | None = None,
) -> int:
    """Lower the energy of padded labels in place by some sweeps, and return how many changed in the last one."""
    if strength <= 0.0 or not len(neighbours.offsets):
        return 0
    undecided = Undecided.of(volume, f, multiplicative, emission, margin, strength, planes)
    pull = strength * neighbours.weights
    return undecided.sweep(padded, neighbours.steps(padded.shape), pull, emission.n_classes, sweeps)


def estimate_strength(padded: Small, neighbours: Neighbours, n_levels: int, planes: Bools | None = None) -> float:
    """Return the strength that maximises the pseudo-likelihood of padded labels, each given its neighbours (Besag)."""
    frames, nx = padded.shape[0], padded.shape[1] - 2
    planes = np.ones(nx, dtype=bool) if planes is None else planes
    parts = np.zeros((frames * nx, len(STRENGTHS)))
    steps = neighbours.steps(padded.shape)
    _pseudo_likelihood(padded, steps, neighbours.weights, n_levels, STRENGTHS, planes, parts)
    return float(STRENGTHS[np.argmax(parts.sum(axis=0))])


@njit(parallel=True, cache=True)
def _pseudo_likelihood(
    padded: Small, steps: Ints, weights: Floats, n_levels: int, strengths: Floats, planes: Bools, parts: Floats
) -> None:
    frames, nx, ny, nz = padded.shape
    flat, n = padded.reshape(-1), len(strengths)
    for row in prange(frames * (nx - 2)):
        t, x = row // (nx - 2), row % (nx - 2)
        if not planes[x]:
            continue
        share, alike = np.empty(n_levels + 1), 0
        # The logarithm of a product is taken once for many voxels; powers of equally spaced strengths multiply up.
        product, total, power, factors = np.ones(n), np.empty(n), np.empty(n), 0
        for y in range(x % 2, ny - 2, 2):  # a quarter of the voxels is plenty
            for z in range(0, nz - 2, 2 if nz > 3 else 1):
                at = ((t * nx + x + 1) * ny + y + 1) * nz + z + 1
                here = flat[at]
                if here == n_levels:
                    continue
                share[:] = 0.0
                for j in range(len(steps)):
                    share[flat[at + steps[j]]] += weights[j]
                if share[here] > 1.0 - 1e-9:
                    # By far the most common case, and the same for all such voxels.
                    alike += 1
                    continue
                total[:] = 1.0
                for k in range(n_levels):
                    if k != here:
                        _powers(np.exp(strengths[1] * (share[k] - share[here])), power)
                        for b in range(n):
                            total[b] += power[b]
                for b in range(n):
                    product[b] *= total[b]
                factors += 1
                if factors == N_FACTORS:
                    _take(product, parts[row])
                    factors = 0
        _take(product, parts[row])
        for b in range(n):
            parts[row, b] -= alike * np.log1p((n_levels - 1) * np.exp(-strengths[b]))


@njit(cache=True)
def _powers(base: float, out: Floats) -> None:
    """Put 1, base, base^2, ... into `out`."""
    power = 1.0
    for b in range(len(out)):
        out[b] = power
        power *= base


@njit(cache=True)
def _take(product: Floats, part: Floats) -> None:
    """Take the logarithms of products from `part`, and begin them anew."""
    for b in range(len(product)):
        part[b] -= np.log(product[b])
        product[b] = 1.0
