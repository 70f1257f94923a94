"""Recordings that were filtered: neighbouring samples share their noise, and a smooth part would follow it.

The model's noise is white. Noise that a filter has smoothed looks like a rough f: f takes it, and the steps with it. So
one sample in a few is fitted, as many apart as the filter joins, and all are labelled under that fit.
"""

from dataclasses import replace

import numpy as np

from stepsmooth.estimators import uncertainty
from stepsmooth.estimators.result import Result
from stepsmooth.metrics.oracle import chain_posterior
from stepsmooth.model.arrays import Floats

# The largest steps between samples are jumps of the level, and say nothing of the noise.
JUMPS = 0.05
# Differences of white noise have the correlation -1/2; nearer to that than this it is white enough.
WHITE = -0.2
# At most one in so many samples is taken, and so many must remain: an f that merely turns fast is not noise.
MOST, FEWEST = 50, 200
# The noise is judged on so many samples.
N_JUDGED = 100_000


def differences_correlation(y: Floats) -> float:
    """Return the correlation of neighbouring differences of y (n,), jumps left out: about -1/2 for white noise.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=10_000)
    >>> round(differences_correlation(noise), 1)
    -0.4
    >>> round(differences_correlation(np.convolve(noise, np.hanning(12))), 1)
    0.8
    """
    steps = np.diff(y)
    steps = steps / max(float(np.abs(steps).max(initial=0.0)), 1e-300)  # squares of any unit are numbers
    small = np.abs(steps) <= np.quantile(np.abs(steps), 1.0 - JUMPS)
    pair = small[1:] & small[:-1]
    one, other = steps[1:][pair], steps[:-1][pair]
    return float(2.0 * (one @ other) / max(one @ one + other @ other, 1e-300))


def white_every(Y: Floats) -> int:
    """Return the k for which every k-th row of Y (n, p) has noise of its own; 1 if all rows have, or nothing helps.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(10_000, 1))
    >>> white_every(noise), white_every(np.convolve(noise[:, 0], np.hanning(12))[:, None])
    (1, 5)
    """
    few = min(MOST, len(Y) // FEWEST)
    if few < 2 or _correlation(Y, 1) <= 0.0:
        return 1
    for k in range(2, few + 1):
        # A hum, sampled more thinly, also alternates, but comes round again; noise does not.
        if _correlation(Y, k) <= WHITE and all(_correlation(Y, again * k) < 0.0 for again in (2, 3)):
            return k
    return 1


def _correlation(Y: Floats, every: int) -> float:
    return float(np.mean([differences_correlation(y[:N_JUDGED:every]) for y in Y.T]))


def filled_in(thin: Result, x: Floats, Y: Floats, every: int) -> Result:
    """Return the result for all points, in the order of x, of a fit to every k-th of them.

    The noise of k neighbours is about that of one: each has a k-th part of a say in its label and in its neighbours'.
    """
    smooth = thin.part.at(x[:, None])
    even = np.full(len(thin.levels), 1.0 / len(thin.levels))
    densities = uncertainty.log_densities(Y - smooth, thin.levels, thin.noise_variance, even) / every
    chain, chain_se = thin.transition_matrix, thin.transition_se
    if chain is None:
        densities += np.log(np.maximum(thin.proportions, 1e-300))
    else:
        stay = np.eye(len(chain))
        chain, chain_se = stay + (chain - stay) / every, None if chain_se is None else chain_se / every
        with np.errstate(divide="ignore"):
            densities = chain_posterior(densities, np.log(thin.proportions), np.log(chain))
    probabilities = uncertainty.normalise(densities)
    taken = x[::every]
    nearest = np.minimum((np.arange(len(x)) + every // 2) // every, len(taken) - 1)
    return replace(
        thin,
        labels=probabilities.argmax(axis=1).astype(np.int64),
        probabilities=probabilities,
        smooth=smooth,
        smooth_se=np.interp(x, taken, thin.smooth_se[:, 0])[:, None],
        proportions=probabilities.mean(axis=0),
        selection=thin.selection | {"thinning": {"method": "correlation of differences", "chosen": every}},
        transition_matrix=chain,
        transition_se=chain_se,
        alternatives=[labels[nearest] for labels in thin.alternatives],
    )
