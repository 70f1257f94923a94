"""EM for the classes of a small sample under a given field, in one compiled loop.

A search for classes takes hundreds of steps on a few thousand observations: there a step of `mixture.updated` on
`mixture.class_sums` costs more in Python than in arithmetic. Those two are the plain way; both have to agree.
"""

from dataclasses import replace

import numpy as np
from numba import njit

from stepsmooth.grid.mixture import OUTLIERS, PIECE, POOLED, Classes, sums_of_pieces
from stepsmooth.model.arrays import Floats

# Steps end when one adds less than this share of the log-likelihood.
SETTLED = 1e-6


def em_steps(
    Y: Floats, gain: Floats, shift: Floats, weights: Floats, classes: Classes, floor: Floats, steps: int, *, keep: bool
) -> tuple[Classes, float]:
    """Return the classes after at most so many steps, and their log-likelihood; levels stay if asked to (`keep`)."""
    levels, variances, share = classes.levels.copy(), np.array(classes.variances), classes.proportions.copy()
    outlier = float(np.log(OUTLIERS * classes.outlier_density))
    loglik = _em(Y, gain, shift, weights, levels, variances, share, outlier, floor, classes.alike, keep, steps)
    return replace(classes, levels=levels, variances=variances, proportions=share), float(loglik)


@njit(cache=True, error_model="numpy")
def _em(
    Y: Floats,
    gain: Floats,
    shift: Floats,
    weights: Floats,
    levels: Floats,
    variances: Floats,
    share: Floats,
    outlier: float,
    floor: Floats,
    alike: bool,
    keep: bool,
    steps: int,
) -> float:
    """Move levels, variances and shares in place, as `mixture.updated` does; return the log-likelihood they end at."""
    M, p = levels.shape
    parts = np.empty((max(-(-len(Y) // PIECE), 1), 1 + M * (2 + 2 * p)))
    logs, before = np.empty(M), -np.inf
    for step in range(steps + 1):
        for k in range(M):
            logs[k] = np.log((1.0 - OUTLIERS) * share[k]) - 0.5 * np.sum(np.log(2.0 * np.pi * variances[k]))
        parts[:] = 0.0
        sums_of_pieces(Y, gain, shift, weights, levels, 0.5 / variances, logs, outlier, parts)
        total = parts.sum(axis=0)
        table = total[1:].reshape(M, 2 + 2 * p)
        if step == steps:
            break
        _update(table, levels, variances, share, floor, alike, keep)
        if total[0] - before < SETTLED * abs(total[0]):
            steps = step + 1  # once more, for the log-likelihood
        before = total[0]
    return float(total[0])


@njit(cache=True, error_model="numpy")
def _update(
    table: Floats, levels: Floats, variances: Floats, share: Floats, floor: Floats, alike: bool, keep: bool
) -> None:
    M, p = levels.shape
    mass, information = table[:, 0], table[:, 1]
    least, everything = 1e-8 * information.sum(), mass.sum()
    squares = np.empty((M, p))
    for k in range(M):
        for c in range(p):
            pull = table[k, 2 + c]
            by = pull / information[k] if information[k] > least and not keep else 0.0
            levels[k, c] += by
            squares[k, c] = table[k, 2 + p + c] - 2.0 * by * pull + by * by * information[k]
    for c in range(p):
        pooled = squares[:, c].sum() / max(everything, 1e-300)
        for k in range(M):
            own = (squares[k, c] + POOLED * pooled) / (mass[k] + POOLED)
            variances[k, c] = max(pooled if alike else own, floor[c])
    for k in range(M):
        share[k] = max(mass[k], 1e-12 * everything + 1e-300)
    share /= share.sum()
