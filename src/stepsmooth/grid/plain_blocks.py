"""Blocks that the classes, once known, show to be pure.

At first a block is taken for pure only if it spreads no more than most pure ones do: a stricter rule than it need be
where levels are so far apart that one voxel of another class would be seen at once. There, all but the last few pure
blocks come in. They matter where the image is dark: the bright blocks were never in doubt.
"""

import numpy as np
from scipy.stats import chi2

from stepsmooth.grid.blocks import SLOPE, Blocks, blocks_at
from stepsmooth.grid.joint import JointFit
from stepsmooth.grid.moments import block_moments
from stepsmooth.grid.volume import Volume
from stepsmooth.model.arrays import Floats

# The share of the pure blocks that come in,
NEARLY_ALL = 0.999
# where a voxel of the nearest class makes a block spread by so many times more than these do.
PLAIN = 2.0


def with_plain_blocks(volume: Volume, blocks: Blocks, fit: JointFit) -> Blocks:
    """Return the pure blocks of a volume, and those that the levels and the field of a fit show to be pure as well."""
    n, levels = blocks.voxels_per_block, fit.classes.levels
    if n == 1 or len(levels) == 1:
        return blocks
    sides, box = tuple(2 if m > 1 else 1 for m in volume.grid[1:]), volume.box
    counts, means, spread, weights = block_moments(volume, sides, box)
    space = int(np.prod(blocks.shape))
    chosen = np.zeros(len(counts), dtype=bool)
    chosen[blocks.frame * space + blocks.place] = True
    more = np.flatnonzero((counts == n) & ~chosen)
    # What voxels of a block spread by, as those of pure blocks do, and with a slope of f.
    noise = np.average(blocks.within, axis=0, weights=blocks.weights) * n / (n - 1)
    explained = noise + (SLOPE * means[more]) ** 2
    limit = chi2.ppf(NEARLY_ALL, levels.shape[1] * (n - 1))
    quiet = np.sum(spread[more] / explained, axis=1) <= limit
    more, explained = more[quiet], explained[quiet]
    field = fit.field.on(blocks.coordinates)
    f = np.zeros(len(more)) if field.basis is None else field.basis.evaluate(field.theta).reshape(-1)[more % space]
    seen = _nearest_gap(means[more], f, fit, explained) * (n - 1) / n >= PLAIN * limit
    if not seen.any():
        return blocks
    spread[chosen] = n * blocks.within  # where the choice of quiet blocks has been allowed for
    chosen[more[seen]] = True
    return blocks_at(volume, np.flatnonzero(chosen), means, spread, weights, sides, box, blocks.noise)


def _nearest_gap(means: Floats, f: Floats, fit: JointFit, variance: Floats) -> Floats:
    """Return how far the level next to a block's own is from that, squared and in units of a variance, (n,)."""
    levels = fit.classes.levels
    gain = np.exp(f) if fit.field.multiplicative else np.ones_like(f)
    shift = np.zeros_like(f) if fit.field.multiplicative else f
    at = gain[:, None, None] * levels + shift[:, None, None]  # (n, M, p)
    own = np.argmin(np.sum((means[:, None] - at) ** 2 / variance[:, None], axis=2), axis=1)
    gap = np.sum((at - at[np.arange(len(own)), own][:, None]) ** 2 / variance[:, None], axis=2)
    gap[np.arange(len(own)), own] = np.inf
    return np.asarray(gap.min(axis=1))
