"""The closing passes at full resolution: classes of the voxels under the field, then labels and how sure they are."""

from dataclasses import dataclass, replace

import numpy as np
from numba import njit, prange

from stepsmooth.grid.background import Air
from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.classes import Sample, crowded, regroup
from stepsmooth.grid.field import Field
from stepsmooth.grid.joint import JointFit, sample_of
from stepsmooth.grid.mixture import OUTLIERS, POOLED, Classes, class_sums, gain_and_shift, posterior
from stepsmooth.grid.partial import Components, with_partial_volume
from stepsmooth.grid.volume import Bools, Floats32, Labels, Volume
from stepsmooth.model.arrays import Floats, Ints

# The proportions of the classes are estimated on about so many voxels.
N_VOXELS = 30_000
N_STEPS = 6
# Of voxels that classes describe well, fewer than this share look like outliers.
UNEXPLAINED = 3.0 * OUTLIERS
PIECE = 1 << 18
# Classes so many nats behind do not show in single precision.
FAR = 18.0


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


def field_on_grid(field: Field, coordinates: list[Floats]) -> Floats32:
    """Return f in single precision at a grid of three axes, without larger arrays on the way."""
    out = np.zeros(tuple(len(x) for x in coordinates), dtype=np.float32)
    if field.basis is not None:
        local = [axis.local(x) for axis, x in zip(field.basis.axes, coordinates)]
        (i, u), (j, v), (k, w) = local
        _evaluate(field.theta.reshape(field.basis.sizes), i, j, k, u, v, w, out)
    return out


@njit(parallel=True, cache=True)
def _evaluate(theta: Floats, i: Ints, j: Ints, k: Ints, u: Floats, v: Floats, w: Floats, out: Floats32) -> None:
    nx, ny, nz = out.shape
    for x in prange(nx):
        plane = np.zeros(theta.shape[1:])
        for a in range(u.shape[1]):
            plane += u[x, a] * theta[i[x] + a]
        row = np.empty(theta.shape[2])
        for y in range(ny):
            row[:] = 0.0
            for b in range(v.shape[1]):
                for c in range(len(row)):
                    row[c] += v[y, b] * plane[j[y] + b, c]
            for z in range(nz):
                total = 0.0
                for c in range(w.shape[1]):
                    total += w[z, c] * row[k[z] + c]
                out[x, y, z] = total


def voxel_sample(volume: Volume, f: Floats32, multiplicative: bool, most: int = N_VOXELS) -> Sample:
    """Return at most about `most` present voxels, spread evenly over all, with what the field does to each."""
    where = _spread_evenly(volume.present.reshape(-1), most)
    values = volume.values.reshape(volume.n_channels, -1)[:, where].T.astype(np.float64)
    gain, shift = gain_and_shift(f.reshape(-1)[where % f.size].astype(np.float64), multiplicative)
    weights = np.ones(len(where)) if volume.weights is None else volume.weights.reshape(-1)[where].astype(np.float64)
    return Sample(np.ascontiguousarray(values), gain, shift, weights)


def _spread_evenly(present: Bools, most: int) -> Ints:
    """Return the places of at most `most` present voxels, piece by piece: there may be very many."""
    n = int(np.count_nonzero(present))
    ranks = np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.int64)
    found, seen = [], 0
    for low in range(0, len(present), PIECE):
        here = np.flatnonzero(present[low : low + PIECE])
        first, last = np.searchsorted(ranks, (seen, seen + len(here)))
        found.append(low + here[ranks[first:last] - seen])
        seen += len(here)
    return np.concatenate(found)


def voxel_classes(
    volume: Volume, f: Floats32, joint: JointFit, blocks: Blocks, *, regrouping: bool = True
) -> tuple[Classes, Components]:
    """Return the classes of single voxels and their components: levels of pure blocks, proportions of all voxels.

    A mixture fitted to all voxels would widen the classes between which there is partial volume, and move the borders.
    The spread of a voxel is that of its block's mean and that within its block. Where two classes share a level, or
    voxels are left over that no class explains, a class may have gone without: `regrouping` looks for it among the
    voxels.
    """
    inside = sample_of(blocks, joint.field)
    q, _ = posterior(inside.Y, inside.gain, inside.shift, inside.weights, joint.classes)
    q *= inside.weights[:, None]
    weighted, mass = q, q.sum(axis=0)[:, None]
    pooled = weighted.sum(axis=1) @ blocks.within / max(float(mass.sum()), 1e-300)
    within = (weighted.T @ blocks.within + POOLED * pooled) / (mass + POOLED)
    classes = replace(joint.classes, variances=joint.classes.variances + within).ordered()
    sample = voxel_sample(volume, f, joint.field.multiplicative)
    for _ in range(N_STEPS):
        share = class_sums(sample.Y, sample.gain, sample.shift, sample.weights, classes).mass
        classes = replace(classes, proportions=np.maximum(share, 1e-12 * share.sum()) / share.sum())
    components = with_partial_volume(sample, classes)
    if regrouping and (crowded(classes) or _unexplained(sample, classes, components) > UNEXPLAINED):
        classes = regroup(sample, classes)
        components = Components.pure(classes)
    return classes, components


def _unexplained(sample: Sample, classes: Classes, components: Components) -> float:
    """Return the share of the voxels that no class explains, pure or mixed."""
    every = Classes(components.levels, components.variances, components.shares, classes.outlier_density)
    explained = class_sums(sample.Y, sample.gain, sample.shift, sample.weights, every).mass.sum()
    return 1.0 - float(explained / sample.weights.sum())


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
            column, smooth = values[:, t, x, y], f[x, y]
            for z in range(nz):
                if np.isnan(column[0, z]):
                    continue
                class_scores(
                    column, z, smooth[z], multiplicative, levels, precision, logs, owner, touched, parts, score
                )
                best = 0
                for k in range(1, n_classes):
                    if score[k] > score[best]:
                        best = k
                mass, second = 1.0, 0.0
                for k in range(n_classes):
                    # Farther behind, a class is nothing in single precision.
                    if k != best and score[k] > score[best] - FAR:
                        odds = np.exp(score[k] - score[best])
                        mass += odds
                        second = max(second, odds)
                labels[t, x, y, z] = best
                margin[t, x, y, z] = (1.0 - second) / mass
