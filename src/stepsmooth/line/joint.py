"""The joint solver on a line: labels, levels and f together, with everything chosen by likelihood.

`search` finds solutions for each prior of the labels; here they are compared (each extra parameter of a prior costs
log(n) / 2 nats), the winner is put into words that the estimator understands, and a rival that explains the data as
well but labels them differently is kept beside it.
"""

from dataclasses import dataclass, replace

import numpy as np

from stepsmooth.line.average import N_AVERAGE, average
from stepsmooth.line.chain import Signal
from stepsmooth.line.climb import climb
from stepsmooth.line.independence import TOLD_BY, is_independent
from stepsmooth.line.maximise import Structure, profile
from stepsmooth.line.relabel import N_RELABEL, relabel
from stepsmooth.line.search import N_FIT, lengthened, middle, search
from stepsmooth.line.smoother import LineSmoother
from stepsmooth.line.solution import Solution, in_order, ranked
from stepsmooth.model.arrays import Floats, Ints

# Two labellings are tied if their scores differ by less than this many nats and their labels at this share of points.
TIE = 2.0
DIFFERENT = 0.05
# With few points, proportions or a chain are estimated only if they are better than even ones by this many nats.
CLEAR = 10.0
# With fewer points than this for each parameter of the chain, labels are taken as independent.
POINTS_PER_TRANSITION = 5
# Each level may have a noise variance of its own if there are so many points a level.
POINTS_PER_VARIANCE = 50
# From so many points on, neighbours tell whether labels are independent.
N_TELLING = 2_000


@dataclass(frozen=True)
class JointFit:
    """What the joint solver found, at the points in the order of x."""

    solution: Solution
    rivals: list[Solution]
    smoother: LineSmoother
    residual: Floats
    smooth: Floats
    smooth_se: Floats
    levels_se: Floats
    scores: dict[str, float]
    transition_se: Floats | None

    @property
    def labels(self) -> Ints:
        """The most probable label of each point."""
        return np.asarray(self.solution.found.gamma.argmax(axis=1), dtype=np.int64)


@dataclass(frozen=True)
class Contest:
    """Solutions under several priors of the labels, compared; which of them wins no longer changes."""

    best: Solution
    rivals: list[Solution]
    scored: list[Solution]
    scores: dict[str, float]


def fit_joint(
    signal: Signal, n_levels: int, prior: str, structure: Structure = "free", known: Floats | None = None
) -> JointFit:
    """Decompose a signal into M levels under one prior of the labels, or under the best of all (`"auto"`)."""
    return complete(signal, compare(signal, n_levels, prior, structure, known), structure)


def compare(
    signal: Signal, n_levels: int, prior: str, structure: Structure = "free", known: Floats | None = None
) -> Contest:
    """Return the best solution of M levels, and rivals that explain the data as well with other labels."""
    window = middle(signal, N_FIT)
    scored = sorted(solve(window, n_levels, prior, structure, known), key=lambda s: -score(window, s))
    tied = [s for s in scored[1:] if score(window, scored[0]) - score(window, s) < TIE and _differ(scored[0], s)]
    winner = unequal(window, scored[0], structure)
    best, *rivals = [lengthened(signal, window, s, structure) for s in (winner, *tied)]
    return Contest(best, rivals, scored, {s.prior: score(window, s) for s in reversed(scored)})


def complete(signal: Signal, contest: Contest, structure: Structure) -> JointFit:
    """Label few points anew, and give the smooth part and the errors of everything."""
    best = contest.best
    if structure == "free" and len(signal) <= N_AVERAGE:
        best = _averaged(signal, best, contest.scored)
    elif len(signal) <= N_RELABEL:
        best = relabel(signal, best, structure)
    p = signal.Y.shape[1]
    level, gamma, tau = best.theta.levels.mean(axis=1), best.found.gamma, best.theta.tau / p
    residual = signal.mean - gamma @ level
    smooth = signal.smoother.solve(residual, tau)
    spread = gamma @ level**2 - (gamma @ level) ** 2
    # Noise reaches f through S, and so does not knowing the labels.
    leverage = np.maximum(signal.smoother.leverage(tau), 0.0) / signal.weights
    reach = best.theta.noise / p + signal.weights * np.maximum(signal.smoother.solve(spread, tau), 0.0)
    return JointFit(
        best,
        contest.rivals,
        signal.smoother,
        residual,
        smooth,
        np.sqrt(leverage * reach),
        _level_errors(signal, best, structure),
        contest.scores,
        _transition_errors(best),
    )


