"""Means of the points of one label in one neighbourhood: labelled observations with little noise."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm as normal

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.topology.kdtree import KDTree
from stepsmooth.topology.modulus import level_gap

PURE = 0.25  # most bias of a mean through points of other levels, as a share of the gap


@dataclass(frozen=True)
class Sample:
    """Labelled points with their noise.

    Positions (n, d), labels (n,), levels (M, p), observations and fitted f (n, p), standard deviation of the noise in
    each channel for each level (M,).
    """

    X: Floats
    labels: Ints
    levels: Floats
    Y: Floats
    smooth: Floats
    deviation: Floats


@dataclass(frozen=True)
class Means:
    """One labelled mean for each neighbourhood and label.

    `member` is the mean that each point belongs to, -1 if it was left out: too many of its points may be there by noise
    alone, or they differ by more than noise. `bias` bounds what points of other levels add to a mean.
    """

    member: Ints
    labels: Ints
    counts: Floats
    X: Floats
    Y: Floats
    smooth: Floats
    bias: Floats


def pool(sample: Sample, tree: KDTree, depth: int, doubt: float) -> Means:
    """Return the means over the nodes of a k-d tree at one depth; `doubt` is the chance that any bias is larger.

    Examples
    --------
    >>> from stepsmooth.topology.kdtree import build
    >>> x, labels = np.arange(40.0)[:, None], np.arange(40) // 10 % 2
    >>> levels = np.array([[0.0], [1.0]])
    >>> sample = Sample(x, labels, levels, levels[labels], np.zeros_like(x), np.full(2, 0.01))
    >>> pool(sample, build(x), depth=2, doubt=0.05).labels
    array([0, 1, 0, 1])
    """
    first, m = 2**depth - 1, len(sample.levels)
    sizes = (tree.end - tree.begin)[first : 2 * first + 1]
    group = np.empty(len(sample.labels), dtype=np.int64)
    group[tree.order] = np.repeat(np.arange(len(sizes)), sizes)
    cell = group * m + sample.labels
    counts = np.bincount(cell, minlength=len(sizes) * m).astype(np.float64)
    bias = _turned_bias(sample, counts.reshape(-1, m)) + _mixing_bias(sample, cell, counts, doubt)
    keep = np.flatnonzero((counts > 0) & (bias < PURE * level_gap(sample.levels)))
    name = np.full(counts.size, -1, dtype=np.int64)
    name[keep] = np.arange(len(keep))
    safe = np.maximum(counts, 1.0)[:, None]
    X, Y, f = (_sums(v, cell, counts.size)[keep] / safe[keep] for v in (sample.X, sample.Y, sample.smooth))
    return Means(name[cell], keep % m, counts[keep], X, Y, f, bias[keep])


def single_points(sample: Sample) -> Means:
    """Return the points themselves as means, for noise so small that it turns no label.

    Examples
    --------
    >>> x, levels = np.arange(2.0)[:, None], np.array([[0.0], [1.0]])
    >>> single_points(Sample(x, np.array([0, 1]), levels, levels, 0 * x, np.full(2, 0.01))).counts
    array([1., 1.])
    """
    n = len(sample.labels)
    return Means(np.arange(n), sample.labels, np.ones(n), sample.X, sample.Y, sample.smooth, np.zeros(n))


def class_deviations(noise_variance: Anything, n_levels: int, n_channels: int) -> Floats:
    """Return the largest standard deviation over channels for each level, (M,).

    Examples
    --------
    >>> class_deviations([[1.0, 4.0], [9.0, 4.0]], 2, 2), class_deviations(4.0, 3, 1)
    (array([2., 3.]), array([2., 2., 2.]))
    """
    variance = np.asarray(noise_variance, dtype=np.float64)
    if not np.all(np.isfinite(variance) & (variance > 0.0)):
        raise ValueError(f"noise_variance must be finite and above 0, or 0 for all; found {variance.tolist()}.")
    if variance.shape == (n_levels, n_channels):
        return np.asarray(np.sqrt(variance.max(axis=1)))
    if variance.ndim == 0 or (n_channels > 1 and variance.shape == (n_channels,)):
        return np.full(n_levels, float(np.sqrt(variance.max())))
    if n_channels == 1 and variance.shape == (n_levels,):
        return np.asarray(np.sqrt(variance))
    raise ValueError(
        f"noise_variance must be one number, one for each of the {n_levels} levels of scalar data, one for each of the "
        f"{n_channels} channels, or one for each level and channel; found shape {variance.shape}."
    )


def turning(levels: Floats, deviation: Floats) -> Floats:
    """Return bounds on the probabilities that noise takes a point of level k to level l, (M, M).

    Examples
    --------
    >>> turning(np.array([[0.0], [2.0], [4.0]]), np.ones(3)).round(3)  # on a line the next level comes first
    array([[0.   , 0.159, 0.   ],
           [0.159, 0.   , 0.159],
           [0.   , 0.159, 0.   ]])
    """
    out = normal.sf(np.linalg.norm(levels[:, None] - levels[None], axis=2) / (2.0 * deviation[:, None]))
    if levels.shape[1] == 1:
        rank = np.argsort(np.argsort(levels[:, 0]))
        out[np.abs(rank[:, None] - rank[None]) > 1] = 0.0
    np.fill_diagonal(out, 0.0)
    return np.asarray(out)


def expected_flips(labels: Ints, levels: Floats, deviation: Floats) -> float:
    """Return how many labels noise alone is expected to turn, at most, if each point takes its nearest level.

    Examples
    --------
    >>> round(expected_flips(np.array([0, 1] * 500), np.array([[0.0], [1.0]]), np.full(2, 0.5)), 1)  # 1000 P(N > 1)
    158.7
    """
    return float(np.bincount(labels, minlength=len(levels)) @ turning(levels, deviation).sum(axis=1))


def _turned_bias(sample: Sample, counts: Floats) -> Floats:
    """Bound what turned labels add to each mean: points of other levels that came in, own points that left."""
    far = np.linalg.norm(sample.levels[:, None] - sample.levels[None], axis=2)
    turned, sd = turning(sample.levels, sample.deviation), sample.deviation[:, None]
    left = np.where(turned > 0.0, sd * normal.pdf(far / (2.0 * sd)), 0.0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        came = np.where(counts > 0, counts @ (turned * far) / counts, np.inf)
    return np.asarray((came + left).ravel())


def _mixing_bias(sample: Sample, cell: Ints, counts: Floats, doubt: float) -> Floats:
    """Bound what a share w of points of another level adds to each mean: at most w times the distance of the levels.

    Such points spread the mean's points by v = distance sqrt(w (1 - w)). The variance that is seen is then at least
    s^2 (1 - z sqrt(2 / (m - 1))) + v^2 - 2 z s v / sqrt(m), up to the chance that z stands for, which bounds v.
    """
    rest, p, m = sample.Y - sample.smooth, sample.Y.shape[1], len(sample.levels)
    safe = np.maximum(counts, 1.0)
    centred = rest - (_sums(rest, cell, counts.size) / safe[:, None])[cell]
    freedom = np.maximum(counts - 1.0, 1.0)
    seen = _sums(np.square(centred).sum(axis=1, keepdims=True), cell, counts.size)[:, 0] / freedom
    z = float(normal.isf(doubt / max(1, int(np.sum(counts > 1)))))
    own = np.resize(np.arange(m), counts.size)  # cells run over labels first
    excess = seen - p * sample.deviation[own] ** 2 * (1.0 - z * np.sqrt(2.0 / (p * freedom)))
    bias = np.zeros(counts.size)
    for other in range(m):
        far = np.linalg.norm(sample.levels[own] - sample.levels[other], axis=1)
        cross = z * np.maximum(sample.deviation[own], sample.deviation[other]) / np.sqrt(safe)
        with np.errstate(divide="ignore"):
            spread = np.square((cross + np.sqrt(cross**2 + np.maximum(excess, 0.0))) / far)
        share = np.where(spread < 0.25, 0.5 - np.sqrt(np.maximum(0.25 - spread, 0.0)), np.inf)
        bias = np.where(own == other, bias, np.maximum(bias, share * np.where(far > 0.0, far, 1.0)))
    return np.where(counts > 1, bias, 0.0)  # a single point does not mix


def _sums(values: Floats, cell: Ints, count: int) -> Floats:
    """Return the sum of the rows of each cell."""
    return np.column_stack([np.bincount(cell, values[:, a], count) for a in range(values.shape[1])])
