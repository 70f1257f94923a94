"""The closing passes at full resolution: classes of the voxels under the field, then labels and how sure they are."""

from dataclasses import dataclass, replace

import numpy as np
from numba import njit, prange

from stepsmooth.grid.background import Air
from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.classes import Sample, crowded, regroup
from stepsmooth.grid.joint import JointFit, sample_of
from stepsmooth.grid.mixture import OUTLIERS, POOLED, Classes, gain_and_shift, posterior
from stepsmooth.grid.partial import Components, with_partial_volume
from stepsmooth.grid.tensor import TensorBasis
from stepsmooth.grid.volume import Bools, Floats32, Labels, Volume
from stepsmooth.model.arrays import Floats, Ints

# The proportions of the classes are estimated on about so many voxels.
N_VOXELS = 100_000
N_STEPS = 6


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


def field_on_grid(basis: TensorBasis, theta: Floats) -> Floats32:
    """Return B theta at every voxel in single precision, slab by slab, so that no larger array is ever made."""
    first, *others = basis.values
    rest = TensorBasis(basis.axes[1:], tuple(others))
    out = np.empty(tuple(len(v) for v in basis.values), dtype=np.float32)
    slabs = np.tensordot(first, theta.reshape(basis.sizes), axes=(1, 0))
    for i in range(len(out)):
        out[i] = rest.evaluate(slabs[i])
    return out


def voxel_sample(volume: Volume, f: Floats32, multiplicative: bool, most: int = N_VOXELS) -> Sample:
    """Return at most about `most` present voxels, spread evenly over all, with what the field does to each."""
    where = np.flatnonzero(volume.present)
    if len(where) > most:
        where = where[np.linspace(0, len(where) - 1, most).astype(np.int64)]
    values = volume.values.reshape(volume.n_channels, -1)[:, where].T.astype(np.float64)
    gain, shift = gain_and_shift(f.reshape(-1)[where % f.size].astype(np.float64), multiplicative)
    weights = np.ones(len(where)) if volume.weights is None else volume.weights.reshape(-1)[where].astype(np.float64)
    return Sample(np.ascontiguousarray(values), gain, shift, weights)


def voxel_classes(
    volume: Volume, f: Floats32, joint: JointFit, blocks: Blocks, *, regrouping: bool = True
) -> tuple[Classes, Components]:
    """Return the classes of single voxels and their components: levels of pure blocks, proportions of all voxels.

    A mixture fitted to all voxels would widen the classes between which there is partial volume, and move the borders.
    The spread of a voxel is that of its block's mean and that within its block. Where two classes share a level,
    another may have gone without: `regrouping` looks for it among the voxels.
    """
    inside = sample_of(blocks, joint.field)
    q, _ = posterior(inside.Y, inside.gain, inside.shift, inside.weights, joint.classes)
    weighted = q * inside.weights[:, None]
    mass = weighted.sum(axis=0)[:, None]
    pooled = weighted.sum(axis=1) @ blocks.within / max(float(mass.sum()), 1e-300)
    within = (weighted.T @ blocks.within + POOLED * pooled) / (mass + POOLED)
    classes = replace(joint.classes, variances=joint.classes.variances + within).ordered()
    sample = voxel_sample(volume, f, joint.field.multiplicative)
    for _ in range(N_STEPS):
        q, _ = posterior(sample.Y, sample.gain, sample.shift, sample.weights, classes)
        share = sample.weights @ q
        classes = replace(classes, proportions=np.maximum(share, 1e-12 * share.sum()) / share.sum())
    if regrouping and crowded(classes):
        classes = regroup(sample, classes)
        return classes, Components.pure(classes)
    return classes, with_partial_volume(sample, classes)


def label_voxels(volume: Volume, f: Floats32, multiplicative: bool, emission: Emission) -> tuple[Labels, Floats32]:
    """Return the most probable class of every voxel, -1 where none is present, and by how much it beats the second.

    The margin is the difference of the two probabilities, NaN where no voxel is present.
    """
    labels = np.full(volume.grid, -1, dtype=np.int16)
    margin = np.full(volume.grid, np.nan, dtype=np.float32)
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


@njit(cache=True)
def class_scores(
    values: Floats32,
    t: int,
    x: int,
    y: int,
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
    """Put the log density of each class at a voxel into `score`; `parts` is room for the components."""
    gain, shift = (np.exp(f), 0.0) if multiplicative else (1.0, f)
    score[:] = -np.inf
    for k in range(len(levels)):
        value = logs[k]
        g, s = (gain, shift) if touched[k] else (1.0, 0.0)
        for c in range(levels.shape[1]):
            value -= precision[k, c] * (values[c, t, x, y, z] - g * levels[k, c] - s) ** 2
        parts[k] = value
        score[owner[k]] = max(score[owner[k]], value)
    if len(levels) > len(score):
        for j in range(len(score)):
            top, mass = score[j], 0.0
            for k in range(len(levels)):
                if owner[k] == j:
                    mass += np.exp(parts[k] - top)
            score[j] = top + np.log(mass)


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
    _, frames, nx, ny, nz = values.shape
    n_classes = owner.max() + 1
    for row in prange(frames * nx):
        t, x = row // nx, row % nx
        parts, score = np.empty(len(levels)), np.empty(n_classes)
        for y in range(ny):
            for z in range(nz):
                if np.isnan(values[0, t, x, y, z]):
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
                best = np.argmax(score)
                mass, second = 0.0, 0.0
                for k in range(n_classes):
                    odds = np.exp(score[k] - score[best])
                    mass += odds
                    if k != best and odds > second:
                        second = odds
                labels[t, x, y, z] = best
                margin[t, x, y, z] = (1.0 - second) / mass
