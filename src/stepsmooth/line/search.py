"""Expectation-maximisation from many starts, with moves that repair a level lost, doubled or shifted by its start."""

from dataclasses import dataclass, replace

import numpy as np

from stepsmooth.line.chain import ANSWER, GLANCE, SEARCH, Expectation, Signal, Theta
from stepsmooth.line.maximise import SWITCHES, Structure, maximise, neighbourly, sticky
from stepsmooth.line.starts import starts
from stepsmooth.model.arrays import Floats
from stepsmooth.model.threads import spread

# Starts are compared on at most so many neighbouring points, followed on so many, parameters fitted on so many.
N_COMPARE = 800
N_FOLLOW = 4_000
N_FIT = 20_000
# Of so many starts all chains are tried; so many different ones are followed, so many kept, so many finished.
N_SCORED = 40
N_FOLLOWED = 10
N_KEPT = 6
N_FINISHED = 4
# A chain is also sought in means over blocks of so many points, and starts from these switching probabilities.
BLOCKS = (1, 4, 16, 64)
FEWEST_BLOCKS = 60
SWITCHING = (0.05, 0.01, 0.5)
NEIGHBOURLY = (0.4, 0.1)
# A solution that is worth this many nats less than the best is not followed further; nor is one that gains less than
# this many nats a point and step.
HOPELESS = 30.0
TOLERANCE = 1e-5
# A neighbour of a solution is given up if it is so many nats behind after a step, or so many a point of a long signal.
LOST = (300.0, 0.03)
# A long signal has settled when a step gains less than so many nats a point.
SETTLED = 3e-4
# A step that falls is taken again along one history of labels, for chains of up to so many points.
N_DECIDED = 1_000
# f is tried this many times stiffer and rougher.
TAU_STEPS = (30.0, 1.0 / 30.0)
# Levels are expected at least so many noise sds apart, give or take a factor exp(SD); overlap costs some nats at the
# most, twice that if two levels are one: little where many points speak for it, much where few do.
SEPARATION, SEPARATION_SD, MOST_COST = 3.0, 0.35, 15.0
DOUBLED = 0.3
# One of two levels is tried elsewhere if their gap is smaller than this share of the typical one.
CLOSE = 0.75


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
    found = Expectation(found.loglik, found.gamma[:, order], found.pairs[np.ix_(order, order)])
    return replace(solution, theta=theta, found=found)


