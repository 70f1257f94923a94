"""What a step of the joint fit reads off the blocks, in one pass: images on their grid, and sums over them."""

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.mixture import MANY, PIECE, Classes, constants, probabilities
from stepsmooth.grid.volume import Floats32
from stepsmooth.model.arrays import Floats, Ints


@dataclass(frozen=True)
class BlockSums:
    """Images on the grid of blocks and sums over the blocks, weighted by the probability q of each class.

    `weight` is the information about f, `lift` where the residuals pull it, `touch` (M, ...) how much of each level a
    change of f would take; `mass`, `information`, `pull` as in `mixture.Sums`.
    """

    weight: Floats
    lift: Floats
    touch: Floats
    mass: Floats
    information: Floats
    pull: Floats
    q: Floats32


def block_sums(blocks: Blocks, f: Floats, multiplicative: bool, classes: Classes) -> BlockSums:
    """Return the sums for classes under a field f at the blocks."""
    M, p = classes.levels.shape
    images = np.zeros((2 + M, int(np.prod(blocks.shape))))
    q = np.empty((len(blocks), M), dtype=np.float32)
    parts = np.zeros((max(-(-len(blocks) // PIECE), 1), M * (2 + p)))
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
    table = parts.sum(axis=0).reshape(M, 2 + p)
    shaped = images.reshape(2 + M, *blocks.shape)
    return BlockSums(shaped[0], shaped[1], shaped[2:], table[:, 0], table[:, 1], table[:, 2:], q)


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
    for i in range(piece * PIECE, min((piece + 1) * PIECE, len(Y))):
        gain, shift = (np.exp(f[i]), 0.0) if multiplicative else (1.0, f[i])
        at = place[i]
        probabilities(Y[i], gain, shift, levels, precision, logs, outlier, q[i])
        for k in range(M):
            w = weights[i] * q[i, k]
            if w == 0.0:
                continue
            row = k * (2 + p)
            part[row] += w
            part[row + 1] += w * gain**2
            # In f the mean rises by gain * level, or by 1 where f adds (then gain is 1).
            for c in range(p):
                slope = levels[k, c] if multiplicative else 1.0
                residual = Y[i, c] - gain * levels[k, c] - shift
                part[row + 2 + c] += w * gain * residual
                images[0, at] += w * gain**2 * slope**2 * 2.0 * precision[k, c]
                images[1, at] += w * gain * slope * 2.0 * precision[k, c] * residual
            images[2 + k, at] += w * gain**2


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
    for i in range(piece * PIECE, min((piece + 1) * PIECE, len(Y))):
        gain, shift = (np.exp(f[i]), 0.0) if multiplicative else (1.0, f[i])
        for k in range(M):
            w = weights[i] * q[i, k]
            if w > 0.0:
                for c in range(p):
                    part[k, c] += w * (Y[i, c] - gain * levels[k, c] - shift) ** 2


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
