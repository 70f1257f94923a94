"""Noise, standard errors and label probabilities of a decomposition, its labels taken as given."""

import numpy as np
from numba import njit

from stepsmooth.altmin import Decomposition, Problem
from stepsmooth.model.arrays import Floats


def noise_variance(problem: Problem, fit: Decomposition, dof: float) -> float:
    """Return the residual sum of squares over the degrees of freedom that f (`dof`) and the levels leave."""
    size = problem.weights.sum() * problem.Y.shape[1]
    left = max(size - dof - problem.level_dof(len(fit.levels)), 1.0)
    return float(problem.weights.sum() * fit.loss / left)


def level_errors(problem: Problem, fit: Decomposition, variance: float) -> Floats:
    """Return the standard errors (M, p) of the levels in the gauge mean f = const.

    In that gauge the weighted mean of the levels is that of y; about it they move with covariance C D A^-1 D' C',
    A = D'Z'W(I - S)ZD the information that is left once f is profiled out, D the directions in which they may move
    at all, C the centring by class sizes.
    """
    n_levels, p = fit.levels.shape
    tau, shared = (fit.tau, False) if problem.per_channel else (fit.tau / p, True)
    directions = problem.level_model.directions(n_levels)
    sizes = np.bincount(fit.labels, problem.weights, minlength=n_levels)
    moves = (np.eye(n_levels) - sizes / sizes.sum()) @ directions
    profiled = _spread(moves, problem.information(directions, fit.labels, tau), sizes.sum())
    direct = _spread(moves, directions.T @ (sizes[:, None] * directions), sizes.sum())
    unit = profiled / p + (1.0 - 1.0 / p) * direct if shared else profiled
    error = np.sqrt(variance * (1.0 / sizes.sum() + unit))
    return np.repeat(error[:, None], p, axis=1)


def _spread(moves: Floats, information: Floats, mass: float) -> Floats:
    """Return the variances of `moves`; those of which nothing is known are left out, for the gauge takes them away."""
    values, vectors = np.linalg.eigh((information + information.T) / 2.0)
    known = values > max(1e-12 * mass, 1e-10 * values.max(initial=0.0))
    return np.asarray(np.sum((moves @ vectors[:, known]) ** 2 / values[known], axis=1), dtype=np.float64)


def smooth_errors(problem: Problem, fit: Decomposition, variance: float) -> Floats:
    """Return the pointwise standard errors (n, 1) or (n, p) of f: sqrt(sigma^2 S_ii / w_i)."""
    p = problem.Y.shape[1]
    tau, noise = (fit.tau, variance) if problem.per_channel else (fit.tau / p, variance / p)
    leverage = np.maximum(problem.smoother.leverage(tau), 0.0)
    error = np.sqrt(noise * leverage / problem.weights)
    return np.repeat(error[:, None], fit.smooth.shape[1], axis=1)


def log_densities(residual: Floats, levels: Floats, variance: float | Floats, proportions: Floats) -> Floats:
    """Return log(pi_k N(r_i; mu_k, variance)) for residuals (n, p): an (n, M) array; one variance, or one a level."""
    # An exact fit leaves no noise: a density needs some, far below what the levels can differ by.
    variance = np.maximum(variance, 1e-12 * float(np.ptp(levels) ** 2 + np.var(residual)) + 1e-300)
    variance = np.broadcast_to(variance, len(levels))
    with np.errstate(divide="ignore"):
        top = np.log(proportions) - 0.5 * residual.shape[1] * np.log(2.0 * np.pi * variance)
    out: Floats = _below(top, residual, levels, 0.5 / variance)
    return out


@njit(cache=True, nogil=True)
def _below(top: Floats, residual: Floats, levels: Floats, half_precision: Floats) -> Floats:
    """Return top_k - |r_i - mu_k|^2 * half_precision_k, in one pass."""
    n, p = residual.shape
    out = np.empty((n, len(levels)))
    for i in range(n):
        for k in range(len(levels)):
            squared = 0.0
            for c in range(p):
                squared += (residual[i, c] - levels[k, c]) ** 2
            out[i, k] = top[k] - squared * half_precision[k]
    return out


@njit(cache=True, nogil=True)
def normalise(log_density: Floats) -> Floats:
    """Return the rows of exp(log_density), scaled to sum to one."""
    n, n_levels = log_density.shape
    q = np.empty((n, n_levels))
    for i in range(n):
        most = log_density[i, 0]
        for k in range(1, n_levels):
            most = max(most, log_density[i, k])
        total = 0.0
        for k in range(n_levels):
            q[i, k] = np.exp(log_density[i, k] - most)
            total += q[i, k]
        for k in range(n_levels):
            q[i, k] /= total
    return q
