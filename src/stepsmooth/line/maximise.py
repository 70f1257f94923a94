"""The M-step: levels, tau, noise and the prior of the labels, from label probabilities.

With z_t the indicator of point t's label and gamma its probabilities, E[Z'(I - S)Z] needs E[z_t z_s'], for which
gamma_t gamma_s' is taken off the diagonal and the exact diag(gamma_t) on it.
"""

from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.optimize import minimize_scalar

from stepsmooth.line.chain import Expectation, Signal, Theta
from stepsmooth.model.arrays import Floats

# How many switches a row the common switching probability is worth.
SWITCHES = 5.0

# The least noise variance, as a share of the variance of y: a likelihood needs some.
NOISE_FLOOR = 1e-9

Structure = Literal["free", "known", "shifted", "ladder"]


def directions(structure: Structure, n_levels: int) -> Floats:
    """Return the (M, q) ways in which the levels may move."""
    if structure == "known":
        return np.zeros((n_levels, 0))
    if structure == "shifted":
        return np.ones((n_levels, 1))
    if structure == "ladder":
        return np.column_stack([np.ones(n_levels), np.arange(n_levels) - (n_levels - 1) / 2.0])
    return np.eye(n_levels)


def maximise(
    signal: Signal,
    theta: Theta,
    found: Expectation,
    prior: str,
    structure: Structure = "free",
    *,
    search_tau: bool = True,
) -> Theta:
    """Return parameters under which the expected log-likelihood is larger."""
    gamma = found.gamma
    levels = _levels(signal, gamma, theta.levels, theta.tau, structure)
    tau = theta.tau
    if search_tau:
        tau = _tau(signal, gamma, levels, tau)
        levels = _levels(signal, gamma, levels, tau, structure)
    noise = max(_sum_of_squares(signal, gamma, levels, tau) / _size(signal), NOISE_FLOOR * signal.variance)
    weighted = gamma * signal.weights[:, None]
    proportions = theta.proportions
    if prior != "uniform":
        proportions = (weighted.sum(axis=0) + 0.5) / (weighted.sum() + 0.5 * len(levels))
    transition = theta.transition
    if prior == "markov":
        transition = _transition(found.pairs)
    return replace(theta, levels=levels, tau=tau, noise=noise, proportions=proportions, transition=transition)


def sticky(n_levels: int, switching: float) -> Floats:
    """Return the transition matrix that leaves with probability `switching`, to any other level alike."""
    if n_levels == 1:
        return np.ones((1, 1))
    off = switching / (n_levels - 1)
    return np.asarray(np.full((n_levels, n_levels), off) + np.eye(n_levels) * (1.0 - switching - off))


def neighbourly(n_levels: int, switching: float) -> Floats:
    """Return the transition matrix that leaves with probability `switching`, nearly always to a level next to it."""
    steps = np.abs(np.subtract.outer(np.arange(n_levels), np.arange(n_levels)))
    next_to = (steps == 1) + 0.02 * (steps > 1)
    next_to = next_to / np.maximum(next_to.sum(axis=1, keepdims=True), 1e-12)
    return np.asarray(switching * next_to + (1.0 - switching) * np.eye(n_levels)) if n_levels > 1 else np.ones((1, 1))


def _transition(pairs: Floats) -> Floats:
    """Return the transition matrix from expected transitions, shrunk towards one switching probability.

    The common matrix is worth `SWITCHES` switches a row: a level that is left three times says little about where to.
    """
    n_levels = len(pairs)
    if n_levels == 1:
        return np.ones((1, 1))
    steps, away = pairs.sum(axis=1), pairs * (1.0 - np.eye(n_levels))
    common = min((away.sum() + 0.5) / (steps.sum() + 1.0), 0.95)
    leave = (away.sum(axis=1) + SWITCHES) / (steps + SWITCHES / common)
    to = (away + SWITCHES / (n_levels - 1)) * (1.0 - np.eye(n_levels))
    return np.asarray(leave[:, None] * to / to.sum(axis=1, keepdims=True) + np.diag(1.0 - leave))


def _size(signal: Signal) -> float:
    return max(float(len(signal) * signal.Y.shape[1] - signal.smoother.dof_range[0]), 1.0)


def information(signal: Signal, gamma: Floats, tau: float) -> Floats:
    """Return E[Z'W(I - S)Z], what the points say about the levels once f is profiled out, in units of the noise."""
    tau_field = tau / signal.Y.shape[1]
    weighted = gamma * signal.weights[:, None]
    own = signal.smoother.leverage(tau_field)[:, None] * weighted
    out = np.diag(weighted.sum(axis=0)) - weighted.T @ signal.smoother.solve(gamma, tau_field)
    out -= np.diag(own.sum(axis=0)) - own.T @ gamma
    return np.asarray((out + out.T) / 2.0)


def _levels(signal: Signal, gamma: Floats, levels: Floats, tau: float, structure: Structure) -> Floats:
    """Return the levels that are best once f has adapted to them, along the directions the structure allows."""
    D = directions(structure, len(levels))
    if D.shape[1] == 0:
        return levels
    smoother, p = signal.smoother, signal.Y.shape[1]
    tau_field = tau / p
    weighted = gamma * signal.weights[:, None]
    mass = weighted.sum(axis=0)
    shared = information(signal, gamma, tau)
    level = levels.mean(axis=1)
    moment = weighted.T @ (signal.mean - smoother.solve(signal.mean, tau_field)) - shared @ level
    move = np.linalg.lstsq(D.T @ shared @ D, D.T @ moment, rcond=1e-10)[0]
    out = level + D @ move
    if p == 1:
        return np.asarray(out[:, None])
    contrasts = (weighted.T @ (signal.Y - signal.mean[:, None])) / np.maximum(mass, 1e-12)[:, None]
    if structure != "free":
        contrasts = levels - level[:, None]
    return np.asarray(out[:, None] + contrasts)


def _sum_of_squares(signal: Signal, gamma: Floats, levels: Floats, tau: float) -> float:
    """Return E[(y - mu_z)' W (I - S) (y - mu_z)], over all channels."""
    smoother, weights, p = signal.smoother, signal.weights, signal.Y.shape[1]
    level = levels.mean(axis=1)
    rest = signal.mean - gamma @ level
    spread = gamma @ level**2 - (gamma @ level) ** 2
    f = smoother.solve(rest, tau / p)
    out = np.sum(weights * rest * (rest - f)) + np.sum(weights * (1.0 - smoother.leverage(tau / p)) * spread)
    if p == 1:
        return float(out)
    data, contrast = signal.Y - signal.mean[:, None], levels - level[:, None]
    squared = np.sum((data[:, None, :] - contrast[None]) ** 2, axis=2)
    return float(p * out + np.sum(weights[:, None] * gamma * squared))


def _tau(signal: Signal, gamma: Floats, levels: Floats, tau: float) -> float:
    p, size = signal.Y.shape[1], _size(signal)

    def deviance(log_tau: float) -> float:
        t = float(np.exp(log_tau))
        squares = _sum_of_squares(signal, gamma, levels, t)
        return size * float(np.log(max(squares, 1e-300))) + signal.smoother.logdet(t / p)

    here = float(np.log(tau))
    best = minimize_scalar(deviance, bounds=(here - 3.0, here + 3.0), method="bounded", options={"xatol": 0.05})
    return float(np.exp(best.x))
