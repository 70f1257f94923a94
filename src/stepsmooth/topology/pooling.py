"""Means of the points of one label in one neighbourhood: labelled observations with little noise.

What is averaged is what the fit leaves: y - mu - f, or y / (mu e^f) - 1 where f multiplies, whose logarithm is taken
afterwards. So noise stays noise of the data, dark voxels may fall to zero, and no logarithm of noise biases a mean.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2
from scipy.stats import norm as normal

from stepsmooth.model.arrays import Floats, Ints
from stepsmooth.topology.emission import Noise
from stepsmooth.topology.kdtree import KDTree
from stepsmooth.topology.modulus import level_gap

CLEAR = 0.4  # most error of a mean, by noise and by points of other levels, as a share of the distance of levels


@dataclass(frozen=True)
class Sample:
    """Labelled points: positions (n, d), labels (n,), fitted f (n, 1 or p), what the fit leaves (n, p), and its noise.

    Levels (M, p) are logarithms if f multiplies.
    """

    X: Floats
    labels: Ints
    levels: Floats
    smooth: Floats
    rest: Floats
    noise: Noise


@dataclass(frozen=True)
class Means:
    """One labelled mean for each neighbourhood and label.

    `member` is the mean that each point belongs to, -1 if it was left out: too few points of its label lie together,
    too many may be there by noise alone, or they differ by more than noise. `deviation` is that of a mean by noise;
    `bias` bounds what points of other levels add to it. All points of a mean lie between `low` and `high`. By means
    that are not `exact` no others can be judged: they are ends of the tree.
    """

    member: Ints
    labels: Ints
    counts: Floats
    X: Floats
    Y: Floats
    smooth: Floats
    deviation: Floats
    bias: Floats
    low: Floats
    high: Floats
    exact: NDArray[np.bool_]


@dataclass(frozen=True)
class Sums:
    """Sums over the points of each neighbourhood and label, (N, M, ...), and the largest gain of each neighbourhood.

    Two neighbourhoods of the tree add up to the next coarser one, so that the points are gone through once.
    """

    counts: Floats
    X: Floats
    smooth: Floats
    rest: Floats
    squares: Floats
    power: Floats
    gain: Floats

    def coarser(self) -> "Sums":
        """Return the sums of neighbourhoods twice as large."""

        def added(values: Floats) -> Floats:
            return np.asarray(values[::2] + values[1::2])

        return Sums(
            counts=added(self.counts),
            X=added(self.X),
            smooth=added(self.smooth),
            rest=added(self.rest),
            squares=added(self.squares),
            power=added(self.power),
            gain=np.maximum(self.gain[::2], self.gain[1::2]),
        )


def sums_at(sample: Sample, tree: KDTree, depth: int) -> tuple[Sums, Ints]:
    """Return the sums over the nodes of a k-d tree at one depth, and the node of each point.

    Examples
    --------
    >>> from stepsmooth.topology.kdtree import build
    >>> x, levels, f = np.arange(40.0)[:, None], np.array([[0.0], [1.0]]), np.zeros((40, 1))
    >>> sample = Sample(x, np.arange(40) // 10 % 2, levels, f, f, Noise.of(levels, 0.01))
    >>> sums, node = sums_at(sample, build(x), 2)
    >>> sums.counts.tolist(), sums.coarser().counts.tolist()
    ([[10.0, 0.0], [0.0, 10.0], [10.0, 0.0], [0.0, 10.0]], [[10.0, 10.0], [10.0, 10.0]])
    """
    first, m = 2**depth - 1, len(sample.levels)
    begin = tree.begin[first : 2 * first + 1]
    node = np.empty(len(sample.labels), dtype=np.int64)
    node[tree.order] = np.repeat(np.arange(len(begin)), (tree.end - tree.begin)[first : 2 * first + 1])
    cell, gain = node * m + sample.labels, sample.noise.gain

    def added(values: Floats | None) -> Floats:
        total = np.bincount(cell, values, minlength=len(begin) * m)
        return total.astype(np.float64).reshape(len(begin), m)

    def columns(values: Floats) -> Floats:
        return np.stack([added(values[:, a]) for a in range(values.shape[1])], axis=2)

    counts, squares = added(None), added(np.square(sample.rest).sum(axis=1))
    power = counts if gain is None else added(np.square(gain))
    most = np.ones(len(begin)) if gain is None else np.maximum.reduceat(gain[tree.order], begin)
    return Sums(counts, columns(sample.X), columns(sample.smooth), columns(sample.rest), squares, power, most), node


def pool(sample: Sample, sums: Sums, node: Ints, box: tuple[Floats, Floats], doubt: float) -> Means:
    """Return the means of all cells that are clear; `doubt` is the chance that any bias is larger.

    Examples
    --------
    >>> from stepsmooth.topology.kdtree import build
    >>> x, levels, f = np.arange(40.0)[:, None], np.array([[0.0], [1.0]]), np.zeros((40, 1))
    >>> sample = Sample(x, np.arange(40) // 10 % 2, levels, f, f, Noise.of(levels, 0.01))
    >>> tree = build(x)
    >>> pool(sample, *sums_at(sample, tree, 2), (tree.low[3:7], tree.high[3:7]), 0.05).labels
    array([0, 1, 0, 1])
    """
    m, noise = len(sample.levels), sample.noise
    bias = noise.turned(sums.counts, sums.gain) + _mixing(sums, noise, doubt)
    deviation, shift, slope, error = _errors(sample, sums, doubt, bias)
    # A mean whose own level stands apart may be less exact, but then no other mean may be judged by it.
    own, label = np.nonzero(error < CLEAR * apart(sample.levels))
    name = np.full(sums.counts.size, -1, dtype=np.int64)
    name[own * m + label] = np.arange(len(own))
    kept = sums.counts[own, label]
    X, f = (values[own, label] / kept[:, None] for values in (sums.X, sums.smooth))
    return Means(
        member=name[node * m + sample.labels],
        labels=label,
        counts=kept,
        X=X,
        Y=sample.levels[label] + f + shift[own, label],
        smooth=f,
        deviation=deviation[own, label] * slope[own, label],
        bias=bias[own, label] * slope[own, label],
        low=box[0][own],
        high=box[1][own],
        exact=error[own, label] < CLEAR * level_gap(sample.levels),
    )


def within_reach(sample: Sample, sums: Sums, doubt: float) -> float:
    """Return a bound on the share of the points that clear cells hold: what noise alone would leave of it.

    Examples
    --------
    >>> from stepsmooth.topology.kdtree import build
    >>> x, levels, f = np.arange(40.0)[:, None], np.array([[0.0], [1.0]]), np.zeros((40, 1))
    >>> sample = Sample(x, np.arange(40) // 10 % 2, levels, f, f, Noise.of(levels, 0.3))
    >>> [within_reach(sample, sums_at(sample, build(x), depth)[0], 0.05) for depth in (0, 2)]
    [1.0, 0.0]
    """
    error = _errors(sample, sums, doubt, np.zeros_like(sums.counts))[3]
    return float(sums.counts[error < CLEAR * apart(sample.levels)].sum() / len(sample.labels))


def _errors(sample: Sample, sums: Sums, doubt: float, bias: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the deviation of each mean by noise, its shift as an output, by what an error counts there, and the error.

    The error of a cell without points is infinite.
    """
    safe = np.maximum(sums.counts, 1.0)
    deviation = sample.noise.worst * np.sqrt(sums.power) / safe  # worst sqrt(mean gain^2 / count)
    quantile = float(np.sqrt(chi2.isf(doubt / max(1, int(np.sum(sums.counts > 0))), sample.rest.shape[1])))
    most = quantile * deviation + bias
    shift, slope = sample.noise.outputs(sums.rest / safe[:, :, None], most)
    with np.errstate(invalid="ignore"):
        return deviation, shift, slope, np.where(sums.counts > 0, most * slope, np.inf)


def single_points(sample: Sample, doubt: float) -> Means:
    """Return the points themselves as means, for noise so small that it turns no label.

    Examples
    --------
    >>> x, levels = np.arange(2.0)[:, None], np.array([[0.0], [1.0]])
    >>> single_points(Sample(x, np.array([0, 1]), levels, 0 * x, 0 * x, Noise.of(levels, 0.01)), 0.05).counts
    array([1., 1.])
    """
    n, noise = len(sample.labels), sample.noise
    quantile = float(np.sqrt(chi2.isf(doubt / n, sample.rest.shape[1])))
    deviation = noise.worst[sample.labels] * (1.0 if noise.gain is None else noise.gain)
    shift, slope = noise.outputs(sample.rest, quantile * deviation)
    Y, X = sample.levels[sample.labels] + sample.smooth + shift, sample.X
    every, none = np.ones(n, dtype=bool), np.zeros(n)
    return Means(
        np.arange(n), sample.labels, np.ones(n), X, Y, sample.smooth, deviation * slope, none, X, X, exact=every
    )


def apart(levels: Floats) -> Floats:
    """Return the distance of each level from the nearest other one.

    Examples
    --------
    >>> apart(np.array([[0.0], [1.0], [1.2]])).round(1)
    array([1. , 0.2, 0.2])
    """
    far = np.linalg.norm(levels[:, None] - levels[None], axis=2)
    np.fill_diagonal(far, np.inf)
    return np.asarray(far.min(axis=1))


def _mixing(sums: Sums, noise: Noise, doubt: float) -> Floats:
    """Bound what a share w of points of another level adds to each mean: at most w times the distance of the levels.

    Such points spread the mean's points by v = distance sqrt(w (1 - w)). The variance that is seen is then at least
    s^2 (1 - z sqrt(2 / (m - 1))) + v^2 - 2 z s v / sqrt(m), up to the chance that z stands for, which bounds v.
    """
    counts, m = sums.counts, len(noise.worst)
    safe, freedom = np.maximum(counts, 1.0), np.maximum(counts - 1.0, 1.0)
    seen = np.maximum(sums.squares - np.square(sums.rest).sum(axis=2) / safe, 0.0) / freedom
    z = float(normal.isf(doubt / max(1, int(np.sum(counts > 1)))))
    power = sums.power / safe
    excess = np.maximum(seen - noise.variance.sum(axis=1) * power * (1.0 - z * np.sqrt(2.0 / freedom)), 0.0)
    cross = z * noise.worst * np.sqrt(power / safe)
    bias = np.zeros_like(counts)
    for k in range(m):
        for other in range(m):
            if other != k:
                far = noise.jumps[k, other]
                with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # levels that coincide
                    spread = np.square((cross[:, k] + np.sqrt(cross[:, k] ** 2 + excess[:, k])) / far)
                share = np.where(spread < 0.25, 0.5 - np.sqrt(np.maximum(0.25 - spread, 0.0)), np.inf)
                bias[:, k] = np.maximum(bias[:, k], share * (far or 1.0))
    return np.where(counts > 1, bias, 0.0)  # a single point does not mix
