"""The start from neighbour differences: within a class they are the slope of f alone.

Neighbouring blocks mostly share a class, so the differences of their (log) values are the differences of f plus noise,
and now and then a jump between levels. A robust least-squares fit in the spline basis leaves the jumps aside and
integrates the rest to f.
"""

from dataclasses import dataclass, replace

import numpy as np

from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.field import Field
from stepsmooth.model.arrays import Floats

# The scale beyond which a difference counts as a jump, in standard deviations, from one round to the next.
ROUNDS = (8.0, 5.0, 3.5, 2.5, 2.5, 2.5)
# Besides noise, differences spread by what the spline cannot follow.
SLACK = 0.01
# On a large grid only some of its lines are looked at: about so many places in all, along each axis.
N_PLACES = 40_000


@dataclass(frozen=True)
class Differences:
    """Differences along an axis on a grid of lines, (frames, ...), their variances, and the coordinates of the grid."""

    values: Floats
    variances: Floats
    coordinates: list[Floats]


def field_from_differences(blocks: Blocks, field: Field, pairs: list[Differences] | None = None) -> Field:
    """Return the field, in the basis of the given one, that the differences of neighbouring blocks ask for."""
    basis, prior = field.basis, field.prior
    if basis is None or prior is None:
        return field
    pairs = neighbour_differences(blocks, field.multiplicative) if pairs is None else pairs
    changing = [(pair, basis.changing(axis, pair.coordinates)) for axis, pair in enumerate(pairs) if pair.values.size]
    theta, penalty = np.zeros(basis.size), 1.0
    for scale in ROUNDS if changing else ():
        grams, moment = [], np.zeros(basis.size)
        for pair, steps in changing:
            squared = (pair.values - steps.evaluate(theta)[None]) ** 2
            # Where a block of the pair is missing the variance is infinite, and the weight zero.
            weight = np.exp(-0.5 * squared / (scale**2 * pair.variances)) / pair.variances
            grams.append(steps.gram(weight.sum(axis=0)))
            moment += steps.project((weight * pair.values).sum(axis=0))
        found = prior.solve(sum(grams[1:], grams[0]), moment, penalty)
        theta, penalty = found.theta, found.penalty
    return replace(field, theta=theta, penalty=penalty).centred(blocks)


def neighbour_differences(blocks: Blocks, multiplicative: bool) -> list[Differences]:
    """Return the differences of neighbours along each axis, on some of the lines of a large grid.

    Channels are averaged by their precision; the variance is infinite where a block of the pair is missing.
    """
    frames = int(blocks.frame.max()) + 1
    space = int(np.prod(blocks.shape))
    where = blocks.frame * space + blocks.place
    stride = max(round(np.sqrt(frames * space / N_PLACES)), 1)
    images, variances, slack = [], [], []
    for c in range(blocks.means.shape[1]):
        value, variance = blocks.means[:, c], np.full(len(blocks), blocks.noise[c])
        if multiplicative:
            known = value > 0.0
            value, variance = np.log(np.where(known, value, 1.0)), np.full(len(blocks), np.inf)
            variance[known] = blocks.noise[c] / blocks.means[known, c] ** 2
        image, spread = np.zeros(frames * space), np.full(frames * space, np.inf)
        image[where], spread[where] = value, variance
        images.append(image.reshape(frames, *blocks.shape))
        variances.append(spread.reshape(frames, *blocks.shape))
        slack.append((SLACK**2 if multiplicative else 1e-4 * float(np.var(value))) + 1e-300)
    found = []
    for axis in range(3):
        low, high = _ends(axis, stride)
        total, precision = 0.0, 0.0
        for image, spread, extra in zip(images, variances, slack):
            each = 1.0 / (spread[low] + spread[high] + extra)
            total = total + each * (image[high] - image[low])
            precision = precision + each
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.where(precision > 0.0, total / precision, 0.0)
            lines = [x if a == axis else x[::stride] for a, x in enumerate(blocks.coordinates)]
            found.append(Differences(values, 1.0 / np.asarray(precision), lines))
    return found


def _ends(axis: int, stride: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return both ends of the pairs along an axis, on every `stride`-th line."""
    lines = slice(None, None, stride)
    low = tuple(slice(None, -1) if a == axis else lines for a in range(3))
    high = tuple(slice(1, None) if a == axis else lines for a in range(3))
    return (slice(None), *low), (slice(None), *high)
