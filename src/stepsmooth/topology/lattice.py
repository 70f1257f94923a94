"""Images and volumes: the voxels of a mask as points of a lattice, without ever looking at all pairs.

Face neighbours join first. What is left are the pieces of the mask, and the shortest bridge between two pieces starts
and ends at a voxel that lacks a face neighbour: from any other voxel, the neighbour in the direction of the other end
would be nearer. So Boruvka runs on the surfaces of the pieces alone.

Many trees of a lattice are shortest. The one returned is always the same: among neighbours at one distance, those along
the last axis are joined first, then those along the one before it, and voxels in C order.
"""

from itertools import product

import numpy as np
from numba import njit
from numpy.typing import NDArray

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.topology.boruvka import boruvka, find


class Lattice:
    """The voxels of a mask, in C order, as points of a lattice.

    Parameters
    ----------
    mask : array of bool, any number of dimensions
        True at the voxels that count.
    spacing : float or sequence of floats, default=1.0
        Distance of neighbours along each axis.

    Examples
    --------
    >>> from stepsmooth.topology import connectivity
    >>> connectivity(Lattice([[True, True, False, True]], spacing=(1.0, 2.0)))
    4.0
    """

    def __init__(self, mask: Anything, spacing: Anything = 1.0) -> None:
        array = np.asarray(mask)
        if array.dtype != np.bool_:
            raise ValueError(f"mask must be an array of bool; found {array.dtype}.")
        if array.ndim == 0 or int(array.sum()) < 2:
            raise ValueError(f"mask must hold at least two voxels; found {int(array.sum())}.")
        steps = np.asarray(spacing, dtype=np.float64)
        if steps.shape not in ((), (array.ndim,)) or not np.all(np.isfinite(steps) & (steps > 0.0)):
            raise ValueError(
                f"spacing must be one number above 0, or one for each of the {array.ndim} axes; found {spacing!r}."
            )
        self.mask: NDArray[np.bool_] = array
        self.spacing: Floats = np.broadcast_to(steps, (array.ndim,)).copy()

    @property
    def n_points(self) -> int:
        """Number of voxels of the mask."""
        return int(self.mask.sum())

    def points(self) -> Floats:
        """Return the positions of the voxels, (n, d)."""
        return np.argwhere(self.mask) * self.spacing

    def on_grid(self, values: Anything, outside: int = -1) -> Ints:
        """Return labels of the voxels as an image; an image of labels is returned as it is.

        Examples
        --------
        >>> Lattice([True, False, True]).on_grid([5, 6])
        array([ 5, -1,  6])
        """
        array = np.asarray(values)
        image = np.full(self.mask.shape, outside, dtype=np.int64)
        if array.shape not in ((self.n_points,), self.mask.shape):
            raise ValueError(
                f"labels must hold one label for each of the {self.n_points} voxels of the mask, or have its shape "
                f"{self.mask.shape}; found shape {array.shape}."
            )
        image[self.mask] = array if array.ndim == 1 and array.shape != self.mask.shape else array[self.mask]
        return image


def lattice_tree(lattice: Lattice) -> tuple[Ints, Floats]:
    """Return the edges (n - 1, 2) and lengths (n - 1,) of the minimum spanning tree of a mask, shortest first.

    Examples
    --------
    >>> lattice_tree(Lattice([[True, True], [False, True]]))
    (array([[0, 1],
           [1, 2]]), array([1., 1.]))
    """
    mask, spacing, n = lattice.mask, lattice.spacing, lattice.n_points
    steps, step_lengths = _steps(spacing, mask.shape)
    frame = np.abs(steps).max(axis=0)  # so that no step leaves the array
    number = np.full(tuple(np.array(mask.shape) + 2 * frame), -1, dtype=np.int64)
    inner = tuple(slice(r, r + size) for r, size in zip(frame, mask.shape))
    number[inner][mask] = np.arange(n)
    flat, strides = number.ravel(), np.array(number.strides) // number.itemsize
    places = np.flatnonzero(flat >= 0)
    parent, edges, lengths, done = np.arange(n), np.empty((n - 1, 2), np.int64), np.empty(n - 1), 0
    for step, length in zip(steps, step_lengths):
        before = done
        done = _join(flat, places, int(step @ strides), parent, edges, done)
        lengths[before:done] = length
        if done == n - 1:
            return edges, lengths
    surface = _surface(flat, places, strides)
    pieces = np.array([find(parent, i) for i in surface])
    bridges, lengths[done:] = boruvka(np.argwhere(mask)[surface] * spacing, pieces)
    edges[done:] = surface[bridges]
    return edges, lengths


def _steps(spacing: Floats, shape: tuple[int, ...]) -> tuple[Ints, Floats]:
    """Return one of each pair of opposite steps that are no longer than the longest face step, shortest first."""
    # Very thin voxels are as many to a face step as one likes, but none lies outside the array.
    most = np.minimum(np.floor(spacing.max() / spacing * (1.0 + 1e-12)), np.maximum(np.array(shape) - 1, 1))
    reach = [range(-r, r + 1) for r in most.astype(int)]
    steps = np.array([s for s in product(*reach) if s > (0,) * len(s)])
    lengths = np.linalg.norm(steps * spacing, axis=1)
    short = np.flatnonzero(lengths <= spacing.max() * (1.0 + 1e-12))
    short = short[np.argsort(lengths[short], kind="stable")]
    return steps[short], lengths[short]


@njit(cache=True)
def _join(flat: Ints, places: Ints, step: int, parent: Ints, edges: Ints, done: int) -> int:
    """Join each voxel with the one a step away, and return how many edges the tree has by then."""
    for place in places:
        i, j = flat[place], flat[place + step]
        if j >= 0:
            a, b = find(parent, i), find(parent, j)
            if a != b:
                parent[a] = b
                edges[done, 0], edges[done, 1] = min(i, j), max(i, j)
                done += 1
                if done == len(edges):
                    break
    return done


def _surface(flat: Ints, places: Ints, strides: Ints) -> Ints:
    """Return the voxels that lack a face neighbour."""
    lacks = np.zeros(len(places), dtype=bool)
    for stride in strides:
        lacks |= (flat[places + stride] < 0) | (flat[places - stride] < 0)
    return np.flatnonzero(lacks)
