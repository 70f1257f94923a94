"""Symmetric band matrices: what sums over products of tensor-product splines look like.

Two cubic splines overlap if they are at most three apart along every axis, so with the longest axis slowest the matrix
of all pairs is a band, and factorising it costs a small part of what a dense matrix would.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.linalg import blas

from stepsmooth.model.arrays import Floats, Ints

REACH = 3


@dataclass(frozen=True)
class BandLayout:
    """Where the product of each pair of functions stands in the band.

    `pairs[a]` are the overlapping pairs (i <= j) along axis a; the sums over them, (h_0, h_1, ...), go from `source`
    to `target`. `order[r]` is the coefficient that has row r of the band.
    """

    pairs: tuple[tuple[Ints, Ints], ...]
    width: int
    order: Ints
    source: Ints
    target: Ints

    @cached_property
    def below(self) -> Ints:
        """Return the flat places, in the dense matrix of all coefficients, of what `target` puts into the band."""
        column, distance = np.divmod(self.target, self.width + 1)
        return np.asarray(self.order[column + distance] * len(self.order) + self.order[column])

    def band(self, sums: Floats) -> "Band":
        """Return the matrix with given sums over the pairs."""
        flat = np.zeros(len(self.order) * (self.width + 1))
        flat[self.target] = sums.reshape(-1)[self.source]
        return Band(flat.reshape(len(self.order), self.width + 1).T, self)


@lru_cache(maxsize=32)
def band_layout(sizes: tuple[int, ...]) -> BandLayout:
    """Return the layout for so many functions along each axis."""
    pairs: list[tuple[Ints, Ints]] = []
    steps: list[Ints] = []
    for k in sizes:
        first = np.arange(k)[:, None]
        second = first + np.arange(min(REACH, k - 1) + 1)
        kept = second < k
        pairs.append((np.broadcast_to(first, kept.shape)[kept], second[kept]))
        steps.append((np.cumsum(kept.ravel()) - 1).reshape(kept.shape))
    axes = sorted(range(len(sizes)), key=lambda a: -sizes[a])
    order = np.arange(int(np.prod(sizes))).reshape(sizes).transpose(axes).ravel()
    place = np.prod([len(rows) for rows, _ in pairs]) // np.cumprod([len(rows) for rows, _ in pairs])
    row: Ints = np.zeros(1, dtype=np.int64)
    column, source, below = row, row, row > 0  # below: whether the row is known to come after the column
    for a in axes:
        k, reach = sizes[a], steps[a].shape[1] - 1
        i, d = np.repeat(np.arange(k), 2 * reach + 1), np.tile(np.arange(-reach, reach + 1), k)
        inside = np.flatnonzero((i + d >= 0) & (i + d < k))
        i, d = i[inside], d[inside]
        pair = steps[a][np.minimum(i, i + d), np.abs(d)]
        keep = below[:, None] | (d >= 0)
        row = (row[:, None] * k + i + d)[keep]
        column = (column[:, None] * k + i)[keep]
        source = (source[:, None] + pair * place[a])[keep]
        below = (below[:, None] | (d > 0))[keep]
    width = int((row - column).max())
    return BandLayout(tuple(pairs), width, order, source, column * (width + 1) + row - column)


@dataclass(frozen=True)
class Band:
    """A symmetric matrix as its lower band, (width + 1, n) in Fortran's order, in the rows of a layout."""

    data: Floats
    layout: BandLayout

    def __len__(self) -> int:
        return int(self.data.shape[1])

    def __add__(self, other: "Band") -> "Band":
        return Band(self.data + other.data, self.layout)

    @cached_property
    def trace(self) -> float:
        """Return the sum of the diagonal."""
        return float(self.data[0].sum())

    def times(self, vector: Floats) -> Floats:
        """Return the matrix times a vector, both in the band's rows."""
        return np.asarray(blas.dsbmv(self.layout.width, 1.0, self.data, vector, lower=1))

    @cached_property
    def dense(self) -> Floats:
        """Return the whole matrix, in the order of the coefficients."""
        n, layout = len(self), self.layout
        full = np.zeros((n, n))
        full.reshape(-1)[layout.below] = self.data.T.reshape(-1)[layout.target]
        return np.asarray(full + full.T - np.diag(np.diag(full)))
