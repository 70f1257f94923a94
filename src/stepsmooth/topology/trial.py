"""One size of neighbourhoods: its means as labelled observations, and how much f and noise may vary between them."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numba import njit
from scipy.spatial import cKDTree
from scipy.stats import chi2

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.topology.alternatives import Bools, Rooted, alternative, sure_parts
from stepsmooth.topology.boruvka import find
from stepsmooth.topology.certificate import parts_without
from stepsmooth.topology.kdtree import build
from stepsmooth.topology.modulus import Modulus, channel_factor, level_gap, size
from stepsmooth.topology.pooling import Means, Sample, apart, pool, single_points, sums_at, within_reach
from stepsmooth.topology.spanning import minimum_spanning_tree

COVER = 0.9  # least share of the points that a verdict must be about
THRESHOLDS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 1.0)  # as quantiles of the fitted variation
COARSEST = 5  # at least 2^5 neighbourhoods: a shifted region smaller than one could hide in it


@dataclass(frozen=True)
class Premises:
    """What is believed: f varies by c times the fitted one or by a modulus; at most `doubt` for each size's errors."""

    c: float
    modulus: Modulus | None
    norm: Anything
    doubt: float


@dataclass(frozen=True)
class Trial:
    """Means and their spanning tree; on each edge how much the fitted f varies, the true one may, and noise can add."""

    means: Means
    levels: Floats
    premises: Premises
    region: int
    edges: Ints
    fitted: Floats
    smooth: Floats
    noise: Floats

    @property
    def covered(self) -> float:
        """Share of the points that belong to a mean."""
        return float(self.means.counts.sum() / len(self.means.member))

    @property
    def gap(self) -> float:
        """Least distance of two levels."""
        return level_gap(self.levels, norm=self.premises.norm)

    def used(self, smooth: Floats) -> Floats:
        """Return how far on each edge what the fit leaves may be off, if the true f varies by this much."""
        rest = self.means.Y - self.levels[self.means.labels]
        return size(rest[self.edges[:, 0]] - rest[self.edges[:, 1]], self.premises.norm) + smooth + self.noise

    def unique(self, factor: float = 1.0) -> bool:
        """Whether the means can be divided in no other way, even if f and noise vary by a factor more."""
        every = np.zeros(len(self.means.labels), dtype=np.int64)
        return bool(self._sure(self._tree.scaled(factor), every).all())

    @cached_property
    def _tree(self) -> Rooted:
        return Rooted.of(self.edges, self.smooth + self.noise)

    def trimmed(self) -> "Trial":
        """Return the trial without what lies apart: edges are cut from the longest on, while one piece covers enough.

        What is left out is chosen by place alone, so that nothing is learned of f by it.
        """
        means, n = self.means, len(self.means.member)
        lengths = np.linalg.norm(means.X[self.edges[:, 0]] - means.X[self.edges[:, 1]], axis=1)
        by_length = np.argsort(lengths, kind="stable")
        limit = lengths[by_length[_joined(self.edges[by_length], means.counts.copy(), COVER * n)]]
        part = parts_without(self.edges, lengths > limit)
        kept = part == np.argmax(np.bincount(part, means.counts))
        inside = np.flatnonzero(kept[self.edges].all(axis=1) & (lengths <= limit))
        name = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
        fewer = {f.name: getattr(means, f.name)[kept] for f in fields(means) if f.name != "member"}
        return _trial(
            Means(member=name[means.member], **fewer), self.levels, name[self.edges[inside]], self.region, self.premises
        )

    @cached_property
    def local(self) -> tuple[Ints, Bools]:
        """Return the part of each mean and the edges between parts, each part sure if the premises hold within it.

        Edges are cut over which the fitted f varies by more than a threshold, and those that break the condition if
        the true f varies by c times the threshold. Of several thresholds the one that leaves the largest parts is
        taken. Means of a part that is not sure even so have part -1.
        """
        # The end of the tree that is less exact is judged by its own level, which stands farther apart.
        core = self.means.exact[self.edges].all(axis=1)
        far = np.where(core, self.gap, apart(self.levels)[self.means.labels[self.edges[:, 1]]])
        tried = [self.smooth]
        if self.premises.modulus is None:
            most = self.premises.c * np.quantile(self.fitted, THRESHOLDS)
            tried = [np.full(len(far), t) for t in np.unique(most)]
        cuts = [
            (self.premises.c * self.fitted > t) & (self.premises.modulus is None) | (self.used(t) >= far) for t in tried
        ]
        parts = [parts_without(self.edges, cut) for cut in cuts]
        best = int(np.argmax([np.square(np.bincount(part, self.means.counts)).sum() for part in parts]))
        cut, part = cuts[best], parts[best]
        sure = self._sure(Rooted.of(self.edges, np.where(cut, np.inf, tried[best] + self.noise)), part)
        rank = np.where(sure, np.cumsum(sure) - 1, -1)
        return rank[part], cut

    @property
    def together(self) -> float:
        """Share of pairs of points that lie in one part."""
        part = self.local[0]
        return float(
            np.square(np.bincount(part[part >= 0], self.means.counts[part >= 0]) / len(self.means.member)).sum()
        )

    def other(self) -> Ints | None:
        """Return other labels of the means that the premises allow, or None if none were found."""
        tolerance = self.smooth + self.noise
        return alternative(self.edges, self.means.Y, self.levels, self.means.labels, tolerance, self.premises.norm)[0]

    def _sure(self, tree: Rooted, part: Ints) -> Bools:
        return sure_parts(tree, part, self.means.Y, self.levels, self.means.labels, self.premises.norm)