def search(
    signal: Signal, n_levels: int, prior: str, structure: Structure = "free", known: Floats | None = None
) -> list[Solution]:
    """Return solutions for one prior, the best first."""
    sizes = [b for b in BLOCKS if b == 1 or len(signal) // b >= FEWEST_BLOCKS] if prior == "markov" else [1]
    # Where points are few, each counts; where they are many, a glance at each start is enough.
    width = SEARCH if len(signal) <= N_COMPARE else GLANCE
    candidates: list[Theta] = []
    longest = np.inf
    for size in sizes:
        if size > longest:
            break
        coarse = signal if size == 1 else signal.blocks(size)
        window = middle(coarse, N_FOLLOW)
        follow = N_FOLLOWED if len(sizes) == 1 or size > 1 else N_FINISHED
        found = _followed(window, n_levels, prior, structure, known, follow, width)
        if size == 1:
            longest = _dwell(ranked(found)[0])
        for solution in found:
            transition = None if prior != "markov" else _finer(solution.theta, size)
            theta = _rescaled(solution.theta, window, coarse)
            candidates.append(replace(theta, transition=transition, start=None))
    if len(sizes) > 1:
        candidates = _different(_scored(middle(signal, N_FOLLOW), candidates, GLANCE), N_FOLLOWED)
    window = middle(signal, N_FOLLOW)
    candidates = [_rescaled(theta, signal, window) for theta in candidates]
    solutions = ranked(_climbed(window, candidates, prior, structure, max_iter=2))[:N_KEPT]
    if window is not signal:
        # What is far behind on thousands of points does not win on more.
        solutions = [s for s in solutions if s.worth > solutions[0].worth - HOPELESS]
    candidates = [_rescaled(s.theta, window, signal) for s in solutions]
    solutions = ranked(_climbed(signal, candidates, prior, structure, max_iter=4))[:N_FINISHED]
    if n_levels > 1 and structure in ("free", "ladder"):
        solutions = ranked([moved(signal, solutions[0], structure), *solutions])[:N_FINISHED]
    solutions = [s for s in solutions if s.worth > solutions[0].worth - HOPELESS]
    return ranked(spread(lambda s: finish(signal, s, structure), solutions, len(signal)))


def finish(signal: Signal, solution: Solution, structure: Structure) -> Solution:
    """Return where a solution leads in the end, with the beam wide where that costs little."""
    wide = len(signal) <= N_FOLLOW
    out = climb(
        signal, solution.theta, solution.prior, structure, width=ANSWER if wide else SEARCH,
        tol=max(0.05, TOLERANCE * len(signal)),
    )  # fmt: skip
    return out if wide else replace(out, found=signal.expect(out.theta, ANSWER))


def _dwell(solution: Solution) -> float:
    """Return for how many points a label lasts, without end where single points do not tell the levels apart."""
    transition = solution.theta.transition
    if transition is None or solution.separation < SEPARATION:
        return np.inf
    return 1.0 / max(float(1.0 - np.diag(transition).mean()), 1e-12)


def _followed(
    signal: Signal,
    n_levels: int,
    prior: str,
    structure: Structure,
    known: Floats | None,
    most: int,
    width: tuple[int, float, float],
) -> list[Solution]:
    """Return where the most promising starts lead, each a little way."""
    compare = middle(signal, N_COMPARE)
    candidates = starts(compare, n_levels, structure, known)
    if prior == "markov":
        chains = [sticky(n_levels, s) for s in SWITCHING]
        if n_levels > 2:
            chains += [neighbourly(n_levels, s) for s in NEIGHBOURLY]
        # Each start with a chain that lasts and, if there is one, a chain that does not; the best with all.
        probes = [chains[0], *chains[len(SWITCHING) : len(SWITCHING) + 1]]
        first = [replace(theta, transition=chain) for theta in candidates for chain in probes]
        if compare is not signal:
            first = _scored(middle(compare, N_COMPARE // 4), first, width)[: 10 * N_SCORED]
        first = _scored(middle(compare, N_COMPARE // 2), first, width)
        best = {(id(theta.levels), theta.tau, theta.noise): theta for theta in first[:N_SCORED]}
        candidates = [replace(theta, transition=chain) for theta in best.values() for chain in chains]
    order = _scored(compare, candidates, width)
    # Half of them stiff: a rough f that follows the steps often scores well before the parameters have settled.
    typical = float(np.median([theta.tau for theta in candidates]))
    stiff = _different([theta for theta in order if theta.tau >= typical], most // 2)
    chosen = _different([*stiff, *order], most)
    chosen = [_rescaled(theta, compare, signal) for theta in chosen]
    return _climbed(signal, chosen, prior, structure, max_iter=6)


def _climbed(
    signal: Signal, candidates: list[Theta], prior: str, structure: Structure, max_iter: int, floor: float = -np.inf
) -> list[Solution]:
    """Return where each candidate leads in a few steps."""

    def follow(theta: Theta) -> Solution:
        return climb(signal, theta, prior, structure, max_iter=max_iter, tol=0.3, floor=floor)

    return spread(follow, candidates, len(signal))


def _scored(signal: Signal, candidates: list[Theta], width: tuple[int, float, float]) -> list[Theta]:
    """Return the candidates, the most likely first."""
    scores = np.array([signal.loglik(theta, width) for theta in candidates])
    return [candidates[i] for i in np.argsort(-scores, kind="stable")]


def lengthened(signal: Signal, short: Signal, solution: Solution, structure: Structure) -> Solution:
    """Return the solution of a long signal, from that of its middle."""
    if short is signal:
        return solution
    theta = replace(_rescaled(solution.theta, short, signal), start=None)
    # Its parameters were fitted to thousands of points: what the rest adds is settled by a few steps.
    return climb(signal, theta, solution.prior, structure, max_iter=10, tol=SETTLED * len(signal), min_iter=1)


def middle(signal: Signal, most: int) -> Signal:
    """Return at most so many points from the middle."""
    n = len(signal)
    return signal if n <= most else signal.part(slice((n - most) // 2, (n + most) // 2))


def _finer(theta: Theta, size: int) -> Floats:
    """Return the transition matrix of points, given that of blocks of `size` points."""
    if size == 1 or theta.transition is None or theta.n_levels == 1:
        return sticky(theta.n_levels, 0.05) if theta.transition is None else theta.transition
    leaving = (1.0 - np.diag(theta.transition)).mean()
    return sticky(theta.n_levels, float(leaving) / size)


def ranked(solutions: list[Solution]) -> list[Solution]:
    """Return the solutions, the one that is worth most first."""
    return sorted(solutions, key=lambda s: -s.worth)


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
    for other in _climbed(signal, neighbours, solution.prior, structure, max_iter=4, floor=floor):
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


def _different(candidates: list[Theta], most: int) -> list[Theta]:
    """Return the first candidates that differ in the gaps of their levels, in tau or in stickiness."""
    chosen: list[Theta] = []
    for theta in candidates:
        if all(_apart(theta, other) for other in chosen):
            chosen.append(theta)
        if len(chosen) == most:
            break
    return chosen


def _apart(one: Theta, other: Theta) -> bool:
    a, b = np.diff(one.levels.mean(axis=1)), np.diff(other.levels.mean(axis=1))
    levels = len(a) > 0 and np.abs(a - b).max() > 0.15 * np.abs(a).mean()
    return bool(levels or abs(np.log(one.tau / other.tau)) > 2.5)


def _rescaled(theta: Theta, short: Signal, long: Signal) -> Theta:
    """Return the parameters for a longer signal: n tau, a property of the neighbourhood, stays."""
    ratio = short.weights.sum() / long.weights.sum()
    return replace(theta, tau=theta.tau * float(ratio))
