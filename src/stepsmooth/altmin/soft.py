"""Soft labels: the mean-field variational fit of the same model, and its bound on the evidence.

y_i = f(x_i) + mu_{z_i} + noise, f a Gaussian process of covariance sigma^2 K / tau, z uniform. With q(z) q(f) the
bound is, f being the smooth of y - E mu_z,

    sum_ik q_ik (log(1/M) - log q_ik) - N/2 log(2 pi sigma^2) - (n / 2 sigma^2) J - 1/2 log det(I + K / tau),

J = 1/n sum_ik w_i q_ik |y_i - mu_k - f_i|^2 + tau |f|^2: AltMin's objective with soft labels. Unlike the hard
objective it pays for roughness through the determinant, so it can compare values of tau and of M.

The fixed point is also the mode of f with the labels summed out. There the curvature in f is smaller than the bound
assumes, by the factor rho_i = 1 - Var_q(mu_{z_i}) / sigma^2: `evidence` puts it into the determinant (Laplace), which
matters exactly where labels are uncertain.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from stepsmooth.altmin.alternation import Decomposition, Problem, least_moves
from stepsmooth.model.arrays import Floats
from stepsmooth.model.smoother import loss_and_penalty

# Between two levels the curvature can vanish or turn negative, where Laplace's formula has no meaning.
LEAST_CURVATURE = 0.02


@dataclass(frozen=True)
class SoftFit:
    """The variational fit: probabilities (n, M), levels, smooth part, tau, noise variance and the bound, in nats."""

    probabilities: Floats
    levels: Floats
    smooth: Floats
    tau: float
    noise_variance: float
    bound: float


def soften(problem: Problem, fit: Decomposition | SoftFit, *, max_iter: int = 100, tol: float = 1e-2) -> SoftFit:
    """Return the variational fit that starts from another fit, at the same tau.

    Parameters
    ----------
    problem : Problem
        With free levels.
    fit : Decomposition or SoftFit
    max_iter : int
    tol : float
        Stop when the bound gains less than this, in nats.
    """
    Y, weights, tau = problem.Y, problem.weights, fit.tau
    n, (n_levels, _) = weights.sum(), fit.levels.shape
    size, logdet, tau_field = _gaussian_part(problem, tau)
    constant = -0.5 * size * (1.0 + np.log(2.0 * np.pi)) - 0.5 * logdet - n * np.log(n_levels)
    floor = 1e-14 * float(np.var(Y)) + np.finfo(float).tiny
    levels, smooth = fit.levels, fit.smooth
    variance = fit.noise_variance if isinstance(fit, SoftFit) else max(n * fit.objective / size, floor)
    bound = -np.inf
    q = np.empty((len(Y), n_levels))
    for _ in range(max_iter):
        q = _responsibilities(Y, levels, smooth, variance)
        levels = _profile(problem, q, tau_field)
        residual = Y - q @ levels
        smooth = problem.smooth_of(residual, tau)
        cost = loss_and_penalty(smooth, residual, weights)[1]
        squared = np.sum((Y[:, None, :] - levels[None] - smooth[:, None, :]) ** 2, axis=2)
        variance = max((np.sum(weights * np.sum(q * squared, axis=1)) + n * cost) / size, floor)
        entropy = -np.sum(weights[:, None] * q * np.log(np.where(q > 0.0, q, 1.0)))
        previous, bound = bound, float(constant + entropy - 0.5 * size * np.log(variance))
        if bound - previous < tol:
            break
    return SoftFit(q, levels, smooth, tau, variance, bound)


def refine(problem: Problem, fit: SoftFit, *, rounds: int = 8, tol: float = 0.05) -> SoftFit:
    """Return the fit after alternating the best tau for its soft labels with `soften`."""
    Y, weights = problem.Y, problem.weights
    for _ in range(rounds):
        residual = Y - fit.probabilities @ fit.levels
        spread = fit.probabilities @ np.sum(fit.levels**2, axis=1) - np.sum(
            (fit.probabilities @ fit.levels) ** 2, axis=1
        )
        extra = np.sum(weights * spread)

        def deviance(log_tau: float, residual: Floats = residual, extra: float = extra) -> float:
            tau = float(np.exp(log_tau))
            size, logdet, _ = _gaussian_part(problem, tau)
            loss, cost = loss_and_penalty(problem.smooth_of(residual, tau), residual, weights)
            error = weights.sum() * (loss + cost) + extra
            return float(size * np.log(max(error, np.finfo(float).tiny)) + logdet)

        here = np.log(fit.tau)
        best = minimize_scalar(deviance, bounds=(here - 6.0, here + 6.0), method="bounded", options={"xatol": 0.05})
        better = soften(problem, replace(fit, tau=float(np.exp(best.x))))
        if better.bound < fit.bound + tol:
            return better if better.bound > fit.bound else fit
        fit = better
    return fit


def evidence(problem: Problem, fit: SoftFit) -> float:
    """Return Laplace's approximation of log p(y) at the fit, in nats."""
    fields = problem.Y.shape[1] if problem.per_channel else 1
    total = fit.bound
    for c in range(fields):
        # A shared f sees the levels' mean over channels; its noise has variance sigma^2 / p.
        level = fit.levels[:, c] if problem.per_channel else fit.levels.mean(axis=1)
        noise = fit.noise_variance / (1 if problem.per_channel else fit.levels.shape[1])
        spread = fit.probabilities @ level**2 - (fit.probabilities @ level) ** 2
        rho = np.clip(1.0 - spread / noise, LEAST_CURVATURE, 1.0)
        reweighted = problem.smoother.reweighted(problem.weights * rho)
        tau = _gaussian_part(problem, fit.tau)[2]
        scale = problem.weights.sum() / reweighted.weights.sum()
        total -= 0.5 * (reweighted.logdet(tau * scale) - problem.smoother.logdet(tau))
    return total


def _gaussian_part(problem: Problem, tau: float) -> tuple[float, float, float]:
    """Return the number of observations that are not spent on free functions, log det(I + K / tau), tau per field."""
    p = problem.Y.shape[1]
    fields, tau_field = (p, tau) if problem.per_channel else (1, tau / p)
    size = max(problem.weights.sum() * p - fields * problem.smoother.dof_range[0], 1.0)
    return size, fields * problem.smoother.logdet(tau_field), tau_field


def _responsibilities(Y: Floats, levels: Floats, smooth: Floats, variance: float) -> Floats:
    squared = np.sum((Y[:, None, :] - levels[None] - smooth[:, None, :]) ** 2, axis=2)
    q = np.exp(-(squared - squared.min(axis=1, keepdims=True)) / (2.0 * variance))
    return np.asarray(q / q.sum(axis=1, keepdims=True))


def _profile(problem: Problem, q: Floats, tau: float) -> Floats:
    """Return the levels that are best for soft labels once f has adapted to them (see Problem.profile_levels)."""
    Y, weights = problem.Y, problem.weights
    weighted = weights[:, None] * q
    mass = np.diag(weighted.sum(axis=0))
    filtered = mass - weighted.T @ problem.smoother.solve(q, tau)
    if problem.per_channel:
        return least_moves(filtered, weighted.T @ (Y - problem.smoother.solve(Y, tau)), weights.sum())
    mean = Y.mean(axis=1, keepdims=True)
    shared = least_moves(filtered, weighted.T @ (mean - problem.smoother.solve(mean, tau)), weights.sum())
    return least_moves(mass, weighted.T @ (Y - mean), weights.sum()) + shared
