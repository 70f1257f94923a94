"""Partial volume: voxels that two classes share, and whose label is the class that fills more than half of them.

Between each two levels lie six mixed components, three on either side of the middle; those of a side belong to the
class on that side. Without them the classes between others would take the mixed voxels, grow wide, and push the borders
between labels away from the middle. Where the image has no mixed voxels the components get no share and are dropped.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from stepsmooth.grid.classes import Sample
from stepsmooth.grid.mixture import POOLED, Classes, class_sums
from stepsmooth.model.arrays import Floats, Ints

# How much of the voxel the owning class fills, in the components of its side.
FILLED = (0.6, 0.75, 0.9)
# Mixed voxels of a pair of classes that make up less than this share are taken for noise.
LEAST_SHARE = 0.01
N_STEPS = 15
# A mixed component must be told from a pure one: its middle lies so many standard deviations from both levels.
LEAST_GAP = 2.5
# and so many if a third level lies on the way, whose noisy voxels must not be taken for mixed ones.
INTERRUPTED_GAP = 5.0


@dataclass(frozen=True)
class Components:
    """The components of all classes: levels and variances (K, p), shares (K,), and the class that owns each."""

    levels: Floats
    variances: Floats
    shares: Floats
    owner: Ints

    @property
    def mixed(self) -> bool:
        """Return whether there are mixed components."""
        return len(self.owner) > int(self.owner.max()) + 1

    @classmethod
    def pure(cls, classes: Classes) -> "Components":
        """Return one component for each class."""
        return cls(classes.levels, classes.variances, classes.proportions, np.arange(classes.count))


def with_partial_volume(sample: Sample, classes: Classes) -> Components:
    """Return the components of classes at fixed levels, with mixed ones for the pairs that have mixed voxels."""
    pairs = [pair for pair in combinations(range(classes.count), 2) if _may_mix(classes, *pair)]
    while pairs:
        components, share = _fit(sample, classes, pairs)
        kept = [pair for pair, s in zip(pairs, share) if s >= LEAST_SHARE]
        if len(kept) == len(pairs):
            return components
        pairs = kept
    return Components.pure(classes)


def _may_mix(classes: Classes, k: int, j: int) -> bool:
    """Return whether mixed voxels of two classes can be told from pure ones."""
    gap = _gap(classes, k, j)
    return gap > INTERRUPTED_GAP or (gap > LEAST_GAP and not _interrupted(classes, k, j))


def _gap(classes: Classes, k: int, j: int) -> float:
    """Return half the distance of two levels, in standard deviations."""
    spread = (classes.variances[k] + classes.variances[j]) / 2.0
    return 0.5 * float(np.sqrt(np.sum((classes.levels[k] - classes.levels[j]) ** 2 / spread)))


def _interrupted(classes: Classes, k: int, j: int) -> bool:
    """Return whether another level lies so near the way from one to the other that its voxels would look mixed."""
    scale = np.sqrt(np.mean(classes.variances, axis=0))
    way = (classes.levels[j] - classes.levels[k]) / scale
    offsets = (np.delete(classes.levels, [k, j], axis=0) - classes.levels[k]) / scale
    along = offsets @ way / float(way @ way)
    aside = np.sqrt(np.sum((offsets - along[:, None] * way) ** 2, axis=1))
    return bool(np.any((along > 0.0) & (along < 1.0) & (aside < LEAST_GAP)))


def _fit(sample: Sample, classes: Classes, pairs: list[tuple[int, int]]) -> tuple[Components, Floats]:
    """Return the components and the share of each pair after some steps of EM at fixed levels."""
    M, per_pair = classes.count, 2 * len(FILLED)
    levels, owner = list(classes.levels), list(range(M))
    for k, j in pairs:
        for own, other in ((k, j), (j, k)):
            for a in FILLED:
                levels.append(a * classes.levels[own] + (1.0 - a) * classes.levels[other])
                owner.append(own)
    pure, mixed = classes.proportions * 0.9, np.full(len(pairs), 0.1 / len(pairs))
    variances = classes.variances
    components = Components(np.array(levels), np.zeros((len(levels), 0)), np.zeros(0), np.array(owner))
    for _ in range(N_STEPS):
        shares = np.concatenate([pure, np.repeat(mixed / per_pair, per_pair)])
        spread = np.concatenate([variances, *(_mixed_variance(classes, variances, pair) for pair in pairs)])
        components = Components(components.levels, spread, shares, components.owner)
        every = Classes(components.levels, spread, shares, classes.outlier_density)
        sums = class_sums(sample.Y, sample.gain, sample.shift, sample.weights, every)
        mass, squares = sums.mass, sums.squares[:M]
        # Pure voxels spread no more than pure blocks say; mixed ones no longer widen them.
        fresh = (squares + POOLED * classes.variances) / (mass[:M, None] + POOLED)
        variances = np.minimum(fresh, classes.variances)
        total = mass.sum()
        pure = np.maximum(mass[:M] / total, 1e-12)
        mixed = mass[M:].reshape(len(pairs), per_pair).sum(axis=1) / total
        if np.all(mixed < LEAST_SHARE):
            break
    return components, mixed


def _mixed_variance(classes: Classes, variances: Floats, pair: tuple[int, int]) -> Floats:
    """Return the variance of a pair's mixed components: the noise, and enough to fill the space between them."""
    k, j = pair
    step = (classes.levels[k] - classes.levels[j]) * (FILLED[1] - FILLED[0])
    one = np.minimum(variances[k], variances[j]) + step**2 / 12.0
    return np.tile(one, (2 * len(FILLED), 1))
