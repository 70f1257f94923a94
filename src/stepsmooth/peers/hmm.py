"""Gaussian hidden Markov models by hmmlearn, with a start that is fair to them.

hmmlearn's own start (k-means with one seed, a flat transition matrix) often ends in a poor optimum even
without any drift. Here the levels come from k-means and from quantiles, the transitions start sticky, and the
best likelihood of several starts is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .decomposition import FloatArray, PeerDecomposition, in_our_gauge
from .detrend import Trend, detrended
from .kmeans import kmeans_sklearn
from .optional import require

_STICKINESS = (0.9, 0.99, 0.5)  # chance to stay: dwell times of about 10, 100 and 2 samples


def hmm_levels(
    x: ArrayLike,
    y: ArrayLike,
    n_levels: int,
    *,
    trend: Trend | None = None,
    n_init: int = 6,
    max_iter: int = 100,
    random_state: int = 0,
) -> PeerDecomposition:
    """Take the states of a Gaussian hidden Markov model as the steps, each point by its own posterior.

    Parameters
    ----------
    x : array_like of shape (n,)
        Points; they give the order of the chain, and the trend if one is asked for. None: as they come.
    y : array_like of shape (n,) or (n, p)
        Observations.
    n_levels : int
        Number of states.
    trend : {"spline", "polynomial", "local"} or None, default None
        What to subtract first.
    n_init : int, default 6
        Number of starts: k-means and quantile levels by turns with three stickinesses, then perturbed.
    max_iter : int, default 100
        Iterations of expectation-maximisation per start.
    random_state : int, default 0
        Seed of k-means and of the perturbations.

    Returns
    -------
    PeerDecomposition
        With probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import hmm_levels
    >>> steps = np.repeat([0, 1, 0, 1], 25)
    >>> y = 4.0 * steps + np.random.default_rng(0).normal(size=100)
    >>> bool(np.mean(hmm_levels(None, y, 2).labels == steps) > 0.95)
    True
    """
    smooth, rest, order = detrended(x, y, trend)
    center, scale = rest.mean(axis=0), rest.std(axis=0)
    scale[scale == 0] = 1.0
    chain = ((rest - center) / scale)[order]  # hmmlearn's covariance prior has absolute units
    best: Any = None
    best_score = -np.inf
    with _quiet_hmmlearn():
        for means, stay in _starts(chain, n_levels, n_init, random_state):
            model = _fit_from(chain, means, stay, max_iter)
            score = model.score(chain)
            if np.isfinite(score) and score > best_score:
                best, best_score = model, score
        if best is None:
            raise RuntimeError("hmmlearn reached no finite likelihood from any start.")
        posterior = np.empty((len(chain), n_levels))
        posterior[order] = best.predict_proba(chain)
    return in_our_gauge(
        y,
        posterior.argmax(axis=1),
        smooth,
        levels=best.means_ * scale + center,
        probabilities=posterior,
        converged=bool(best.monitor_.converged),
        n_iter=int(best.monitor_.iter),
    )


def _starts(chain: FloatArray, n_levels: int, n_init: int, random_state: int) -> Iterator[tuple[FloatArray, float]]:
    """Levels and stickiness to start from, `n_init` of them."""
    rng = np.random.default_rng(random_state)
    _, clustered, _ = kmeans_sklearn(chain, n_levels, random_state=random_state)
    quantiles = np.quantile(chain, (np.arange(n_levels) + 0.5) / n_levels, axis=0)
    for k in range(n_init):
        means = clustered if k % 2 == 0 else quantiles
        if k >= 2 * len(_STICKINESS):
            spread = np.ptp(means, axis=0) / max(n_levels, 2)
            means = means + 0.5 * spread * rng.normal(size=means.shape)
        yield means, _STICKINESS[(k // 2) % len(_STICKINESS)]


def _fit_from(chain: FloatArray, means: FloatArray, stay: float, max_iter: int) -> Any:
    """Fit hmmlearn's model from the given levels, within-cluster variances and a sticky chain."""
    n_levels = len(means)
    nearest = np.argmin(np.square(chain[:, None, :] - means[None]).sum(axis=2), axis=1)
    within = np.square(chain - means[nearest]).mean(axis=0)
    leave = (1.0 - stay) / max(n_levels - 1, 1)
    model = require("hmmlearn.hmm").GaussianHMM(
        n_levels, covariance_type="diag", n_iter=max_iter, init_params="", implementation="scaling"
    )
    model.startprob_ = np.full(n_levels, 1.0 / n_levels)
    model.transmat_ = np.full((n_levels, n_levels), leave)
    np.fill_diagonal(model.transmat_, stay if n_levels > 1 else 1.0)
    model.means_ = means.copy()
    model.covars_ = np.tile(np.maximum(within, 1e-3), (n_levels, 1))
    return model.fit(chain)


@contextmanager
def _quiet_hmmlearn() -> Iterator[None]:
    """Keep hmmlearn's log messages away: convergence is reported in the result."""
    logger = logging.getLogger("hmmlearn")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