def solve(signal: Signal, n_levels: int, prior: str, structure: Structure, known: Floats | None) -> list[Solution]:
    """Return the solutions of each prior that is asked for.

    A long signal tells before any fit whether its labels are independent, or last; then one search is enough, and the
    other priors are tried from where it ended. If only long blocks differ, f may be the reason: then both are searched.
    """
    if prior != "auto":
        return search(signal, n_levels, prior, structure, known)
    if n_levels == 1:
        return search(signal, n_levels, "uniform", structure, known)
    enough = len(signal) >= POINTS_PER_TRANSITION * n_levels**2
    long = enough and len(signal) >= N_TELLING
    solutions: list[Solution] = []
    if not long or is_independent(signal.Y, TOLD_BY[:-1]):
        solutions += search(signal, n_levels, "uniform", structure, known)
    if enough and (not long or not is_independent(signal.Y)):
        solutions += search(signal, n_levels, "markov", structure, known)
    best = ranked(solutions)[0].theta
    tried = {s.prior for s in solutions}
    for other in ("uniform", "proportions"):
        if other not in tried:
            proportions = best.proportions if other == "proportions" else np.full(n_levels, 1.0 / n_levels)
            theta = replace(best, transition=None, proportions=proportions)
            solutions.append(climb(signal, theta, other, structure, max_iter=6, tol=0.3))
    return [in_order(s) for s in solutions]


def unequal(signal: Signal, solution: Solution, structure: Structure) -> Solution:
    """Return the solution with a noise of its own for each level, if the data ask for that."""
    n_levels = solution.theta.n_levels
    if n_levels < 2 or signal.Y.shape[1] > 1 or len(signal) < POINTS_PER_VARIANCE * n_levels:
        return solution
    own = climb(signal, replace(solution.theta, ratio=np.ones(n_levels)), solution.prior, structure, max_iter=6)
    return own if score(signal, own) > score(signal, solution) + TIE else solution


def score(signal: Signal, solution: Solution) -> float:
    """Return what a solution is worth, less half a log(n) for each parameter of the labels' prior and of the noise."""
    variances = 0 if solution.theta.ratio is None else solution.theta.n_levels - 1
    # In few points any f that swallows the steps leaves labels that seem to last.
    doubt = CLEAR if solution.prior == "markov" and len(signal) <= N_AVERAGE else 0.0
    return float(solution.worth - doubt - 0.5 * (solution.n_prior_parameters + variances) * np.log(len(signal)))


def select_levels(signal: Signal, prior: str, structure: Structure, most: int) -> tuple[JointFit, Floats]:
    """Return the fit with the best M, and the criterion -2 score + (M + 1) log n until it has risen twice in a row."""
    contests: list[Contest] = []
    criterion: list[float] = []
    for n_levels in range(1, most + 1):
        contests.append(compare(signal, n_levels, prior if n_levels > 1 else "uniform", structure))
        criterion.append(-2.0 * score(signal, contests[-1].best) + (n_levels + 1) * float(np.log(len(signal))))
        if len(criterion) - 1 - int(np.argmin(criterion)) >= 2:
            break
    return complete(signal, contests[int(np.argmin(criterion))], structure), np.array(criterion)


def _averaged(signal: Signal, best: Solution, scored: list[Solution]) -> Solution:
    """Return the solution of few points: even proportions unless the data speak for others, parameters averaged."""
    even = [s for s in scored if s.prior == "uniform" and score(signal, best) - score(signal, s) < CLEAR]
    plain = even[0] if even and best.prior == "proportions" else best
    out = average(signal, plain)
    return best if out is plain else out


def _differ(one: Solution, other: Solution) -> bool:
    a, b = one.found.gamma.argmax(axis=1), other.found.gamma.argmax(axis=1)
    return bool(np.mean(a != b) > DIFFERENT)


def _level_errors(signal: Signal, solution: Solution, structure: Structure) -> Floats:
    """Return standard errors (M, p) of the levels, in the gauge in which f has mean zero."""
    levels, gamma, p = solution.theta.levels, solution.found.gamma, signal.Y.shape[1]
    if structure == "known":
        return np.zeros_like(levels)
    mass = signal.weights @ gamma
    centring = np.eye(len(levels)) - mass / mass.sum()
    profiled = np.linalg.pinv(profile(signal, gamma, solution.theta.tau).information, rcond=1e-10)
    direct = np.diag(1.0 / np.maximum(mass, 1e-12))
    unit = sum(
        share * np.maximum(np.einsum("kl,lm,km->k", centring, covariance, centring), 0.0)
        for share, covariance in ((1.0 / p, profiled), (1.0 - 1.0 / p, direct))
    )
    error = np.sqrt(solution.theta.noise * (1.0 / mass.sum() + unit))
    return np.repeat(np.asarray(error)[:, None], p, axis=1)


def _transition_errors(solution: Solution) -> Floats | None:
    """Return standard errors of the transition matrix: of shares of so many expected transitions from each level."""
    P = solution.theta.transition
    if P is None:
        return None
    steps = np.maximum(solution.found.pairs.sum(axis=1, keepdims=True), 1.0)
    return np.asarray(np.sqrt(P * (1.0 - P) / steps))
