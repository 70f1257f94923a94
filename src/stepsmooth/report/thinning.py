"""What to draw of a large data set: fewer marks, the same picture.

Points are sampled, at least an equal share of every label, so that a rare level stays visible; curves keep
the extremes of every pixel column; runs of equal labels closer than a pixel are joined.
"""

import numpy as np

from stepsmooth.model.arrays import Floats, Ints

MAX_POINTS = 20_000
COLUMNS = 1_500


def sample_points(labels: Ints, limit: int = MAX_POINTS) -> Ints:
    """Choose the points to draw: all of them up to `limit`, else a fixed sample with every label in it.

    Parameters
    ----------
    labels : array of int, shape (n,)
        The label of every point.
    limit : int
        The largest number of points drawn.

    Returns
    -------
    array of int
        Ascending indices, at most `limit`.

    Examples
    --------
    >>> labels = np.zeros(50_000, dtype=int)
    >>> labels[:7] = 1
    >>> drawn = sample_points(labels)
    >>> len(drawn), int((labels[drawn] == 1).sum())
    (20000, 7)
    """
    if len(labels) <= limit:
        return np.arange(len(labels))
    # A fixed seed gives the same picture every time, and unlike a regular stride it beats with no period.
    generator = np.random.default_rng(0)
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    chosen, room = [], limit
    for left, group in zip(range(len(groups), 0, -1), sorted(groups, key=len)):
        take = min(len(group), room // left)
        chosen.append(generator.choice(group, size=take, replace=False))
        room -= take
    return np.sort(np.concatenate(chosen))


def thin_curve(x: Floats, values: Floats, columns: int = COLUMNS) -> Ints:
    """Choose the vertices of a curve that decide its pixels: ends and extremes of every column.

    Parameters
    ----------
    x : array, shape (n,)
        Ascending positions.
    values : array, shape (n,)
        The curve.
    columns : int
        The number of pixel columns that the curve spans.

    Returns
    -------
    array of int
        Ascending indices, at most four per column.

    Examples
    --------
    >>> x = np.linspace(0, 1, 100_000)
    >>> spike = np.zeros_like(x)
    >>> spike[54_321] = 1.0
    >>> kept = thin_curve(x, spike)
    >>> len(kept) < 6_001, bool(spike[kept].max() == 1.0)
    (True, True)
    """
    if len(x) <= 4 * columns:
        return np.arange(len(x))
    starts = np.flatnonzero(np.diff(_columns(x, columns), prepend=-1))
    ends = np.append(starts[1:], len(x)) - 1
    within = np.repeat(np.arange(len(starts)), ends - starts + 1)
    by_value = np.lexsort((values, within))
    return np.unique(np.concatenate([starts, ends, by_value[starts], by_value[ends]]))


def label_runs(x: Floats, labels: Ints, label: int, columns: int = COLUMNS) -> Floats:
    """Find the stretches of the line where one label rules, each from midpoint to midpoint of the neighbours.

    Parameters
    ----------
    x : array, shape (n,)
        Ascending positions.
    labels : array of int, shape (n,)
        The label at each position.
    label : int
        The label wanted.
    columns : int
        Gaps narrower than one of so many columns are closed: they could not be seen.

    Returns
    -------
    array, shape (r, 2)
        Left and right end of each stretch.

    Examples
    --------
    >>> label_runs(np.arange(6.0), np.array([0, 0, 1, 1, 0, 0]), 0)
    array([[0. , 1.5],
           [3.5, 5. ]])
    """
    middles = (x[1:] + x[:-1]) / 2
    edges = np.concatenate([x[:1], middles, x[-1:]])
    inside = np.diff((labels == label).astype(np.int8), prepend=0, append=0)
    runs = np.column_stack([edges[np.flatnonzero(inside == 1)], edges[np.flatnonzero(inside == -1)]])
    if len(x) <= 4 * columns or len(runs) < 2:
        return runs
    apart = runs[1:, 0] - runs[:-1, 1] > (x[-1] - x[0]) / columns
    return np.column_stack([runs[np.r_[True, apart], 0], runs[np.r_[apart, True], 1]])


def _columns(x: Floats, columns: int) -> Ints:
    """Assign each position to its pixel column."""
    width = (x[-1] - x[0]) / columns or 1.0
    column: Ints = np.minimum((x - x[0]) / width, columns - 1).astype(np.int64)
    return column
