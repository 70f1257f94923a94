"""The start from neighbour differences: within a class they are the slope of f alone.

Neighbouring blocks mostly share a class, so the differences of their (log) values are the differences of f plus noise,
and now and then a jump between levels. A robust least-squares fit in the spline basis leaves the jumps aside and
integrates the rest to f.
"""

from dataclasses import replace

import numpy as np

from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.field import Field
from stepsmooth.grid.tensor import TensorBasis
from stepsmooth.model.arrays import Floats

# The scale beyond which a difference counts as a jump, in standard deviations, from one round to the next.
ROUNDS = (8.0, 5.0, 3.5, 2.5, 2.5, 2.5)
# Besides noise, differences spread by what the spline cannot follow.
SLACK = 0.01


def field_from_differences(blocks: Blocks, field: Field) -> Field:
    """Return the field, in the basis of the given one, that the differences of neighbouring blocks ask for."""
    basis, prior = field.basis, field.prior
    if basis is None or prior is None:
        return field
    pairs = [_differences(blocks, axis, field.multiplicative) for axis in range(3)]
    theta, penalty = np.zeros(basis.size), 1.0
    for scale in ROUNDS:
        gram, moment = np.zeros((basis.size, basis.size)), np.zeros(basis.size)
        for axis, (difference, variance) in enumerate(pairs):
            if difference.size == 0:
                continue
            steps = _stepping(basis, axis)
            squared = (difference - steps.evaluate(theta)[None]) ** 2
            # Where a block of the pair is missing the variance is infinite, and the weight zero.
            weight = np.exp(-0.5 * squared / (scale**2 * variance)) / variance
            gram += steps.gram(weight.sum(axis=0))
            moment += steps.project((weight * difference).sum(axis=0))
        found = prior.solve(gram, moment, penalty)
        theta, penalty = found.theta, found.penalty
    return replace(field, theta=theta, penalty=penalty).centred(blocks)


def _stepping(basis: TensorBasis, axis: int) -> TensorBasis:
    """Return the basis as it changes from each block to the next along an axis."""
    values = list(basis.values)
    values[axis] = np.diff(values[axis], axis=0)
    return replace(basis, values=tuple(values))


def _differences(blocks: Blocks, axis: int, multiplicative: bool) -> tuple[Floats, Floats]:
    """Return differences along an axis on the grid of pairs, frame by frame, and their variances.

    Channels are averaged by their precision; the variance is infinite where a block of the pair is missing.
    """
    frames = int(blocks.frame.max()) + 1
    space = int(np.prod(blocks.shape))
    where = blocks.frame * space + blocks.place
    total, precision = 0.0, 0.0
    for c in range(blocks.means.shape[1]):
        value, variance = blocks.means[:, c], np.full(len(blocks), blocks.noise[c])
        if multiplicative:
            known = value > 0.0
            value, variance = np.log(np.where(known, value, 1.0)), np.full(len(blocks), np.inf)
            variance[known] = blocks.noise[c] / blocks.means[known, c] ** 2
        image, spread = np.zeros(frames * space), np.full(frames * space, np.inf)
        image[where], spread[where] = value, variance
        image, spread = image.reshape(frames, *blocks.shape), spread.reshape(frames, *blocks.shape)
        low, high = _ends(axis)
        each = 1.0 / (spread[low] + spread[high] + (SLACK**2 if multiplicative else 1e-4 * np.var(value)) + 1e-300)
        total = total + each * (image[high] - image[low])
        precision = precision + each
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(precision > 0.0, total / precision, 0.0), 1.0 / np.asarray(precision)


def _ends(axis: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    every = slice(None)
    low = tuple(slice(None, -1) if a == axis else every for a in range(3))
    high = tuple(slice(1, None) if a == axis else every for a in range(3))
    return (every, *low), (every, *high)
