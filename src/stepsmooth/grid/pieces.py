"""The pieces into which a mask falls, voxels touching by their faces: run by run along the last axis."""

import numpy as np
from numba import njit, prange

from stepsmooth.grid.volume import Bools
from stepsmooth.model.arrays import Ints


def piece_sizes(mask: Bools) -> Ints:
    """Return how many voxels each piece of a mask has, in any number of dimensions.

    Examples
    --------
    >>> piece_sizes(np.array([[1, 1, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0]], dtype=bool))
    array([3, 2, 1])
    """
    rows = np.ascontiguousarray(mask).reshape(-1, mask.shape[-1])
    lead = np.array(mask.shape[:-1], dtype=np.int64)
    count = np.zeros(len(rows) + 1, dtype=np.int64)
    _count_runs(rows, count[1:])
    np.cumsum(count, out=count)
    begin, end, root = (np.empty(count[-1], dtype=np.int64) for _ in range(3))
    _list_runs(rows, count, begin, end)
    steps = np.append(np.cumprod(lead[:0:-1])[::-1], 1) if len(lead) else lead
    _join(count, begin, end, lead, steps, root)
    sizes = np.bincount(root, end - begin, minlength=1).astype(np.int64)
    return np.asarray(sizes[sizes > 0])


@njit(parallel=True, cache=True)
def _count_runs(rows: Bools, count: Ints) -> None:
    """Put the number of runs in each row into `count`."""
    for r in prange(len(rows)):
        row = rows[r]
        total = np.int64(row[0])
        for z in range(1, len(row)):
            total += row[z] & ~row[z - 1]
        count[r] = total


@njit(parallel=True, cache=True)
def _list_runs(rows: Bools, count: Ints, begin: Ints, end: Ints) -> None:
    for r in prange(len(rows)):
        row, at, before = rows[r], count[r], False
        if count[r + 1] == at:
            continue
        for z in range(len(row)):
            if row[z] and not before:
                begin[at] = z
            elif before and not row[z]:
                end[at] = z
                at += 1
            before = row[z]
        if before:
            end[at] = len(row)


@njit(cache=True)
def _join(count: Ints, begin: Ints, end: Ints, lead: Ints, steps: Ints, root: Ints) -> None:
    """Put the first run of its piece into `root`, for each run: union and find over rows that lie side by side."""
    for i in range(len(root)):
        root[i] = i
    for r in range(len(count) - 1):
        for a in range(len(lead)):
            if r // steps[a] % lead[a] == 0:
                continue
            i, j = count[r], count[r - steps[a]]
            while i < count[r + 1] and j < count[r - steps[a] + 1]:
                if begin[i] < end[j] and begin[j] < end[i]:
                    one, other = _top(root, i), _top(root, j)
                    root[max(one, other)] = min(one, other)
                if end[i] < end[j]:
                    i += 1
                else:
                    j += 1
    for i in range(len(root)):
        root[i] = _top(root, i)


@njit(cache=True)
def _top(root: Ints, i: int) -> int:
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i
