"""Labels in as few bytes as they need, with a border of one voxel: every voxel then has all its neighbours."""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from stepsmooth.grid.volume import Labels

Small = NDArray[np.uint8] | NDArray[np.uint16]


def small_type(n_classes: int) -> type[np.unsignedinteger]:
    """Return the smallest type for labels, and one more for "none"."""
    return np.uint8 if n_classes < 255 else np.uint16


def pad(labels: Labels, n_classes: int) -> Small:
    """Return labels with a border of one voxel in space; there, and where there is none, stands `n_classes`.

    Examples
    --------
    >>> pad(np.array([0, -1, 1], dtype=np.int16).reshape(1, 3, 1, 1), 2)[0, :, 1, 1]
    array([2, 0, 2, 1, 2], dtype=uint8)
    """
    frames, nx, ny, nz = labels.shape
    padded = np.empty((frames, nx + 2, ny + 2, nz + 2), dtype=small_type(n_classes))
    _pad(labels, n_classes, padded)
    return padded


def unpad(padded: Small, n_classes: int) -> Labels:
    """Return the labels without their border; -1 where there is none."""
    frames, nx, ny, nz = padded.shape
    labels = np.empty((frames, nx - 2, ny - 2, nz - 2), dtype=np.int16)
    _unpad(padded, n_classes, labels)
    return labels


@njit(parallel=True, cache=True)
def _pad(labels: Labels, none: int, padded: Small) -> None:
    frames, nx, ny, _ = padded.shape
    for row in prange(frames * nx):
        t, x = row // nx, row % nx
        for y in range(ny):
            line = padded[t, x, y]
            line[:] = none
            if 0 < x < nx - 1 and 0 < y < ny - 1:
                inner, given = line[1:-1], labels[t, x - 1, y - 1]
                for z in range(len(given)):
                    inner[z] = given[z] if given[z] >= 0 else none


@njit(parallel=True, cache=True)
def _unpad(padded: Small, none: int, labels: Labels) -> None:
    frames, nx, ny, _ = labels.shape
    for row in prange(frames * nx):
        t, x = row // nx, row % nx
        for y in range(ny):
            inner, line = padded[t, x + 1, y + 1, 1:-1], labels[t, x, y]
            for z in range(len(line)):
                line[z] = inner[z] if inner[z] != none else -1
