"""A solution of the joint model: parameters, what they imply, and what that is worth."""

from dataclasses import dataclass, replace

import numpy as np

from stepsmooth.line.chain import Expectation, Theta
from stepsmooth.line.maximise import SWITCHES

# Levels are expected at least so many noise sds apart, give or take a factor exp(SD); overlap costs some nats at the
# most, twice that if two levels are one: little where many points speak for it, much where few do.
SEPARATION, SEPARATION_SD, MOST_COST = 3.0, 0.35, 15.0
DOUBLED = 0.3


@dataclass(frozen=True)
class Solution:
    """Parameters and what they imply, for one prior of the labels."""

    theta: Theta
    found: Expectation
    prior: str
    history: tuple[float, ...] = ()
    converged: bool = False

    @property
    def n_prior_parameters(self) -> float:
        """Number of parameters that the prior of the labels has, as far as the data decide them.

        Transition probabilities are shrunk towards one switching probability, which is worth some switches a row: of
        all but that one, only the share counts that the data decide.
        """
        n_levels = self.theta.n_levels
        if self.prior != "markov":
            return 0.0 if self.prior == "uniform" else n_levels - 1.0
        pairs = self.found.pairs
        a_row = float(pairs.sum() - np.trace(pairs)) / n_levels
        return 1.0 + (n_levels * (n_levels - 1) - 1.0) * a_row / (a_row + SWITCHES)

    @property
    def loglik(self) -> float:
        """Log p(y) with f and the labels summed out."""
        return self.found.loglik

    @property
    def separation(self) -> float:
        """The smallest gap between levels, in noise standard deviations."""
        levels = self.theta.levels
        if len(levels) < 2:
            return np.inf
        gaps = np.linalg.norm(levels[:, None] - levels[None], axis=2)[np.triu_indices(len(levels), 1)]
        return float(gaps.min() / np.sqrt(self.theta.noise))

    @property
    def worth(self) -> float:
        """Log p(y) less what overlapping levels cost: they follow the shape of the noise rather than steps."""
        low = max(np.log(SEPARATION) - np.log(max(self.separation, 1e-9)), 0.0)
        cost = min(0.5 * (low / SEPARATION_SD) ** 2, MOST_COST)
        return self.loglik - (cost if self.separation > DOUBLED else 2.0 * MOST_COST)


def in_order(solution: Solution) -> Solution:
    """Return the same solution with ascending levels."""
    theta, found = solution.theta, solution.found
    order = np.lexsort(theta.levels.T[::-1])
    if np.array_equal(order, np.arange(len(order))):
        return solution
    transition = None if theta.transition is None else theta.transition[np.ix_(order, order)]
    ratio = None if theta.ratio is None else theta.ratio[order]
    theta = replace(
        theta, levels=theta.levels[order], proportions=theta.proportions[order], transition=transition, ratio=ratio
    )
    found = Expectation(found.loglik, np.take(found.gamma, order, axis=1), found.pairs[np.ix_(order, order)])
    return replace(solution, theta=theta, found=found)


def ranked(solutions: list[Solution]) -> list[Solution]:
    """Return the solutions, the one that is worth most first."""
    return sorted(solutions, key=lambda s: -s.worth)
