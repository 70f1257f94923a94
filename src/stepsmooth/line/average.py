"""Few points: average over what the likelihood cannot determine, instead of trusting one estimate of it.

With 50 points and much noise, many levels, noises and degrees of smoothness explain the data almost equally well; the
best of them is too sure of itself, and its labels are worse than AltMin's. Here labels are averaged over the posterior
of the parameters, drawn by a population of Markov chains whose proposals are differences between its members, so that
they find scale and correlations themselves (ter Braak 2006). Log p(y) comes from the beam; the prior says that levels
are worth looking for if the smallest gap is several times the noise, and that gaps are often alike (charges, channels,
copies) and seldom very unlike each other.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from stepsmooth.altmin import Problem, altmin, select_tau
from stepsmooth.line.beam import backward
from stepsmooth.line.chain import Expectation, Signal
from stepsmooth.line.maximise import retuned
from stepsmooth.line.orders import ORDER, Run, run
from stepsmooth.line.solution import Solution
from stepsmooth.model.arrays import Floats
from stepsmooth.model.levels import FreeLevels

# Averaging is considered up to so many points; for more, one set of parameters is enough.
N_AVERAGE = 150
WIDTH = (32, 0.4, 9.0)
# Fewer points than this cannot bear a spline of order 3: f stays a cubic one.
N_ORDER = 75
# Where the chains may begin: degrees of freedom of f, and noise in units of the mean gap.
DOFS = (4.0, 6.0, 8.0, 10.0, 13.0, 16.0, 20.0, 25.0)
NOISE_TO_GAP = (0.15, 0.2, 0.25, 0.3, 0.4)
# The prior of log(smallest gap / noise sd), centre and sd, and the sd of the logs of gaps, which are as likely alike as
# not.
SEPARATION, SEPARATION_SD, ALIKE, UNLIKE = 4.0, 0.35, 0.05, 0.4
# Chains, generations, the first share of them that is not used, and the steps in log gap, log noise and log dof.
N_CHAINS, N_GENERATIONS, BURN_IN = 8, 60, 20
STEPS = (0.08, 0.2, 0.15)
# Steps by which tau settles for given labels.
N_TAU = 10


@dataclass(frozen=True)
class Parameters:
    """A point that a chain visits is (log gaps, log noise, log dof); this gives its meaning."""

    signal: Signal
    proportions: Floats
    low: float
    high: float

    @property
    def order(self) -> int:
        """The order of the spline."""
        return ORDER if len(self.signal) >= N_ORDER else self.signal.order

    def levels(self, point: Floats) -> Floats:
        """Return the levels (M,); a common shift of them is f's."""
        rungs = np.append(0.0, np.cumsum(np.exp(point[:-2])))
        return np.asarray(rungs - rungs.mean() + self.signal.centre)

    def run(self, point: Floats) -> Run:
        """Return what the beam finds."""
        omega = float(np.pi * np.exp(point[-1]) / len(self.signal))
        noise = float(np.exp(point[-2]))
        return run(self.signal, self.order, omega, self.levels(point), noise, self.proportions, WIDTH)

    def log_posterior(self, point: Floats) -> float:
        """Return log p(y) plus the log prior, up to a constant."""
        if not self.low < point[-1] < self.high:
            return -np.inf
        return self.log_joint(point)

    def log_joint(self, point: Floats) -> float:
        """Return the same, however many degrees of freedom f has."""
        return float(self.run(point)[0]) + log_prior(point[:-2], point[-2])


def log_prior(log_gaps: Floats, log_noise: float) -> float:
    """Return the log prior of gaps and noise variance, up to a constant."""
    away = (log_gaps.min() - 0.5 * log_noise - np.log(SEPARATION)) / SEPARATION_SD
    # Student's t with four degrees of freedom: a wrong prior costs a few nats, not the answer.
    uneven = 0.5 * np.sum((log_gaps - log_gaps.mean()) ** 2)
    alike, unlike = (-uneven / sd**2 - (len(log_gaps) - 1) * np.log(sd) for sd in (ALIKE, UNLIKE))
    return float(-2.5 * np.log1p(away**2 / 4.0) + np.logaddexp(alike, unlike))


