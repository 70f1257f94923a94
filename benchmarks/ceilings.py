"""How good an answer can be at all: what stands beside the joint solver where a claim comes near to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .labels import Answer

if TYPE_CHECKING:
    from stepsmooth.datasets import StepSignal

# Draws of errors of levels, of which the largest counts: their mean is then known to half a percent.
N_DRAWS = 200_000


def knows_f(data: StepSignal) -> Answer:
    """The likeliest mixture of y - f: what levels can be known to if nothing is missing but the labels."""
    from sklearn.mixture import GaussianMixture

    left = (data.y - data.smooth).reshape(-1, 1)
    start = np.sort(np.ravel(data.levels))[:, None]
    fit = GaussianMixture(len(start), covariance_type="tied", means_init=start, tol=1e-7, max_iter=2000).fit(left)
    order = np.argsort(fit.means_[:, 0])
    return Answer(np.argsort(order)[fit.predict(left)], levels=fit.means_[order, 0], smooth=data.smooth)


def told_all_but_f(data: StepSignal) -> Answer:
    """Labels by the joint solver's spline if levels, noise and proportions are told: f alone is to be found.

    How fast f changes is averaged over by its likelihood.
    """
    from stepsmooth.line.average import DOFS
    from stepsmooth.line.beam import backward
    from stepsmooth.line.chain import Signal
    from stepsmooth.line.orders import ORDER, run
    from stepsmooth.line.relabel import WIDTH

    n, levels = len(data.y), np.ravel(data.levels)
    signal = Signal(data.x, data.y[:, None], np.ones(n))
    given = levels - levels.mean() + signal.centre, data.noise_variance, np.full(len(levels), 1.0 / len(levels)), WIDTH
    found = [run(signal, ORDER, np.pi * dof / n, *given) for dof in DOFS]
    loglik = np.array([run[0] for run in found])
    gamma = [backward(len(levels), WIDTH[0], *run[1:])[0] for run in found]
    probabilities = np.average(gamma, axis=0, weights=np.exp(loglik - loglik.max()))
    return Answer(probabilities.argmax(axis=1), probabilities=probabilities)


def level_bound(levels: np.ndarray, noise_variance: float, n: int) -> float:
    """The mean of the largest error of a level that an efficient estimator makes of n points (Cramér and Rao).

    It knows f, the noise and that all labels are as frequent, and the levels alone are to be found.
    """
    levels, sd = np.sort(np.ravel(levels)), np.sqrt(noise_variance)
    y = np.linspace(levels[0] - 9.0 * sd, levels[-1] + 9.0 * sd, 20_001)
    error = (y[:, None] - levels) / sd
    density = np.exp(-0.5 * error**2) / (np.sqrt(2.0 * np.pi) * sd * len(levels))
    slope = density * error / sd  # of the density of y, in each level
    information = (slope / np.maximum(density.sum(axis=1, keepdims=True), 1e-300)).T @ slope * (y[1] - y[0])
    errors = np.random.default_rng(0).multivariate_normal(
        np.zeros(len(levels)), np.linalg.inv(n * information), size=N_DRAWS
    )
    return float(np.abs(errors).max(axis=1).mean())
