"""The voxels on which fields are compared, in cubes of space that are held out in turn."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.volume import Bools, Volume
from stepsmooth.model.arrays import Floats, Ints

N_FOLDS = 5
# About how many voxels are scored.
N_SCORED = 60_000


@dataclass(frozen=True)
class ScoredVoxels:
    """A thinned grid of voxels to score: values (n, p), weights, place on that grid, cube and fold of each.

    `spread` is the noise variance of a voxel, in that of a block of the fit; `unlike` (n, p) how much each differs from
    its neighbours, as a sum of squares, infinite at the border.
    """

    values: Floats
    weights: Floats
    place: Ints
    coordinates: list[Floats]
    cube: Ints
    fold: Ints
    spread: float
    unlike: Floats

    @cached_property
    def mass(self) -> Floats:
        """Return the weight of the voxels in every cube."""
        return np.bincount(self.cube, self.weights).astype(np.float64)

    @classmethod
    def of(cls, volume: Volume, blocks: Blocks, cube_side: float) -> "ScoredVoxels":
        """Return every k-th voxel along each axis, k such that about `N_SCORED` remain; or merged blocks themselves.

        A large volume tells finer differences than so few voxels do; the means of its blocks say what all would.
        """
        if blocks.merged > 1.0:
            cube, fold = cubes(blocks.place, blocks.shape, blocks.coordinates, cube_side)
            return cls(blocks.means, blocks.weights, blocks.place, blocks.coordinates, cube, fold, 1.0, blocks.within)
        present = int(np.count_nonzero(volume.present))
        axes = sum(n > 1 for n in volume.grid[1:])
        stride = max(int(np.ceil((present / N_SCORED) ** (1.0 / max(axes, 1)))), 1)
        thin = tuple(slice(None, None, stride if n > 1 else 1) for n in volume.grid[1:])
        values = volume.values[(slice(None), slice(None), *thin)]
        where = np.flatnonzero(~np.isnan(values[0]))
        coordinates = [x[s] for x, s in zip(volume.coordinates(), thin)]
        shape = values.shape[2:]
        weights = np.ones(len(where))
        if volume.weights is not None:
            weights = volume.weights[(slice(None), *thin)].reshape(-1)[where].astype(np.float64)
        place = where % int(np.prod(shape))
        cube, fold = cubes(place, shape, coordinates, cube_side)
        picked = np.ascontiguousarray(values.reshape(len(values), -1)[:, where].T.astype(np.float64))
        frame, *index = np.unravel_index(where, values.shape[1:])
        unlike = _unlike(volume, picked, [frame, *(i * (s.step or 1) for i, s in zip(index, thin))])
        return cls(picked, weights, place, coordinates, cube, fold, float(blocks.voxels_per_block), unlike)

    def part(self, keep: Bools) -> "ScoredVoxels":
        """Return some of the voxels."""
        return replace(
            self,
            values=self.values[keep],
            weights=self.weights[keep],
            place=self.place[keep],
            cube=self.cube[keep],
            fold=self.fold[keep],
            unlike=self.unlike[keep],
        )


def cubes(place: Ints, shape: tuple[int, ...], coordinates: list[Floats], side: float) -> tuple[Ints, Ints]:
    """Return the cube of space in which each place of a grid lies, and the fold of that cube.

    The folds run through the cubes like a slanted lattice: no two neighbouring cubes share one.
    """
    index = np.unravel_index(place, shape)
    steps = [np.floor(x / side).astype(np.int64) for x in coordinates]
    i, j, k = (s[at] for s, at in zip(steps, index))
    sizes = [int(s.max()) + 1 for s in steps]
    return (i * sizes[1] + j) * sizes[2] + k, (i + 2 * j + 3 * k) % N_FOLDS


def _unlike(volume: Volume, values: Floats, index: list[Ints]) -> Floats:
    """Return the sum of squared differences of voxels to their neighbours, (n, p)."""
    out = np.zeros_like(values)
    for axis, size in enumerate(volume.grid[1:], start=1):
        for step in (-1, 1) if size > 1 else ():
            moved = index[axis] + step
            there = (*index[:axis], np.clip(moved, 0, size - 1), *index[axis + 1 :])
            squared = np.stack([(image[there] - values[:, c]) ** 2 for c, image in enumerate(volume.values)], axis=1)
            absent = np.isnan(squared) | ((moved < 0) | (moved >= size))[:, None]
            out += np.where(absent, np.inf, squared)
    return out
