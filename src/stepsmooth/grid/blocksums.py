"""What a step of the joint fit reads off the blocks, in one pass: images on their grid, and sums over them."""

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.chunks import CHUNK, add_sums, channels_first, field_at, probabilities
from stepsmooth.grid.mixture import MANY, PIECE, Classes, constants
from stepsmooth.grid.volume import Floats32
from stepsmooth.model.arrays import Floats, Ints


@dataclass(frozen=True)
class BlockSums:
    """Images on the grid of blocks and sums over the blocks, weighted by the probability q of each class.

    `images` (2 + M, ...) are `weight`, `lift` and `touch`; `mass`, `information`, `pull` as in `mixture.Sums`; q is
    (M, n).
    """

    images: Floats
    mass: Floats
    information: Floats
    pull: Floats
    q: Floats32

    @property
    def weight(self) -> Floats:
        """Return the information about f."""
        return np.asarray(self.images[0])

    @property
    def lift(self) -> Floats:
        """Return where the residuals pull f."""
        return np.asarray(self.images[1])

    @property
    def touch(self) -> Floats:
        """Return how much of each level a change of f would take, (M, ...)."""
        return np.asarray(self.images[2:])


def block_sums(
    blocks: Blocks, f: Floats, multiplicative: bool, classes: Classes, images: Floats | None = None
) -> BlockSums:
    """Return the sums for classes under a field f at the blocks; `images` of earlier sums may be written over."""
    M, p = classes.levels.shape
    if images is None:
        images = np.zeros((2 + M, int(np.prod(blocks.shape))))
    else:  # to touch new memory takes as long as all the rest
        images = images.reshape(2 + M, -1)
        images[:] = 0.0
    q = np.empty((M, len(blocks)), dtype=np.float32)
    parts = np.zeros((max(-(-len(blocks) // PIECE), 1), M * (2 + 2 * p)))
    # Frames share the images: then pieces must not write at the same time.
    run = _pass_threads if len(parts) >= MANY and not blocks.frame.any() else _pass
    run(
        blocks.means,
        f,
        multiplicative,
        blocks.weights,
        blocks.place,
        classes.levels,
        *constants(classes),
        images,
        q,
        parts,
    )
    table = parts.sum(axis=0).reshape(M, 2 + 2 * p)
    shaped = images.reshape(2 + M, *blocks.shape)
    return BlockSums(shaped, table[:, 0], table[:, 1], table[:, 2 : 2 + p], q)


def squares_at(blocks: Blocks, f: Floats, multiplicative: bool, levels: Floats, sums: BlockSums) -> Floats:
    """Return the squared residuals (M, p) under another field and other levels, the probabilities as they were."""
    parts = np.zeros((max(-(-len(blocks) // PIECE), 1), *levels.shape))
    run = _squares_threads if len(parts) >= MANY else _squares
    run(blocks.means, f, multiplicative, blocks.weights, levels, sums.q, parts)
    return np.asarray(parts.sum(axis=0))


@njit(cache=True)
def _pass_piece(
    piece: int,
    Y: Floats,
    f: Floats,
    multiplicative: bool,
    weights: Floats,
    place: Ints,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    outlier: float,
    images: Floats,
    q: Floats32,
    part: Floats,
) -> None:
    M, p = levels.shape
    y, share, density = np.empty((p, CHUNK)), np.empty((M, CHUNK)), np.empty(CHUNK)
    room = np.empty((4, CHUNK))
    for low in range(piece * PIECE, min((piece + 1) * PIECE, len(Y)), CHUNK):
        n = min(CHUNK, len(Y) - low)
        gain, shift, information, lift = room[0, :n], room[1, :n], room[2], room[3]
        channels_first(Y, low, n, y)
        field_at(f[low : low + n], multiplicative, gain, shift)
        probabilities(y, gain, shift, levels, precision, logs, outlier, share, density)
        information[:] = 0.0
        lift[:] = 0.0
        for k in range(M):
            mass = share[k]
            for i in range(n):
                q[k, low + i] = mass[i]
                mass[i] *= weights[low + i]
            for c in range(p):
                # In f the mean rises by gain * level, or by 1 where f adds (then gain is 1).
                values, level, double = y[c], levels[k, c], 2.0 * precision[k, c]
                slope = level if multiplicative else 1.0
                for i in range(n):
                    rise = mass[i] * gain[i] * slope * double
                    information[i] += rise * gain[i] * slope
                    lift[i] += rise * (values[i] - gain[i] * level - shift[i])
            add_sums(y, gain, shift, mass, levels[k], part[k * (2 + 2 * p) :])
            for i in range(n):
                images[2 + k, place[low + i]] += mass[i] * gain[i] * gain[i]
        for i in range(n):
            images[0, place[low + i]] += information[i]
            images[1, place[low + i]] += lift[i]


@njit(cache=True)
def _pass(
    Y: Floats,
    f: Floats,
    multiplicative: bool,
    weights: Floats,
    place: Ints,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    outlier: float,
    images: Floats,
    q: Floats32,
    parts: Floats,
) -> None:
    for i in range(len(parts)):
        _pass_piece(i, Y, f, multiplicative, weights, place, levels, precision, logs, outlier, images, q, parts[i])


@njit(parallel=True, cache=True)
def _pass_threads(
    Y: Floats,
    f: Floats,
    multiplicative: bool,
    weights: Floats,
    place: Ints,
    levels: Floats,
    precision: Floats,
    logs: Floats,
    outlier: float,
    images: Floats,
    q: Floats32,
    parts: Floats,
) -> None:
    for i in prange(len(parts)):
        _pass_piece(i, Y, f, multiplicative, weights, place, levels, precision, logs, outlier, images, q, parts[i])


@njit(cache=True)
def _squares_piece(
    piece: int, Y: Floats, f: Floats, multiplicative: bool, weights: Floats, levels: Floats, q: Floats32, part: Floats
) -> None:
    M, p = levels.shape
    y, mass, room = np.empty((p, CHUNK)), np.empty(CHUNK), np.empty((2, CHUNK))
    sums = np.empty(2 + 2 * p)
    for low in range(piece * PIECE, min((piece + 1) * PIECE, len(Y)), CHUNK):
        n = min(CHUNK, len(Y) - low)
        gain, shift = room[0, :n], room[1, :n]
        channels_first(Y, low, n, y)
        field_at(f[low : low + n], multiplicative, gain, shift)
        for k in range(M):
            for i in range(n):
                mass[i] = weights[low + i] * q[k, low + i]
            sums[:] = 0.0
            add_sums(y, gain, shift, mass, levels[k], sums)
            part[k] += sums[2 + p :]


@njit(cache=True)
def _squares(
    Y: Floats, f: Floats, multiplicative: bool, weights: Floats, levels: Floats, q: Floats32, parts: Floats
) -> None:
    for i in range(len(parts)):
        _squares_piece(i, Y, f, multiplicative, weights, levels, q, parts[i])


@njit(parallel=True, cache=True)
def _squares_threads(
    Y: Floats, f: Floats, multiplicative: bool, weights: Floats, levels: Floats, q: Floats32, parts: Floats
) -> None:
    for i in prange(len(parts)):
        _squares_piece(i, Y, f, multiplicative, weights, levels, q, parts[i])
