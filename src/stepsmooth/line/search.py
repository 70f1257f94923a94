"""The search: many starts, of which fewer and fewer are followed on more and more points."""

from dataclasses import replace

import numpy as np

from stepsmooth.line.chain import ANSWER, GLANCE, SEARCH, Signal, Theta
from stepsmooth.line.climb import climb, climbed
from stepsmooth.line.maximise import Structure, neighbourly, sticky
from stepsmooth.line.moves import moved
from stepsmooth.line.solution import SEPARATION, Solution, ranked
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
# A long signal has settled when a step gains less than so many nats a point.
SETTLED = 3e-4


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
    solutions = ranked(climbed(window, candidates, prior, structure, max_iter=2))[:N_KEPT]
    if window is not signal:
        # What is far behind on thousands of points does not win on more.
        solutions = [s for s in solutions if s.worth > solutions[0].worth - HOPELESS]
    candidates = [_rescaled(s.theta, window, signal) for s in solutions]
    solutions = ranked(climbed(signal, candidates, prior, structure, max_iter=4))[:N_FINISHED]
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
    return climbed(signal, chosen, prior, structure, max_iter=6)


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


def _different(candidates: list[Theta], most: int) -> list[Theta]:
    """Return the first candidates that differ in the gaps of their levels or in tau."""
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


def _rescaled(theta: Theta, found_on: Signal, wanted_on: Signal) -> Theta:
    """Return the parameters for a longer or shorter signal: n tau, a property of the neighbourhood, stays."""
    ratio = found_on.weights.sum() / wanted_on.weights.sum()
    return replace(theta, tau=theta.tau * float(ratio))
