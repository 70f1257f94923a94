"""Expectation-maximisation from one start, as far as it is worth following."""

from dataclasses import replace

import numpy as np

from stepsmooth.line.chain import SEARCH, Expectation, Signal, Theta
from stepsmooth.line.maximise import Structure, maximise
from stepsmooth.line.solution import Solution, in_order
from stepsmooth.model.threads import spread

# A step that falls is taken again along one history of labels, for chains of up to so many points.
N_DECIDED = 1_000


def climb(
    signal: Signal,
    theta: Theta,
    prior: str,
    structure: Structure,
    *,
    width: tuple[int, float, float] = SEARCH,
    max_iter: int = 20,
    tol: float = 0.05,
    search_tau: bool = True,
    floor: float = -np.inf,
    min_iter: int = 2,
) -> Solution:
    """Return the best point of an EM run, which is given up if after a step it is still below the floor.

    The M-step takes labels of different points as independent given y. Labels that last are not: where a whole segment
    may be one level or the next, levels shrink towards each other, and the likelihood falls. Such a step is taken again
    as if the likeliest history were certain, if the signal is short.
    """
    best: Solution | None = None
    last = -np.inf
    history: list[float] = []
    settled = False
    decidable = prior == "markov" and signal.smoother.n_effective <= N_DECIDED
    before = theta

    def step(theta: Theta, found: Expectation) -> Theta:
        return maximise(signal, theta, found, prior, structure, search_tau=search_tau and signal.tau is None)

    for iteration in range(max_iter):
        found = signal.expect(theta, width)
        if found.loglik < last and decidable:
            other = step(before, signal.decide(before, width))
            again = signal.expect(other, width)
            if again.loglik > found.loglik:
                theta, found = other, again
        history.append(found.loglik)
        if best is None or found.loglik > best.loglik:
            best = Solution(theta, found, prior)
        if iteration >= min_iter and found.loglik - last < tol:
            settled = True
            break
        if iteration > 0 and found.loglik < floor:
            break
        last = found.loglik
        if iteration + 1 == max_iter:
            break  # parameters that no pass will look at
        before, theta = theta, step(theta, found)
    assert best is not None
    return in_order(replace(best, history=tuple(history), converged=settled))


def climbed(
    signal: Signal, candidates: list[Theta], prior: str, structure: Structure, max_iter: int, floor: float = -np.inf
) -> list[Solution]:
    """Return where each candidate leads in a few steps."""

    def follow(theta: Theta) -> Solution:
        return climb(signal, theta, prior, structure, max_iter=max_iter, tol=0.3, floor=floor)

    return spread(follow, candidates, len(signal))