def average(signal: Signal, best: Solution) -> Solution:
    """Return a solution with averaged levels and probabilities, unless `best` is decisively more likely.

    `best` had its M levels, tau and noise fitted to the likelihood; it has to be better by half a log(n) for each.
    """
    n_levels = best.theta.n_levels
    plain = signal.Y.shape[1] == 1 and signal.tau is None and signal.order == 2
    most = 0.6 * signal.smoother.dof_range[1]
    if not plain or n_levels < 2 or best.prior == "markov" or most <= DOFS[0]:
        return best
    problem = Problem(signal.Y, signal.smoother, FreeLevels(n_levels))
    levels = np.sort(select_tau(problem, "gcv", altmin)[0].levels[:, 0])
    if len(levels) < n_levels or np.diff(levels).min() <= 1e-6 * signal.range:
        return best
    gaps = np.log(np.diff(levels))
    noises = [2.0 * np.log(ratio * np.exp(gaps).mean()) for ratio in NOISE_TO_GAP]
    begin = np.array([[*gaps, noise, np.log(dof)] for noise in noises for dof in DOFS if dof < most])
    parameters = Parameters(signal, best.theta.proportions, np.log(DOFS[0] / 2.0), np.log(min(2.0 * DOFS[-1], most)))
    drawn, value = _draw(parameters.log_posterior, begin)
    if _value(parameters, best) - value > 0.5 * (n_levels + 1) * np.log(len(signal)):
        return best
    return _mean(signal, best, parameters, drawn)


def _value(parameters: Parameters, best: Solution) -> float:
    """Return what a solution is worth, by itself or with the f that suits its levels and noise best here."""
    signal, theta = parameters.signal, best.theta
    gaps = np.log(np.maximum(np.diff(theta.levels[:, 0]), 1e-9 * signal.range))
    own = signal.loglik(theta, WIDTH) + log_prior(gaps, np.log(theta.noise))
    return max(own, *(parameters.log_joint(np.array([*gaps, np.log(theta.noise), np.log(dof)])) for dof in DOFS))


def _draw(log_posterior: Callable[[Floats], float], begin: Floats) -> tuple[Floats, float]:
    """Return points from the posterior, by a population of chains from the best places to begin, and its top."""
    # The stream of random numbers belongs to the method, not to the user: the same data give the same answer.
    rng = np.random.default_rng(0)
    values = np.array([log_posterior(point) for point in begin])
    first = np.argsort(-values, kind="stable")[:N_CHAINS]
    now, value = begin[first].copy(), values[first].copy()
    size = begin.shape[1]
    steps = np.array([*[STEPS[0]] * (size - 2), *STEPS[1:]])
    drawn, top = [], float(values.max())
    for generation in range(N_GENERATIONS):
        for k in range(len(now)):
            if rng.random() < 0.5 and len(now) > 2:
                one, other = rng.choice(np.delete(np.arange(len(now)), k), 2, replace=False)
                there = now[k] + 2.38 / np.sqrt(2.0 * size) * (now[one] - now[other])
                there += 0.05 * steps * rng.normal(size=size)
            else:
                there = now[k] + rng.choice([0.3, 1.0]) * steps * rng.normal(size=size)
            new = log_posterior(there)
            if np.log(rng.random()) < new - value[k]:
                now[k], value[k] = there, new
        top = max(top, float(value.max()))
        if generation >= BURN_IN:
            drawn.append(now.copy())
    return np.concatenate(drawn), top


def _mean(signal: Signal, best: Solution, parameters: Parameters, drawn: Floats) -> Solution:
    """Return the solution with the means of levels, log noise and label probabilities over what was drawn."""
    # A chain that stays is drawn again and again: each place is looked at once.
    places, counts = np.unique(drawn, axis=0, return_counts=True)
    share = counts / counts.sum()
    n_levels = best.theta.n_levels
    gamma = sum(w * backward(n_levels, WIDTH[0], *parameters.run(p)[1:])[0] for w, p in zip(share, places))
    levels = sum(w * parameters.levels(p) for w, p in zip(share, places))
    noise = float(np.exp(share @ places[:, -2]))
    theta = replace(best.theta, levels=np.asarray(levels)[:, None], noise=noise)
    found = Expectation(best.loglik, np.asarray(gamma), best.found.pairs)
    # f itself stays a cubic spline: the tau that suits these labels.
    for _ in range(N_TAU):
        theta = replace(theta, tau=retuned(signal, theta, found))
    return replace(best, theta=theta, found=found)
