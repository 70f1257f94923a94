"""Do labels last? Asked of y itself, before anything is fitted."""

import numpy as np

from stepsmooth.model.arrays import Floats

# Points a block, and the standard errors by which blocks may differ more or less than independent points would.
TOLD_BY = (2, 8, 64)
N_ERRORS = 4.0


def block_ratio(y: Floats, size: int) -> float:
    """Return how much neighbouring block means of y (n, p) differ, relative to what independent points would give.

    Squared differences of means over `size` points are 1 / size of those of points, if labels are independent and f is
    slow. Labels that last make them larger, labels that alternate smaller.

    Examples
    --------
    >>> labels = np.random.default_rng(0).integers(2, size=(8000, 1)) + 0.0
    >>> round(block_ratio(labels, 8), 1)
    1.0
    >>> round(block_ratio(labels[:500].repeat(16, axis=0), 8))  # each label lasts for 16 points
    64
    """
    means = y[: len(y) // size * size].reshape(-1, size, y.shape[1]).mean(axis=1)
    points = float(np.mean(np.sum(np.diff(y, axis=0) ** 2, axis=1)))
    return size * float(np.mean(np.sum(np.diff(means, axis=0) ** 2, axis=1))) / max(points, 1e-300)


def is_independent(y: Floats, blocks: tuple[int, ...] = TOLD_BY) -> bool:
    """Return whether y (n, p) looks as independent labels on a slow f would make it, as far as n points can tell.

    Means over long blocks also differ where f is not so slow; those over short ones do not.
    """
    # Of squared differences of Gaussian neighbours, the relative variance of the mean is 3 / count.
    return all(abs(block_ratio(y, size) - 1.0) <= N_ERRORS * np.sqrt(3.0 * size / len(y)) for size in blocks)