@njit(cache=True)
def _joined(edges: Ints, counts: Floats, enough: float) -> int:
    """Return the edge with which, joined one after another, some part comes to hold enough points, or the last one."""
    parent = np.arange(len(counts))
    for i in range(len(edges)):
        one, other = find(parent, edges[i, 0]), find(parent, edges[i, 1])
        parent[one] = other
        counts[other] += counts[one]
        if counts[other] >= enough:
            return i
    return len(edges) - 1


def trials(X: Anything, sample: Sample, premises: Premises, alone: bool) -> Iterator[Trial]:
    """Yield ever larger neighbourhoods that cover most points, single points first if `alone`.

    `premises.doubt` is for all of them together: half of it goes to the bias of means, half to their noise.

    Examples
    --------
    >>> from stepsmooth.topology.emission import Noise
    >>> x, levels, f = np.arange(4096.0)[:, None], np.array([[0.0], [1.0]]), np.zeros((4096, 1))
    >>> sample = Sample(x, np.arange(4096) % 2, levels, f, f, Noise.of(levels, 0.01))
    >>> [trial.region for trial in trials(x, sample, Premises(2.0, None, 2, 0.05), alone=False)]
    [16, 32, 64, 128]
    """
    tree = build(sample.X)
    deepest = int(np.log2(len(tree.begin) + 1)) - 1
    coarsest = min(deepest, COARSEST)
    share = Premises(
        premises.c, premises.modulus, premises.norm, premises.doubt / (deepest - coarsest + 1 + alone) / 2.0
    )
    if alone:
        means = single_points(sample, share.doubt)
        # A point whose own noise reaches the next level can take it: millions of edges need not be looked at for that.
        noise = _quantile(share, len(sample.X), sample.rest.shape[1]) * means.deviation
        if np.all(noise < apart(sample.levels)[sample.labels]):
            yield _trial(means, sample.levels, minimum_spanning_tree(X).edges, 1, share)
    sums, finest = sums_at(sample, tree, deepest)
    for depth in range(deepest, coarsest - 1, -1):
        sums = sums.coarser() if depth < deepest else sums
        # A verdict must be about most points; the coarsest neighbourhoods stand for all if none cover so many.
        least = COVER if depth > coarsest else 0.0
        if within_reach(sample, sums, share.doubt) < least:
            continue
        nodes = slice(2**depth - 1, 2 ** (depth + 1) - 1)
        node = finest >> (deepest - depth)
        means = pool(sample, sums, node, (tree.low[nodes], tree.high[nodes]), share.doubt)
        core = means.X[means.exact]
        if means.counts.sum() >= least * len(node) and len(core) > 1 and np.any(core[0] != core):
            yield _trial(means, sample.levels, _edges(means), int((tree.end - tree.begin)[nodes.start]), share)


def _quantile(premises: Premises, count: int, n_channels: int) -> float:
    """Return by how many deviations any of so many Gaussian vectors is off, up to the doubt."""
    return float(np.sqrt(chi2.isf(premises.doubt / count, n_channels)))


def _edges(means: Means) -> Ints:
    """Return the spanning tree of the exact means, to which each other mean is joined at its nearest."""
    core, ends = np.flatnonzero(means.exact), np.flatnonzero(~means.exact)
    edges = core[minimum_spanning_tree(means.X[core]).edges]
    nearest = core[cKDTree(means.X[core]).query(means.X[ends])[1]] if len(ends) else ends
    return np.concatenate([edges, np.column_stack([nearest, ends])])


def _trial(means: Means, levels: Floats, edges: Ints, region: int, premises: Premises) -> Trial:
    one, other, p = edges[:, 0], edges[:, 1], means.Y.shape[1]
    scale = channel_factor(p, 1) ** 0.5 if premises.norm == 1 else 1.0  # the 2-norm bounds the others
    noise = (
        _quantile(premises, len(edges), p) * np.hypot(means.deviation[one], means.deviation[other])
        + means.bias[one]
        + means.bias[other]
    )
    fitted = size(np.broadcast_to(means.smooth[one] - means.smooth[other], (len(edges), p)), premises.norm)
    if premises.modulus is None:
        smooth = np.full(len(edges), premises.c * fitted.max())
    else:  # over the largest distance of two of the points that were averaged
        low, high = np.minimum(means.low[one], means.low[other]), np.maximum(means.high[one], means.high[other])
        smooth = channel_factor(p, premises.norm) * premises.modulus(np.linalg.norm(high - low, axis=1))
    return Trial(means, levels, premises, region, edges, fitted, smooth, scale * noise)
