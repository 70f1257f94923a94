"""A few hundred points: labels under a smoother f than the cubic spline with which everything else was found."""

from dataclasses import replace

import numpy as np

from stepsmooth.line.beam import backward
from stepsmooth.line.chain import Expectation, Signal
from stepsmooth.line.orders import ORDER, run
from stepsmooth.line.search import Solution

# Up to so many points; with more the two hardly differ.
N_RELABEL = 1_000
WIDTH = (96, 0.3, 10.0)
# Labels are averaged over f that change this many times as fast as the cubic spline did.
RATES = (0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 1.0, 1.2)
# The cubic spline is kept if it explains the data better by so many nats.
DECISIVE = 15.0


def relabel(signal: Signal, best: Solution) -> Solution:
    """Return the solution with label probabilities under a spline of order 3, unless the data speak against that."""
    theta = best.theta
    plain = signal.Y.shape[1] == 1 and signal.order == 2 and theta.ratio is None and signal.tau is None
    if not plain or theta.n_levels < 2 or best.prior == "markov":
        return best
    own = signal.lam(theta.tau) ** (-0.5 / signal.order)

    def found(order: int, rate: float) -> tuple[float, Expectation]:
        out = run(signal, order, rate * own, theta.levels[:, 0], theta.noise, theta.proportions, WIDTH)
        return float(out[0]), Expectation(best.loglik, *backward(theta.n_levels, WIDTH[0], *out[1:]))

    tried = [found(ORDER, rate) for rate in RATES]
    loglik = np.array([value for value, _ in tried])
    if found(signal.order, 1.0)[0] - loglik.max() > DECISIVE:
        return best
    share = np.exp(loglik - loglik.max())
    gamma = np.average([expected.gamma for _, expected in tried], axis=0, weights=share)
    return replace(best, found=replace(best.found, gamma=gamma))
