"""A few hundred points: labels under a smoother f than the cubic spline with which everything else was found.

They are averaged over how fast f changes, and over two sets of levels: those found, and evenly spaced ones. Levels
often are a ladder (charges, channels, copies), and a few hundred noisy points cannot place each rung by itself: unless
they speak against it, evenly spaced levels win by the parameters they do without.
"""

from dataclasses import replace

import numpy as np

from stepsmooth.line.beam import backward
from stepsmooth.line.chain import Signal, Theta
from stepsmooth.line.maximise import Structure
from stepsmooth.line.orders import ORDER, run
from stepsmooth.line.solution import Solution
from stepsmooth.model.arrays import Floats

# Up to so many points; with more the two hardly differ.
N_RELABEL = 1_000
WIDTH = (128, 0.25, 11.0)
# Labels are averaged over f that change this many times as fast as the cubic spline did.
RATES = (0.35, 0.45, 0.6, 0.8, 1.0, 1.25)
# The cubic spline is kept if it explains the data better by so many nats.
DECISIVE = 15.0


def relabel(signal: Signal, best: Solution, structure: Structure) -> Solution:
    """Return the solution with label probabilities under a spline of order 3, unless the data speak against that."""
    theta = best.theta
    plain = signal.Y.shape[1] == 1 and signal.order == 2 and theta.ratio is None and signal.tau is None
    if not plain or theta.n_levels < 2 or best.prior == "markov":
        return best
    own = signal.lam(theta.tau) ** (-0.5 / signal.order)

    def found(order: int, rate: float, levels: Floats) -> tuple[float, Floats]:
        out = run(signal, order, rate * own, levels, theta.noise, theta.proportions, WIDTH)
        return float(out[0]), backward(theta.n_levels, WIDTH[0], *out[1:])[0]

    spared = 0.5 * (theta.n_levels - 2) * np.log(len(signal))
    ladders = [(theta.levels[:, 0], 0.0), (_even(theta), spared)]
    if structure != "free" or theta.n_levels == 2:
        ladders.pop()
    tried = [(*found(ORDER, rate, levels), bonus) for levels, bonus in ladders for rate in RATES]
    loglik = np.array([value for value, _, _ in tried])
    if found(signal.order, 1.0, theta.levels[:, 0])[0] - loglik.max() > DECISIVE:
        return best
    loglik += [bonus for _, _, bonus in tried]
    share = np.exp(loglik - loglik.max())
    gamma = np.average([gamma for _, gamma, _ in tried], axis=0, weights=share)
    return replace(best, found=replace(best.found, gamma=gamma))


def _even(theta: Theta) -> Floats:
    """Return the evenly spaced levels nearest to the ones found, each as important as it is frequent."""
    rungs = np.arange(theta.n_levels)
    gap, first = np.polyfit(rungs, theta.levels[:, 0], 1, w=np.sqrt(theta.proportions))
    return np.asarray(first + gap * rungs)
