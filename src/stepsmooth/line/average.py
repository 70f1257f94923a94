"""Few points: average over what the likelihood cannot determine, instead of trusting one estimate of it.

With 50 points and much noise, many parameters explain the data almost equally well; the best of them likes an f that
is too stiff and a noise that is too large, and its labels are worse than AltMin's. What is stable there are AltMin's
levels. So they are kept, and the label probabilities are averaged over the smoothness of f and the noise, weighted by
likelihood and a heavy-tailed prior: levels are worth looking for if the smallest gap is several times the noise.
"""

from dataclasses import replace

import numpy as np
from scipy.special import softmax

from stepsmooth.altmin import Problem, altmin, select_tau, tau_of_dof
from stepsmooth.line.chain import Expectation, Signal
from stepsmooth.line.search import Solution
from stepsmooth.model.levels import FreeLevels

# Averaging is considered up to so many points.
N_AVERAGE = 300
WIDTH = (24, 0.5, 8.0)
DOFS = (5.0, 7.0, 9.0, 11.0, 13.0, 15.0, 18.0, 21.0, 25.0)
# Noise in units of the mean gap, and the prior of log(smallest gap / noise sd): centre and standard deviation.
NOISE_TO_GAP = (0.15, 0.2, 0.25, 0.3, 0.4)
SEPARATION, SEPARATION_SD = 4.5, 0.25


def average(signal: Signal, best: Solution) -> Solution:
    """Return a solution with AltMin's levels and averaged probabilities, unless `best` is decisively more likely.

    `best` had its M levels, tau and noise fitted to the likelihood; it has to be better by half a log(n) for each.
    """
    n_levels = best.theta.n_levels
    taus = [tau_of_dof(signal.smoother, dof) for dof in DOFS if dof < 0.6 * signal.smoother.dof_range[1]]
    few = len(signal) <= N_AVERAGE and signal.Y.shape[1] == 1 and signal.tau is None
    if not few or n_levels < 2 or best.prior == "markov" or not taus:
        return best
    problem = Problem(signal.Y, signal.smoother, FreeLevels(n_levels))
    levels = np.sort(select_tau(problem, "gcv", altmin)[0].levels, axis=0)
    gaps = np.diff(levels[:, 0])
    if len(levels) < n_levels or gaps.min() <= 1e-6 * signal.range:
        return best
    candidates = [
        replace(best.theta, levels=levels, tau=tau, noise=float((ratio * gaps.mean()) ** 2))
        for ratio in NOISE_TO_GAP
        for tau in taus
    ]
    found = [signal.expect(theta, WIDTH) for theta in candidates]
    loglik = np.array([e.loglik for e in found])
    if best.loglik - loglik.max() > 0.5 * (n_levels + 1) * np.log(len(signal)):
        return best
    separation = np.array([np.log(gaps.min() / np.sqrt(theta.noise)) for theta in candidates])
    # Student's t with four degrees of freedom: a wrong prior costs a few nats, not the answer.
    prior = -2.5 * np.log1p(((separation - np.log(SEPARATION)) / SEPARATION_SD) ** 2 / 4.0)
    share = softmax(loglik + prior)
    gamma = np.einsum("i,itk->tk", share, np.array([e.gamma for e in found]))
    theta = replace(
        best.theta,
        levels=levels,
        tau=float(np.exp(share @ np.log([t.tau for t in candidates]))),
        noise=float(share @ np.array([t.noise for t in candidates])),
    )
    return replace(best, theta=theta, found=Expectation(best.loglik, gamma, best.found.pairs))
