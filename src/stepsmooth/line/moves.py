"""Moves that repair a solution: a level that its start has lost, doubled or shifted, an f too stiff or too rough."""

from dataclasses import replace

import numpy as np

from stepsmooth.line.chain import Signal, Theta
from stepsmooth.line.climb import climb, climbed
from stepsmooth.line.maximise import Structure
from stepsmooth.line.solution import Solution

# A neighbour of a solution is given up if it is so many nats behind after a step, or so many a point of a long signal.
LOST = (300.0, 0.03)
# f is tried this many times stiffer and rougher.
TAU_STEPS = (30.0, 1.0 / 30.0)
# One of two levels is tried elsewhere if their gap is smaller than this share of the typical one.
CLOSE = 0.75


def moved(signal: Signal, solution: Solution, structure: Structure) -> Solution:
    """Return the best of a solution and its neighbours.

    f stiffer or rougher, then shifted by a gap, then one level taken away and another put in.
    """
    best = solution
    for step in TAU_STEPS if signal.tau is None else ():
        other = climb(
            signal, replace(solution.theta, tau=solution.theta.tau * step), solution.prior, structure, max_iter=6
        )
        if other.worth > best.worth + 1.0:
            best = other
    solution = best
    neighbours = [*_shifted(signal, solution), *_exchanged(solution, structure)]
    floor = best.loglik - max(LOST[0], LOST[1] * len(signal))
    for other in climbed(signal, neighbours, solution.prior, structure, max_iter=4, floor=floor):
        if other.worth > best.worth + 1.0:
            best = other
    return best


def _shifted(signal: Signal, solution: Solution) -> list[Theta]:
    """Return the same parameters with f started one or two gaps away: labels of a ladder may be off by that."""
    theta = solution.theta
    level = theta.levels.mean(axis=1)
    gap = float(np.median(np.diff(level)))
    rest = signal.mean - solution.found.gamma @ level
    f = signal.smoother.solve(rest, theta.tau / signal.Y.shape[1])
    sd = max(gap / 6.0, float(np.sqrt(theta.noise)) / 2.0)
    return [replace(theta, start=(float(f[0]) + s * gap, sd)) for s in (-2, -1, 0, 1, 2)]


def _exchanged(solution: Solution, structure: Structure) -> list[Theta]:
    """Return levels without the rarest one or one of the closest two, and with a new one anywhere else."""
    theta = solution.theta
    levels = theta.levels
    if structure != "free" or levels.shape[1] > 1 or len(levels) < 2:
        return []
    mu, share = levels[:, 0], solution.found.gamma.mean(axis=0)
    gaps = np.diff(mu)
    typical = float(np.median(gaps))
    out = []
    # Two levels may be one if they are closer than levels are elsewhere.
    doubled = {int(np.argmin(gaps))} if gaps.min() < CLOSE * typical else set()
    for drop in {int(np.argmin(share))} | doubled:
        left = np.delete(mu, drop)
        middles = list((left[1:] + left[:-1]) / 2.0)
        for new in [left[0] - typical, left[-1] + typical, *middles]:
            exchanged = np.sort(np.append(left, new))
            if np.abs(exchanged - mu).max() > 0.1 * typical:
                out.append(replace(theta, levels=exchanged[:, None], start=None))
    return out
