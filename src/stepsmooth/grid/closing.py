"""The voxels under the field: f at each, sums over their labels, and classes of voxels from those of blocks."""

from dataclasses import replace

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
PIECE, SLAB = 1 << 18, 1 << 17


def field_on_grid(field: Field, coordinates: list[Floats], less: float = 0.0) -> Floats32:
    """Return f, less a constant, in single precision at a grid of three axes, without larger arrays on the way."""
    shape = tuple(len(x) for x in coordinates)
    if field.basis is None:
        return np.full(shape, 0.0 - less, dtype=np.float32)  # 0.0, not -0.0
    out = np.empty(shape, dtype=np.float32)
    (i, u), (j, v), (k, w) = (axis.local(x) for axis, x in zip(field.basis.axes, coordinates))
    theta = (field.theta - less).reshape(field.basis.sizes)  # splines sum to one
    # From knot to knot along a line the coefficients are the same.
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(k)) + 1, [len(k)]])
    _evaluate(theta, i, j, k, u, v, np.ascontiguousarray(w.T), bounds, out)
    return out


@njit(parallel=True, cache=True, fastmath={"contract"})
def _evaluate(
    theta: Floats, i: Ints, j: Ints, k: Ints, u: Floats, v: Floats, w: Floats, bounds: Ints, out: Floats32
) -> None:
    nx, ny, _ = out.shape
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
            for part in range(len(bounds) - 1):
                low, high = bounds[part], bounds[part + 1]
                _along_line(row[k[low] :], w[:, low:high], out[x, y, low:high])


@njit(cache=True, fastmath={"contract"})
def _along_line(theta: Floats, w: Floats, line: Floats32) -> None:
    if len(w) == 1:  # f does not vary along this axis
        line[:] = np.float32(theta[0])
        return
    first, second, third, fourth = w[0], w[1], w[2], w[3]
    for z in range(len(line)):
        line[z] = theta[0] * first[z] + theta[1] * second[z] + theta[2] * third[z] + theta[3] * fourth[z]


def label_sums(labels: Labels, smooth: Floats32, weights: Floats32 | None, n_levels: int) -> tuple[Floats, float]:
    """Return the weight of the voxels of each label, and the weighted sum of f over all that have one.

    Parameters
    ----------
    labels : (t, x, y, z) array, -1 where a voxel has none
    smooth : (x, y, z) array
    weights : (t, x, y, z) array or None
    n_levels : int

    Examples
    --------
    >>> f = np.array([1.0, 2.0, 3.0, 4.0], dtype=np.float32).reshape(4, 1, 1)
    >>> label_sums(np.array([0, 1, -1, 1], dtype=np.int16).reshape(1, 4, 1, 1), f, None, 2)
    (array([1., 2.]), 7.0)
    """
    frames = len(labels)
    mass = np.ones((1, 1), dtype=np.float32) if weights is None else weights.reshape(frames, -1)
    flat = labels.reshape(frames, -1)
    parts = np.zeros((frames, -(-flat.shape[1] // SLAB), n_levels + 1))
    _add_up(flat, smooth.reshape(-1), mass, weights is not None, parts)
    total = parts.sum(axis=(0, 1))
    return total[:-1], float(total[-1])


@njit(parallel=True, cache=True)
def _add_up(labels: Labels, smooth: Floats32, weights: Floats32, weighted: bool, parts: Floats) -> None:
    frames, slabs, columns = parts.shape
    n = labels.shape[1]
    for piece in prange(frames * slabs):  # each in its own row: the sums do not depend on threads
        t, slab = piece // slabs, piece % slabs
        part, moment = parts[t, slab], 0.0
        for i in range(slab * SLAB, min((slab + 1) * SLAB, n)):
            label = labels[t, i]
            if label >= 0:
                w = np.float64(weights[t, i]) if weighted else 1.0
                part[label] += w
                moment += w * smooth[i]
        part[columns - 1] = moment


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
    volume: Volume, f: Floats32, joint: JointFit, blocks: Blocks, air: Air | None = None, *, regrouping: bool = True
) -> tuple[Classes, Components, float]:
    """Return the classes of single voxels and their components: levels of pure blocks, proportions of all voxels.

    The last is how often a voxel alone would mistake its class.

    A mixture fitted to all voxels would widen the classes between which there is partial volume, and move the borders.
    The spread of a voxel is that of its block's mean and that within its block. Where two classes share a level, or
    voxels are left over that no class explains, a class may have gone without: `regrouping` looks for it among the
    voxels that are not air.
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
    if regrouping:
        tissue = sample if air is None else _less_air(sample, classes, components, air)
        if crowded(joint.told_apart) or _unexplained(tissue, classes, components) > UNEXPLAINED:
            classes = regroup(tissue, classes)
            components = Components.pure(classes)
    return classes, components, _doubt(sample, components, classes.outlier_density)


def _as_classes(components: Components, density: float) -> Classes:
    return Classes(components.levels, components.variances, components.shares, density)


def _doubt(sample: Sample, components: Components, density: float) -> float:
    """Return the mean probability of all classes but the likeliest."""
    every = _as_classes(components, density)
    q, _ = posterior(sample.Y, sample.gain, sample.shift, sample.weights, every)
    of_class = q @ np.eye(int(components.owner.max()) + 1)[components.owner]
    sure = of_class.max(axis=1) / np.maximum(of_class.sum(axis=1), 1e-300)
    return 1.0 - float(np.average(sure, weights=sample.weights))


def _unexplained(sample: Sample, classes: Classes, components: Components) -> float:
    """Return the share of the voxels that no class explains, pure or mixed."""
    every = _as_classes(components, classes.outlier_density)
    explained = class_sums(sample.Y, sample.gain, sample.shift, sample.weights, every).mass.sum()
    return 1.0 - float(explained / sample.weights.sum())


def _less_air(sample: Sample, classes: Classes, components: Components, air: Air) -> Sample:
    """Return the voxels, each with the weight that remains if air takes its part.

    Left out are none: a tissue nearly as dark as air would lose its darker half, and look like two.
    """
    every = _as_classes(components, classes.outlier_density)
    tissue = (1.0 - OUTLIERS) * sample.densities(every) @ components.shares + OUTLIERS * classes.outlier_density
    variance = np.maximum(air.variance, 1e-6 * components.variances.min(axis=0))
    in_air = np.exp(-0.5 * np.sum((sample.Y - air.mean) ** 2 / variance + np.log(2.0 * np.pi * variance), axis=1))
    share, part = air.share, np.zeros(len(tissue))
    for _ in range(N_STEPS):
        part = share * in_air / (share * in_air + (1.0 - share) * tissue)
        share = float(np.average(part, weights=sample.weights))
    return replace(sample, weights=sample.weights * (1.0 - part))
