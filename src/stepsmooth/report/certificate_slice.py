"""One slice of a certified volume, as a certificate of its own that a picture can show."""

from dataclasses import replace

import numpy as np
from scipy.spatial import cKDTree

from stepsmooth.model.arrays import Ints
from stepsmooth.topology import Certificate, Lattice


def slice_of(
    certificate: Certificate, lattice: Lattice, axis: int, index: int | None
) -> tuple[Certificate, Lattice, int]:
    """Return what a certificate says of one slice, the slice as a lattice, and which slice it is.

    Verdict, margin and premise remain those of the volume. Edges that cross the slice or lie in it are kept, from and
    to its voxels that are nearest to their ends.

    Parameters
    ----------
    certificate : Certificate
    lattice : Lattice
        The voxels that were certified, in three or more dimensions.
    axis : int
        The axis across the slice.
    index : int or None
        None is the slice that most edges cross or, if there are none, the one with the most voxels.

    Examples
    --------
    >>> from stepsmooth.topology import certify
    >>> mask = np.ones((2, 3, 4), dtype=bool)
    >>> labels = np.indices(mask.shape).sum(axis=0) % 2
    >>> found = certify(Lattice(mask), labels, [0.0, 1.0], modulus=0.1)
    >>> part, piece, index = slice_of(found, Lattice(mask), axis=0, index=None)
    >>> part.verdict, piece.mask.shape, len(part.parts), index
    ('identified', (3, 4), 12, 0)
    """
    axis = axis % lattice.mask.ndim
    places = np.argwhere(lattice.mask)
    ends = np.sort(places[certificate.edges][:, :, axis], axis=1)
    depth = lattice.mask.shape[axis]
    if index is None:
        crossings = np.zeros(depth + 1, dtype=np.int64)
        np.add.at(crossings, ends[:, 0], 1)
        np.add.at(crossings, ends[:, 1] + 1, -1)
        voxels = np.bincount(places[:, axis], minlength=depth)
        usable = voxels > 1
        index = int(np.lexsort((-np.arange(depth), voxels, np.cumsum(crossings)[:-1] * usable, usable))[-1])
    if not 0 <= index < depth or np.sum(places[:, axis] == index) < 2:
        raise ValueError(f"index must be a slice along axis {axis} with at least two labelled voxels; found {index!r}.")
    inside = places[:, axis] == index
    piece = Lattice(np.take(lattice.mask, index, axis=axis), np.delete(lattice.spacing, axis))
    crossing = certificate.edges[(ends[:, 0] <= index) & (ends[:, 1] >= index)]
    flat = np.delete(places, axis, axis=1) * piece.spacing
    edges = np.asarray(cKDTree(flat[inside]).query(flat[crossing.ravel()])[1], dtype=np.int64).reshape(-1, 2)
    other = certificate.alternative
    shown = replace(
        certificate,
        edges=edges,
        parts=_largest_first(certificate.parts[inside]),
        alternative=None if other is None else other[inside],
    )
    return shown, piece, index


def _largest_first(parts: Ints) -> Ints:
    """Return parts numbered anew, the largest first; -1 stays.

    Examples
    --------
    >>> _largest_first(np.array([7, -1, 3, 3]))
    array([ 1, -1,  0,  0])
    """
    _, part, count = np.unique(parts[parts >= 0], return_inverse=True, return_counts=True)
    rank = np.empty(len(count), dtype=np.int64)
    rank[np.argsort(-count, kind="stable")] = np.arange(len(count))
    out = np.full(len(parts), -1, dtype=np.int64)
    out[parts >= 0] = rank[part]
    return out
