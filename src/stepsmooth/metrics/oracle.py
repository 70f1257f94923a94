"""The Bayes classifier that knows smooth part, levels and noise: the ceiling for any method."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import ArrayLike
from scipy.stats import norm

from .arguments import Floats, Ints, columns, distributions, variances


def bayes_oracle(
    y: ArrayLike,
    smooth: ArrayLike,
    levels: ArrayLike,
    noise_variance: ArrayLike,
    proportions: ArrayLike | None = None,
    transition_matrix: ArrayLike | None = None,
) -> Ints:
    """Return the most probable label of each observation, given all but the labels.

    Pointwise, this is the label that maximises ``pi_k N(y; smooth + levels[k], noise_variance)``; with a
    transition matrix, the mode of each label's posterior given the whole signal (forward-backward). No
    method can expect more correct labels. Ties go to the lower label.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, p)
        The observations; with a transition matrix, in the order of the chain, one step per row.
    smooth : array-like of shape (n,) or (n, p)
        The true smooth part.
    levels : array-like of shape (M,) or (M, p)
        The true levels.
    noise_variance : float or array-like
        The true variance: one number; for scalar data one per class, (M,); for vector data one per channel,
        (p,), or per class and channel, (M, p). Zero everywhere means that the nearest level is certain.
    proportions : array-like of shape (M,), optional
        Probability of each label, or of the first label of the chain; uniform by default.
    transition_matrix : array-like of shape (M, M), optional
        ``transition_matrix[j, k]`` is the probability of label k right after label j.

    Returns
    -------
    ndarray of shape (n,), int64
        The labels.

    See Also
    --------
    bayes_accuracy : The accuracy to expect of the pointwise labels.

    Examples
    --------
    >>> from stepsmooth.datasets import make_markov_steps
    >>> from stepsmooth.metrics import bayes_oracle, ordered_accuracy
    >>> s = make_markov_steps(1000, 2, switching=0.05, noise_variance=0.25, random_state=0)
    >>> pointwise = bayes_oracle(s.y, s.smooth, s.levels, s.noise_variance)
    >>> ordered_accuracy(s.labels, pointwise)
    0.825
    >>> chain = [[0.95, 0.05], [0.05, 0.95]]
    >>> along_chain = bayes_oracle(s.y, s.smooth, s.levels, s.noise_variance, transition_matrix=chain)
    >>> ordered_accuracy(s.labels, along_chain)
    0.971
    """
    observed, mu = columns("y", y), columns("levels", levels)
    n_levels, n_channels = mu.shape
    if observed.shape[1] != n_channels:
        raise ValueError(
            f"y and levels must have the same number of channels; found {observed.shape[1]} and {n_channels}."
        )
    f = columns("smooth", smooth)
    if f.shape not in ((len(observed), 1), observed.shape):
        raise ValueError(
            "smooth must hold one value per row of y, or have the shape of y; "
            f"found shapes {np.shape(smooth)} and {np.shape(y)}."
        )
    steps = observed - f
    variance = variances(noise_variance, n_levels, n_channels, vector=np.ndim(y) == 2)
    start = distributions("proportions", proportions, (n_levels,))
    chain = distributions("transition_matrix", transition_matrix, (n_levels, n_levels))
    if not variance.any():  # the data decide alone, and any common variance finds the nearest level
        posterior = _log_density(steps, mu, np.ones_like(variance))
    else:
        with np.errstate(divide="ignore"):  # probability 0 is log -inf, which both formulas carry
            posterior = _log_density(steps, mu, variance)
            if transition_matrix is None:
                posterior += np.log(start)
            else:
                posterior = chain_posterior(posterior, np.log(start), np.log(chain))
    return np.asarray(np.argmax(posterior, axis=1), dtype=np.int64)


def bayes_accuracy(levels: ArrayLike, noise_variance: ArrayLike, proportions: ArrayLike | None = None) -> float:
    """Return the accuracy to expect of the pointwise Bayes classifier, for scalar levels.

    It is the integral of ``max_k pi_k N(t; levels[k], noise_variance)`` over t, exact: between the points
    where two of these curves cross, one class wins, with a normal probability.

    Parameters
    ----------
    levels : array-like of shape (M,)
        The levels.
    noise_variance : float or array-like of shape (M,)
        The variance of the noise, one number or one per class.
    proportions : array-like of shape (M,), optional
        Probability of each label; uniform by default.

    Returns
    -------
    float
        Between ``max(proportions)`` and 1.

    Examples
    --------
    >>> from stepsmooth.metrics import bayes_accuracy
    >>> [round(bayes_accuracy([-1, 0, 1], variance), 3) for variance in (0.0, 0.05, 0.1, 0.15)]
    [1.0, 0.983, 0.924, 0.869]
    """
    if np.ndim(levels) != 1:
        raise ValueError(f"levels must be one number per class, (M,); found shape {np.shape(levels)}.")
    mu = columns("levels", levels)[:, 0]
    variance = variances(noise_variance, len(mu), 1, vector=False)[:, 0]
    share = distributions("proportions", proportions, (len(mu),))
    if not variance.any():  # only equal levels are confused
        return float(sum(share[mu == level].max() for level in np.unique(mu)))
    mu, variance, share = mu[share > 0] - mu[share > 0].mean(), variance[share > 0], share[share > 0]
    edges = np.array([-np.inf, *_crossings(mu, variance, share), np.inf])
    middle = np.zeros(1)  # no crossing: one class wins everywhere
    if len(edges) > 2:
        middle = np.concatenate([[edges[1] - 1], (edges[1:-2] + edges[2:-1]) / 2, [edges[-2] + 1]])
    density = np.log(share) - 0.5 * np.log(variance) - (middle[:, None] - mu) ** 2 / (2 * variance)
    best = density.argmax(axis=1)
    upper, lower = (norm.cdf((t - mu[best]) / np.sqrt(variance[best])) for t in (edges[1:], edges[:-1]))
    return min(1.0, float(np.sum(share[best] * (upper - lower))))


def _crossings(mu: Floats, variance: Floats, share: Floats) -> Floats:
    """Return, ascending, the points where two of the curves ``share N(t; mu, variance)`` are equal."""
    first, second = np.triu_indices(len(mu), k=1)
    top = variance.max()
    v, w = variance[first] / top, variance[second] / top
    # The log ratio of the two curves, times 2 v w top: the parabola a t^2 + 2 b t + c, a line if v = w.
    a, b = v - w, mu[first] * w - mu[second] * v
    log_ratio = 2 * np.log(share[first] / share[second]) + np.log(w / v)
    c = mu[second] ** 2 * v - mu[first] ** 2 * w + v * w * top * log_ratio
    # The form of the roots that does not cancel, so that nearly equal variances do no harm.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        q = -b - np.copysign(np.sqrt(b**2 - a * c), b)
        roots = np.concatenate([q / a, c / q])
    return np.unique(roots[np.isfinite(roots)])


def _log_density(steps: Floats, mu: Floats, variance: Floats) -> Floats:
    """Return the log density of each observation under each class, (n, M), up to a constant."""
    density = np.empty((len(steps), len(mu)))
    for k in range(len(mu)):  # a loop, so that memory stays at n M whatever the number of channels
        density[:, k] = -0.5 * ((steps - mu[k]) ** 2 / variance[k] + np.log(variance[k])).sum(axis=1)
    return density


@njit(cache=True)
def _log_sum_exp(terms: Floats) -> float:
    top = terms.max()
    if top == -np.inf:
        return -np.inf
    total = 0.0
    for term in terms:
        total += math.exp(term - top)
    return float(top + math.log(total))


@njit(cache=True)
def chain_posterior(density: Floats, start: Floats, chain: Floats) -> Floats:
    """Return the log posterior of each label, up to a constant per row: forward-backward in logs.

    In logs, since a forbidden transition (-inf) beside a likelihood that underflows would leave 0 / 0.
    """
    n, m = density.shape
    posterior = np.empty((n, m))  # first the forward pass, then the backward pass on top
    terms, backward, after = np.empty(m), np.zeros(m), np.empty(m)
    for k in range(m):
        posterior[0, k] = start[k] + density[0, k]
    for i in range(1, n):
        highest = posterior[i - 1].max()  # taken out at each step, so that digits last over long signals
        for k in range(m):
            for j in range(m):
                terms[j] = posterior[i - 1, j] - highest + chain[j, k]
            posterior[i, k] = density[i, k] + _log_sum_exp(terms)
    for i in range(n - 2, -1, -1):
        for k in range(m):
            after[k] = density[i + 1, k] + backward[k]
        highest = after.max()
        for j in range(m):
            for k in range(m):
                terms[k] = chain[j, k] + after[k] - highest
            backward[j] = _log_sum_exp(terms)
        for k in range(m):
            posterior[i, k] += backward[k]
    return posterior
