"""Blocks of 2 x 2 x 2 voxels, and which of them are pure.

The mean of a block of one class has an eighth of the noise variance and no partial volume. A block is pure if all its
voxels are present and they spread no more than noise and a slope of f explain.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numba import njit, prange
from scipy.stats import chi2

from stepsmooth.grid.mixture import least_variance
from stepsmooth.grid.volume import Bools, Floats32, Labels, Volume
from stepsmooth.model.arrays import Floats, Ints

# The noise is read off the quieter blocks: borders make the others spread.
QUIET = 0.3
# A block is pure if its spread is below this quantile of what noise gives,
PURE = 0.7
# after allowing for a field that changes by a few percent from voxel to voxel.
SLOPE = 0.03
# Blocks that differ by fewer standard deviations are merged.
ALIKE = 4.0
# Fewer pure blocks than this, or a smaller share of the voxels, say too little: then each voxel is its own block.
FEWEST = 400
SMALLEST_SHARE = 0.1


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
    box = volume.box()
    counts, means, spread, weights = block_moments(volume, sides, box)
    n = int(np.prod(sides))
    n_present = int(counts.sum())
    full = np.flatnonzero(counts == n)
    if n > 1 and len(full) >= FEWEST:
        noise = noise_floor(spread[full], n)
        slope = (SLOPE * means[full]) ** 2
        excess = np.sum(spread[full] / (noise + slope), axis=1)
        freedom = means.shape[1] * (n - 1)
        limit = chi2.ppf(PURE, freedom)
        pure = full[excess <= limit]
        if len(pure) >= max(FEWEST, SMALLEST_SHARE * n_present / n):
            # The blocks were chosen for their small spread: undo what that takes from its mean.
            wider = limit * np.mean((noise + slope[excess <= limit]) / noise, axis=1)
            spread[pure] /= (chi2.cdf(wider, freedom + 2) / chi2.cdf(wider, freedom))[:, None]
            return _blocks(volume, pure, means, spread / n, weights / n, sides, box, noise / n)
    noise = noise_floor(spread[full], n) if n > 1 and len(full) else np.zeros(means.shape[1])
    counts, means, spread, weights = block_moments(volume, (1, 1, 1), box)
    alone = np.flatnonzero(counts == 1)
    noise = np.where(noise > 0.0, noise, 1e-4 * np.var(means[alone], axis=0))
    return _blocks(volume, alone, means, spread, weights, (1, 1, 1), box, noise)


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
    order = np.lexsort((blocks.means[:, 0], blocks.frame * space + place))
    group, first, count = np.unique((blocks.frame * space + place)[order], return_index=True, return_counts=True)
    middle = np.repeat(order[first + count // 2], count)
    spread = 2.0 * blocks.noise + (SLOPE * blocks.means[middle]) ** 2
    alike = np.all((blocks.means[order] - blocks.means[middle]) ** 2 <= ALIKE**2 * spread, axis=1)
    kept, to = order[alike], np.repeat(np.arange(len(group)), count)[alike]
    weights = np.bincount(to, blocks.weights[kept])
    merged = len(kept) / len(group)

    def mean(values: Floats) -> Floats:
        sums = [np.bincount(to, blocks.weights[kept] * column) for column in values[kept].T]
        return np.stack(sums, axis=1) / weights[:, None]

    return replace(
        blocks,
        means=mean(blocks.means),
        weights=weights / merged,
        within=mean(blocks.within),
        frame=group // space,
        place=group % space,
        shape=shape,
        coordinates=[_centres(x, stride) for x in blocks.coordinates],
        noise=blocks.noise / merged,
        merged=merged,
    )


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
    n, box = before.voxels_per_block, volume.box()
    same = _same_label(labels[(slice(None), *box)], np.array(sides))
    counts, means, spread, weights = block_moments(volume, sides, box)
    chosen = np.flatnonzero(same.ravel() & (counts == n))
    if len(chosen) < max(FEWEST, 0.25 * len(before)):
        return before
    return _blocks(volume, chosen, means, spread / n, weights / n, sides, box, before.noise)


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


def noise_floor(spread: Floats, n: int) -> Floats:
    """Return the noise variance of each channel from sums of squares (blocks, p) about the means of n voxels."""
    quiet = np.quantile(spread, QUIET, axis=0)
    scale = np.quantile(spread, 0.9, axis=0)
    return np.asarray(np.maximum(quiet / chi2.ppf(QUIET, n - 1), 1e-12 * scale + 1e-300))


def block_moments(
    volume: Volume, sides: tuple[int, ...], box: tuple[slice, slice, slice]
) -> tuple[Ints, Floats, Floats, Floats]:
    """Return, for all blocks of a box of space, frame by frame: voxels present, means, sums of squares, weights."""
    values = volume.values[(slice(None), slice(None), *box)]
    weights = np.ones((1, 1, 1, 1), dtype=np.float32) if volume.weights is None else volume.weights[(slice(None), *box)]
    p, t = values.shape[:2]
    shape = tuple(-(-n // s) for n, s in zip(values.shape[2:], sides))
    size = t * int(np.prod(shape))
    counts = np.zeros(size, dtype=np.int64)
    means, spread = np.zeros((size, p)), np.zeros((size, p))
    mass = np.zeros(size)
    _moments(values, weights, volume.weights is not None, np.array(sides), np.array(shape), counts, means, spread, mass)
    return counts, means, spread, mass


@njit(parallel=True, cache=True)
def _moments(
    values: Floats32,
    weights: Floats32,
    weighted: bool,
    sides: Ints,
    shape: Ints,
    counts: Ints,
    means: Floats,
    spread: Floats,
    mass: Floats,
) -> None:
    p, t = values.shape[0], values.shape[1]
    for row in prange(t * shape[0]):
        frame, i = row // shape[0], row % shape[0]
        for j in range(shape[1]):
            for k in range(shape[2]):
                at = (row * shape[1] + j) * shape[2] + k
                for x in range(i * sides[0], min((i + 1) * sides[0], values.shape[2])):
                    for y in range(j * sides[1], min((j + 1) * sides[1], values.shape[3])):
                        for z in range(k * sides[2], min((k + 1) * sides[2], values.shape[4])):
                            if np.isnan(values[0, frame, x, y, z]):
                                continue
                            w = weights[frame, x, y, z] if weighted else 1.0
                            counts[at] += 1
                            mass[at] += w
                            for c in range(p):
                                # Welford: a mean and a sum of squares that lose no digits.
                                step = values[c, frame, x, y, z] - means[at, c]
                                means[at, c] += step * w / mass[at]
                                spread[at, c] += w * step * (values[c, frame, x, y, z] - means[at, c])
                if weighted and mass[at] > 0.0:
                    # As if the weights were one on average: so the spread is that of as many voxels.
                    for c in range(p):
                        spread[at, c] *= counts[at] / mass[at]


def _blocks(
    volume: Volume,
    chosen: Ints,
    means: Floats,
    within: Floats,
    weights: Floats,
    sides: tuple[int, ...],
    box: tuple[slice, ...],
    noise: Floats,
) -> Blocks:
    spans = [side.stop - side.start for side in box]
    shape = tuple(-(-n // s) for n, s in zip(spans, sides))
    space = int(np.prod(shape))
    coordinates = [
        (first + side.start + np.arange(m) * s + (s - 1) / 2.0) * h
        for first, side, m, s, h in zip(volume.start, box, shape, sides, volume.spacing)
    ]
    return Blocks(
        means=means[chosen],
        weights=weights[chosen],
        within=within[chosen],
        frame=chosen // space,
        place=chosen % space,
        shape=shape,
        coordinates=coordinates,
        voxels_per_block=int(np.prod(sides)),
        noise=noise,
        reach=tuple(
            ((first + side.start) * h, (first + side.stop - 1) * h)
            for first, side, h in zip(volume.start, box, volume.spacing)
        ),
    )
