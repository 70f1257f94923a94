"""Blocks of 2 x 2 x 2 voxels, and which of them are pure.

The mean of a block of one class has an eighth of the noise variance and no partial volume. A block is pure if all its
voxels are present and they spread no more than noise and a slope of f explain.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numba import njit
from scipy.stats import chi2

from stepsmooth.grid.mixture import least_variance
from stepsmooth.grid.moments import block_moments
from stepsmooth.grid.volume import Bools, Labels, Volume
from stepsmooth.model.arrays import Floats, Ints

# The noise is read off the quieter blocks: borders make the others spread.
QUIET = 0.3
# A block is pure if its spread is below this quantile of what noise gives,
PURE = 0.7
# after allowing for a field that changes by a few percent from voxel to voxel.
SLOPE = 0.03
# Blocks are merged that differ by no more than so many standard deviations of noise and so many slopes.
ALIKE, SLOPES = 2.0, 4.0
# Fewer pure blocks than this, or a smaller share of the voxels, say too little: then each voxel is its own block.
FEWEST = 400
SMALLEST_SHARE = 0.1
# The noise is read off about so many blocks, and the curve that undoes their choice at so many points.
N_FOR_NOISE, N_NODES = 50_000, 1000


@dataclass(frozen=True)
class Blocks:
    """Block means (n, p), their weights (n,), and where they lie: place on the grid of blocks, in space, and frame.

    `within` (n, p) is the mean square of the voxels about their block's mean; `noise` (p,) the variance of the noise in
    the means. `reach` is where the voxels begin and end along each axis. `merged` is how many blocks each of these
    stands for, on average, if they were merged.
    """

    means: Floats
    weights: Floats
    within: Floats
    frame: Ints
    place: Ints
    shape: tuple[int, ...]
    coordinates: list[Floats]
    voxels_per_block: int
    noise: Floats
    reach: tuple[tuple[float, float], ...]
    merged: float = 1.0

    def __len__(self) -> int:
        return len(self.means)

    @cached_property
    def least_variance(self) -> Floats:
        """Return the variance below which no class of block means goes, (p,)."""
        return least_variance(self.means)

    def scatter(self, values: Floats) -> Floats:
        """Return values (n,) as an image on the grid of blocks, summed over frames."""
        size = int(np.prod(self.shape))
        return np.bincount(self.place, values, minlength=size).astype(np.float64).reshape(self.shape)

    def gather(self, image: Floats) -> Floats:
        """Return an image on the grid of blocks at the blocks, (n,)."""
        return np.asarray(image.reshape(-1)[self.place])

    def part(self, keep: Bools | Ints) -> "Blocks":
        """Return some of the blocks."""
        return replace(
            self,
            means=self.means[keep],
            weights=self.weights[keep],
            within=self.within[keep],
            frame=self.frame[keep],
            place=self.place[keep],
        )


def pure_blocks(volume: Volume) -> Blocks:
    """Return the pure blocks of a volume, or its voxels where there are too few pure blocks.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat(np.repeat(rng.integers(2, size=(1, 1, 15, 15, 1)), 6, axis=2), 6, axis=3)
    >>> image = (1.0 + labels + 0.02 * rng.normal(size=labels.shape)).astype(np.float32)
    >>> blocks = pure_blocks(Volume(image, (1.0, 1.0, 1.0)))
    >>> blocks.voxels_per_block, len(blocks) > 1900
    (4, True)
    """
    sides = tuple(2 if n > 1 else 1 for n in volume.grid[1:])
    box = volume.box
    counts, means, spread, weights = block_moments(volume, sides, box)
    n = int(np.prod(sides))
    n_present = int(counts.sum())
    full = np.flatnonzero(counts == n)
    noise = noise_floor(spread, full, n) if n > 1 and len(full) else np.zeros(means.shape[1])
    if n > 1 and len(full) >= FEWEST:
        freedom = means.shape[1] * (n - 1)
        limit = chi2.ppf(PURE, freedom)
        pure = full[_excess(means, spread, full, noise) <= limit]
        if len(pure) >= max(FEWEST, SMALLEST_SHARE * n_present / n):
            # The blocks were chosen for their small spread: undo what that takes from its mean.
            wider = limit * np.mean(1.0 + (SLOPE * means[pure]) ** 2 / noise, axis=1)
            spread[pure] /= _part_of_mean(wider, freedom)[:, None]
            return blocks_at(volume, pure, means, spread, weights, sides, box, noise / n)
    counts, means, spread, weights = block_moments(volume, (1, 1, 1), box)
    alone = np.flatnonzero(counts == 1)
    noise = np.where(noise > 0.0, noise, 1e-4 * np.var(means[alone], axis=0))
    return blocks_at(volume, alone, means, spread, weights, (1, 1, 1), box, noise)


@njit(cache=True)
def _excess(means: Floats, spread: Floats, blocks: Ints, noise: Floats) -> Floats:
    """Return the spread of blocks in units of what noise and a slope give."""
    excess = np.zeros(len(blocks))
    for i in range(len(blocks)):
        for c in range(means.shape[1]):
            excess[i] += spread[blocks[i], c] / (noise[c] + (SLOPE * means[blocks[i], c]) ** 2)
    return excess


def merge_blocks(blocks: Blocks, most: int) -> Blocks:
    """Return at most about `most` blocks: of every few neighbours in space, those that are like the middle one, merged.

    A merged block has the mean of its blocks and their weights together, so that nearly nothing is lost on f and the
    levels; f hardly changes from one block to the next.
    """
    axes = sum(n > 1 for n in blocks.shape)
    stride = max(int(np.ceil((len(blocks) / most) ** (1.0 / max(axes, 1)) - 0.1)), 1)
    if stride == 1:
        return blocks
    shape = tuple(-(-n // stride) for n in blocks.shape)
    space = int(np.prod(shape))
    place = np.ravel_multi_index([i // stride for i in np.unravel_index(blocks.place, blocks.shape)], shape)
    place += blocks.frame * space
    count = np.bincount(place)
    group = np.flatnonzero(count)
    cell = (np.cumsum(count > 0) - 1)[place]
    count = count[group]
    first = np.cumsum(count) - count
    order = np.empty(len(blocks), dtype=np.int64)
    _in_order(cell, blocks.means[:, 0], first.copy(), order)
    means, within, weights, kept = _merged(
        blocks.means, blocks.within, blocks.weights, blocks.noise, order, first, count
    )
    merged = kept / len(group)
    return replace(
        blocks,
        means=means,
        weights=weights / merged,
        within=within,
        frame=group // space,
        place=group % space,
        shape=shape,
        coordinates=[_centres(x, stride) for x in blocks.coordinates],
        noise=blocks.noise / merged,
        merged=merged,
    )


@njit(cache=True)
def _in_order(cell: Ints, values: Floats, ends: Ints, order: Ints) -> None:
    """Put the observations of each cell, by ascending value, into `order`; `ends` is where each cell begins there."""
    begin = ends.copy()
    for i in range(len(cell)):
        at = ends[cell[i]]
        while at > begin[cell[i]] and values[order[at - 1]] > values[i]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i
        ends[cell[i]] += 1


@njit(cache=True)
def _merged(
    means: Floats, within: Floats, weights: Floats, noise: Floats, order: Ints, first: Ints, count: Ints
) -> tuple[Floats, Floats, Floats, int]:
    """Return the mean of `means` and `within` in each cell over those like the middle one, their weights and number."""
    cells, p = len(first), means.shape[1]
    mean, inside, total, kept = np.zeros((cells, p)), np.zeros((cells, p)), np.zeros(cells), 0
    for cell in range(cells):
        middle = order[first[cell] + count[cell] // 2]
        for at in range(first[cell], first[cell] + count[cell]):
            i, alike = order[at], True
            for c in range(p):
                spread = ALIKE**2 * 2.0 * noise[c] + (SLOPES * SLOPE * means[middle, c]) ** 2
                alike &= (means[i, c] - means[middle, c]) ** 2 <= spread
            if alike:
                kept += 1
                total[cell] += weights[i]
                for c in range(p):
                    mean[cell, c] += weights[i] * means[i, c]
                    inside[cell, c] += weights[i] * within[i, c]
        mean[cell] /= total[cell]
        inside[cell] /= total[cell]
    return mean, inside, total, kept


def _centres(x: Floats, stride: int) -> Floats:
    """Return the middle of every few points."""
    return np.array([x[i : i + stride].mean() for i in range(0, len(x), stride)])


def label_pure_blocks(volume: Volume, labels: Labels, before: Blocks) -> Blocks:
    """Return the blocks whose voxels are all present and share a label; `before` if they are too few.

    Labels that heed their neighbours tell pure blocks from mixed ones where noise hides the spread.
    """
    if before.voxels_per_block == 1:
        return before
    sides = tuple(2 if n > 1 else 1 for n in volume.grid[1:])
    n, box = before.voxels_per_block, volume.box
    same = _same_label(labels[(slice(None), *box)], np.array(sides))
    counts, means, spread, weights = block_moments(volume, sides, box)
    chosen = np.flatnonzero(same.ravel() & (counts == n))
    if len(chosen) < max(FEWEST, 0.25 * len(before)):
        return before
    return blocks_at(volume, chosen, means, spread, weights, sides, box, before.noise)


def _same_label(labels: Labels, sides: Ints) -> Bools:
    """Return, block by block, whether all voxels have one label; blocks that reach over the border do not count."""
    shape = (labels.shape[0], *(-(-m // s) for m, s in zip(labels.shape[1:], sides)))
    padded = np.full((shape[0], *(m * s for m, s in zip(shape[1:], sides))), -1, dtype=labels.dtype)
    padded[:, : labels.shape[1], : labels.shape[2], : labels.shape[3]] = labels
    corners = [
        padded[:, i :: sides[0], j :: sides[1], k :: sides[2]]
        for i in range(sides[0])
        for j in range(sides[1])
        for k in range(sides[2])
    ]
    same = corners[0] >= 0
    for corner in corners[1:]:
        same &= corner == corners[0]
    return np.asarray(same)


def _part_of_mean(limit: Floats, freedom: int) -> Floats:
    """Return which part of its mean a chi-square variable has where it is known to stay below a limit."""
    # A smooth curve, and very many limits close together.
    nodes = np.linspace(limit.min(), limit.max(), N_NODES)
    return np.interp(limit, nodes, chi2.cdf(nodes, freedom + 2) / chi2.cdf(nodes, freedom))


def noise_floor(spread: Floats, blocks: Ints, n: int) -> Floats:
    """Return the noise variance of each channel from sums of squares (., p) about the means of n voxels in blocks."""
    quiet, scale = np.quantile(spread[blocks[:: max(len(blocks) // N_FOR_NOISE, 1)]], (QUIET, 0.9), axis=0)
    return np.asarray(np.maximum(quiet / chi2.ppf(QUIET, n - 1), 1e-12 * scale + 1e-300))


def blocks_at(
    volume: Volume,
    chosen: Ints,
    means: Floats,
    spread: Floats,
    weights: Floats,
    sides: tuple[int, ...],
    box: tuple[slice, ...],
    noise: Floats,
) -> Blocks:
    """Return chosen blocks of a box of space, all of which have these moments."""
    n = int(np.prod(sides))
    spans = [side.stop - side.start for side in box]
    shape = tuple(-(-n // s) for n, s in zip(spans, sides))
    space = int(np.prod(shape))
    coordinates = [
        (first + side.start + np.arange(m) * s + (s - 1) / 2.0) * h
        for first, side, m, s, h in zip(volume.start, box, shape, sides, volume.spacing)
    ]
    return Blocks(
        means=means[chosen],
        weights=weights[chosen] / n,
        within=spread[chosen] / n,
        frame=chosen // space,
        place=chosen % space,
        shape=shape,
        coordinates=coordinates,
        voxels_per_block=n,
        noise=noise,
        reach=tuple(
            ((first + side.start) * h, (first + side.stop - 1) * h)
            for first, side, h in zip(volume.start, box, volume.spacing)
        ),
    )
