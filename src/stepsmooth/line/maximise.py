"""The M-step: levels, tau, noise and the prior of the labels, from label probabilities.

With z_t the indicator of point t's label and gamma its probabilities, everything about levels, tau and noise follows
from one small matrix, E[(y, Z)' W (I - S) (y, Z)]: what is left of y and of the labels once f has been profiled out.
E[z_t z_s'] is taken as gamma_t gamma_s' off the diagonal and is diag(gamma_t), exactly, on it.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numba import njit

from stepsmooth.line.chain import Expectation, Signal, Theta
from stepsmooth.model.arrays import Floats

# How many switches a row the common switching probability is worth.
SWITCHES = 5.0

# The least noise variance, as a share of the variance of y: a likelihood needs some.
NOISE_FLOOR = 1e-9

# Information of less than this share of all is none.
NOTHING = 1e-10

# tau is moved along the derivative of the likelihood over this step of log tau, by at most this factor a time.
STEP, LARGEST = 0.1, 3.0

# Of a class's variance, relative to the common one: how many points' worth the common one is, and the largest ratio.
POINTS, LARGEST_RATIO = 20.0, 9.0

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


@dataclass(frozen=True)
class Profile:
    """What is left once f is profiled out at one tau: E[(y, Z)' W (I - S) (y, Z)], (M + 1)^2, and diag S."""

    squares: Floats
    leverage: Floats

    @property
    def information(self) -> Floats:
        """E[Z' W (I - S) Z], what the points say about the levels, in units of the noise."""
        return self.squares[1:, 1:]

    def move(self, level: Floats, D: Floats) -> Floats:
        """Return the move (M,) along the directions D that is best for the levels (M,)."""
        moment = self.squares[1:, 0] - self.information @ level
        size, ways = np.linalg.eigh(D.T @ self.information @ D)
        # A way that f can go as well, such as a shift of all levels, is left to f: its information is rounding.
        told = size > NOTHING * np.trace(self.information)
        ways = D @ ways[:, told]
        return np.asarray(ways @ (ways.T @ moment / size[told]))

    def sum_of_squares(self, level: Floats) -> float:
        """Return E[(y - mu_z)' W (I - S) (y - mu_z)]."""
        v = np.append(1.0, -level)
        return float(v @ self.squares @ v)


def profile(signal: Signal, gamma: Floats, tau: float) -> Profile:
    """Return what is left of the mean over channels and of the labels at this tau."""
    smoother, tau = signal.smoother, tau / signal.Y.shape[1]
    squares, leverage = smoother.squares(signal.mean - signal.centre, gamma, tau), smoother.leverage(tau)
    # Off its own point a label is as good as its mean; on it, E[z z'] is diagonal.
    squares[1:, 1:] += _own(gamma, signal.weights, leverage)
    return Profile(squares, leverage)


@njit(cache=True, nogil=True)
def _own(gamma: Floats, weights: Floats, leverage: Floats) -> Floats:
    """Return the sum of w (1 - S_tt) cov(z_t)."""
    n, n_levels = gamma.shape
    out = np.zeros((n_levels, n_levels))
    for t in range(n):
        rest = weights[t] * (1.0 - leverage[t])
        for k in range(n_levels):
            out[k, k] += rest * gamma[t, k]
            for m in range(n_levels):
                out[k, m] -= rest * gamma[t, k] * gamma[t, m]
    return out


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
    gamma, levels = found.gamma, theta.levels
    D = directions(structure, len(levels))
    here = profile(signal, gamma, theta.tau)
    level = levels.mean(axis=1)
    moved = level + here.move(level - signal.centre, D)
    contrasts = _contrasts(signal, gamma, levels) if structure == "free" else levels - level[:, None]
    levels = levels if structure == "known" else moved[:, None] + contrasts
    squares = _sum_of_squares(signal, gamma, here, levels)
    tau = theta.tau
    if search_tau:
        tau *= _step(signal, gamma, here.leverage, moved, squares, theta.tau)
    noise = max(squares / _size(signal), NOISE_FLOOR * signal.variance)
    proportions = theta.proportions
    if prior != "uniform":
        mass = signal.weights @ gamma
        proportions = (mass + 0.5) / (mass.sum() + 0.5 * len(levels))
    transition = theta.transition
    if prior == "markov":
        transition = _transition(found.pairs)
    ratio = None if theta.ratio is None else _ratio(signal, gamma, moved, theta.tau)
    return replace(
        theta, levels=levels, tau=tau, noise=noise, proportions=proportions, transition=transition, ratio=ratio
    )


def retuned(signal: Signal, theta: Theta, found: Expectation) -> float:
    """Return the tau that suits these labels, levels and noise better.

    The noise is given: where it may follow tau, few points are best explained by an f that meets them all.
    """
    squares = _size(signal) * theta.noise
    leverage = signal.smoother.leverage(theta.tau / signal.Y.shape[1])
    return theta.tau * _step(signal, found.gamma, leverage, theta.levels.mean(axis=1), squares, theta.tau)


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


def _contrasts(signal: Signal, gamma: Floats, levels: Floats) -> Floats:
    """Return how the levels of the channels differ from their mean: labels alone decide that."""
    if levels.shape[1] == 1:
        return np.zeros_like(levels)
    weighted = gamma * signal.weights[:, None]
    total = weighted.T @ (signal.Y - signal.mean[:, None])
    return np.asarray(total / np.maximum(weighted.sum(axis=0), 1e-12)[:, None])


def _sum_of_squares(signal: Signal, gamma: Floats, left: Profile, levels: Floats) -> float:
    """Return E[(y - mu_z)' W (I - S) (y - mu_z)], over all channels."""
    p, level = levels.shape[1], levels.mean(axis=1)
    out = max(left.sum_of_squares(level - signal.centre), 0.0)
    if p == 1:
        return out
    data, contrast = signal.Y - signal.mean[:, None], levels - level[:, None]
    squared = np.sum((data[:, None, :] - contrast[None]) ** 2, axis=2)
    return float(p * out + np.sum(signal.weights[:, None] * gamma * squared))


def _step(signal: Signal, gamma: Floats, leverage: Floats, level: Floats, squares: float, tau: float) -> float:
    """Return the factor by which tau moves towards the largest likelihood (Fellner & Schall's step).

    The deviance is size log SS + log det; its derivative in log tau is zero where size SS' / SS, what more smoothing
    costs in fit, equals the degrees of freedom that it saves. tau moves by the ratio of the two.
    """
    p, smoother, centred = signal.Y.shape[1], signal.smoother, level - signal.centre
    expected = gamma @ centred
    rest = signal.mean - signal.centre - expected
    unsure = signal.weights * (gamma @ centred**2 - expected**2)

    def missed(tau: float, leverage: Floats) -> float:
        return float(p * (smoother.squares(rest, gamma[:, :0], tau)[0, 0] - leverage @ unsure))

    near, further = tau / p, tau / p * float(np.exp(STEP))
    more, saved = -missed(near, leverage), smoother.logdet(near)
    more, saved = more + missed(further, smoother.leverage(further)), saved - smoother.logdet(further)
    if squares <= 0.0 or saved <= 0.0:
        return 1.0
    ratio = saved * squares / (_size(signal) * max(more, 1e-300))
    return float(np.exp(np.clip(np.log(ratio), -LARGEST, LARGEST)))


def _ratio(signal: Signal, gamma: Floats, level: Floats, tau: float) -> Floats:
    """Return the noise variance of each class over the common one; few points say little about theirs."""
    centred = level - signal.centre
    y = signal.mean - signal.centre
    rest = y - signal.smoother.solve(y - gamma @ centred, tau / signal.Y.shape[1])
    squares = np.array([(signal.weights * gamma[:, k]) @ (rest - centred[k]) ** 2 for k in range(len(level))])
    mass = signal.weights @ gamma
    common = squares.sum() / mass.sum()
    each = (squares + POINTS * common) / (mass + POINTS) / common
    return np.asarray(np.clip(each, 1.0 / LARGEST_RATIO, LARGEST_RATIO))
