"""How many voxels of a block are present, their mean, and how they spread about it: one pass over the voxels."""

import numpy as np
from numba import njit, prange

from stepsmooth.grid.volume import Floats32, Volume
from stepsmooth.model.arrays import Floats, Ints


def block_moments(
    volume: Volume, sides: tuple[int, ...], box: tuple[slice, slice, slice]
) -> tuple[Ints, Floats, Floats, Floats]:
    """Return, for all blocks of a box of space, frame by frame: voxels present, means, sums of squares, weights."""
    values = volume.values[(slice(None), slice(None), *box)]
    weights = np.ones((1, 1, 1, 1), dtype=np.float32) if volume.weights is None else volume.weights[(slice(None), *box)]
    p, t = values.shape[:2]
    shape = tuple(-(-n // s) for n, s in zip(values.shape[2:], sides))
    size = t * int(np.prod(shape))
    counts, mass = np.empty(size, dtype=np.int64), np.empty(size)
    means, spread = np.empty((size, p)), np.empty((size, p))
    _moments(values, weights, volume.weights is not None, np.array(sides), np.array(shape), counts, means, spread, mass)
    return counts, means, spread, mass


@njit(parallel=True, cache=True, error_model="numpy")
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
    p, t, nx, ny, _ = values.shape
    for row in prange(t * shape[0]):
        frame, i = row // shape[0], row % shape[0]
        number, weight, total, square = (np.empty(shape[2]), np.empty(shape[2]), np.empty(shape[2]), np.empty(shape[2]))
        for j in range(shape[1]):
            here = (row * shape[1] + j) * shape[2]
            for c in range(p):
                number[:], weight[:], total[:], square[:] = 0.0, 0.0, 0.0, 0.0
                # First the means, then the squares about them: so no digits are lost.
                for x in range(i * sides[0], min((i + 1) * sides[0], nx)):
                    for y in range(j * sides[1], min((j + 1) * sides[1], ny)):
                        line = values[c, frame, x, y]
                        if weighted:
                            _add_weighted(line, weights[frame, x, y], sides[2], number, weight, total)
                        else:
                            _add(line, sides[2], number, total)
                if not weighted:
                    weight[:] = number
                for k in range(shape[2]):
                    total[k] = total[k] / weight[k] if weight[k] > 0.0 else 0.0
                for x in range(i * sides[0], min((i + 1) * sides[0], nx)):
                    for y in range(j * sides[1], min((j + 1) * sides[1], ny)):
                        line = values[c, frame, x, y]
                        if weighted:
                            _add_weighted_squares(line, weights[frame, x, y], sides[2], total, square)
                        else:
                            _add_squares(line, sides[2], total, square)
                for k in range(shape[2]):
                    means[here + k, c] = total[k]
                    # As if the weights were one on average: so the spread is that of as many voxels.
                    spread[here + k, c] = square[k] * number[k] / weight[k] if weight[k] > 0.0 else 0.0
            for k in range(shape[2]):
                counts[here + k], mass[here + k] = int(number[k]), weight[k]


@njit(cache=True)
def _add(line: Floats32, side: int, number: Floats, total: Floats) -> None:
    """Add how many voxels of a line are present in each block, and their sum."""
    n = len(line)
    pairs = n // 2 if side == 2 else 0
    for k in range(pairs):  # by far the most common, and without branches
        first, second = np.float64(line[2 * k]), np.float64(line[2 * k + 1])
        one, two = first == first, second == second
        number[k] += (1.0 if one else 0.0) + (1.0 if two else 0.0)
        total[k] += (first if one else 0.0) + (second if two else 0.0)
    for z in range(2 * pairs, n):
        if line[z] == line[z]:
            number[z // side] += 1.0
            total[z // side] += line[z]


@njit(cache=True)
def _add_squares(line: Floats32, side: int, mean: Floats, square: Floats) -> None:
    """Add the squares of a line's voxels about the means of their blocks."""
    n = len(line)
    pairs = n // 2 if side == 2 else 0
    for k in range(pairs):
        first, second = line[2 * k] - mean[k], line[2 * k + 1] - mean[k]
        square[k] += (first * first if first == first else 0.0) + (second * second if second == second else 0.0)
    for z in range(2 * pairs, n):
        if line[z] == line[z]:
            square[z // side] += (line[z] - mean[z // side]) ** 2


@njit(cache=True)
def _add_weighted(line: Floats32, weights: Floats32, side: int, number: Floats, weight: Floats, total: Floats) -> None:
    for z in range(len(line)):
        if line[z] == line[z]:
            number[z // side] += 1.0
            weight[z // side] += weights[z]
            total[z // side] += np.float64(weights[z]) * line[z]


@njit(cache=True)
def _add_weighted_squares(line: Floats32, weights: Floats32, side: int, mean: Floats, square: Floats) -> None:
    for z in range(len(line)):
        if line[z] == line[z]:
            square[z // side] += weights[z] * (line[z] - mean[z // side]) ** 2
