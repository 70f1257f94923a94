"""Choosing tau: generalised or k-fold cross-validation or restricted likelihood, over effective degrees of freedom.

Each candidate is a whole AltMin run at that tau; tau itself has no natural range, degrees of freedom have. Of very many
points two parts say about where the best tau lies: some drawn from all of them, which see what is slow, and those in
the middle, as the rows come, which see what is fast in a recording. Curves may have several minima, as f swallows steps
or leaves them: all points decide among those of both parts and the stiffest candidate, and then go downhill.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from stepsmooth.altmin.alternation import Decomposition, Problem
from stepsmooth.model.arrays import Floats
from stepsmooth.model.smoother import Smoother

N_CANDIDATES = 24
N_FOLDS = 5
# If there are more points than MANY, two parts of so many are asked first, and up to so many minima of each followed.
MANY, N_ASKED, N_FOLLOWED = 50_000, 5_000, 3

Run = Callable[[Problem, float], Decomposition]


@dataclass(frozen=True)
class TauCurve:
    """The curve behind a choice of tau: the criterion (smaller is better) at each candidate."""

    method: str
    tau: Floats
    effective_dof: Floats
    criterion: Floats

    @property
    def best(self) -> int:
        """Index of the chosen candidate."""
        return int(np.argmin(self.criterion))

    def as_dict(self) -> dict[str, object]:
        """Return plain values, as `selection_` keeps them."""
        return {
            "method": self.method,
            "tau": self.tau,
            "effective_dof": self.effective_dof,
            "criterion": self.criterion,
            "chosen": self.best,
        }


def tau_of_dof(smoother: Smoother, dof: float) -> float:
    """Return the tau at which the smoother has `dof` effective degrees of freedom.

    Examples
    --------
    >>> from stepsmooth.line import LineSmoother
    >>> smoother = LineSmoother(np.linspace(0, 1, 50), order=2)
    >>> round(smoother.trace(tau_of_dof(smoother, 7.0)), 2)
    7.0
    """
    low, high = smoother.dof_range
    if not low < dof < high:
        raise ValueError(f"dof must lie between {low:g} and {high:g} for these points, got {dof:g}.")

    def excess(log_tau: float) -> float:
        return smoother.trace(float(np.exp(log_tau))) - dof

    left = right = 0.0
    while excess(left) < 0.0 and left > -600.0:
        left -= 5.0
    while excess(right) > 0.0 and right < 600.0:
        right += 5.0
    return float(np.exp(brentq(excess, left, right, xtol=1e-3)))


def tau_candidates(smoother: Smoother, n_candidates: int = N_CANDIDATES) -> Floats:
    """Return taus from a nearly straight f to one with half the degrees of freedom that the points allow."""
    low, high = smoother.dof_range
    if high - low < 2.0:
        return np.array([tau_of_dof(smoother, _softest(smoother))]) if high > low else np.array([1.0])
    stiff = low + min(1.0, (high - low) / 4.0)
    return np.geomspace(tau_of_dof(smoother, stiff), tau_of_dof(smoother, _softest(smoother)), n_candidates)


def _softest(smoother: Smoother) -> float:
    """Return the degrees of freedom of the softest candidate."""
    low, high = smoother.dof_range
    return (low + high) / 2.0


def select_tau(
    problem: Problem, method: str, run: Run, *, parts: bool = True, taus: Floats | None = None
) -> tuple[Decomposition, TauCurve]:
    """Return the decomposition at the best tau and the curve that chose it, of what was tried on all points.

    Parameters
    ----------
    problem : Problem
    method : {"gcv", "cv", "reml"}
    run : callable
        `run(problem, tau)` returns a Decomposition.
    parts : bool
        Let parts of very many points narrow the search; not by cross-validation, whose folds are dear to build.
    taus : array, optional
        The candidates, if they are not to follow from the smoother's degrees of freedom.
    """
    if taus is not None:
        fits, curve = _tried(problem, taus, method, run)
        return fits[curve.best], curve
    scale = 1 if problem.per_channel else problem.Y.shape[1]
    few = thinned(problem, N_ASKED) if parts and method != "cv" and len(problem.Y) > MANY else problem
    taus = scale * tau_candidates(few.smoother)
    if few is problem or len(taus) == 1:
        fits, curve = _tried(problem, taus, method, run)
        return fits[curve.best], curve
    starts, ratio = _minima(_tried(few, taus, method, run)[1]), taus[1] / taus[0]
    close = _middle(problem, N_ASKED)
    near = scale * tau_candidates(close.smoother)
    if len(near) > 1:
        curve = _tried(close, near, method, run)[1]
        # What is drawn from all bends alike at the same tau; a stretch does if tau times its weight is the same.
        same = near[_minima(curve)] * close.weights.sum() / problem.weights.sum()
        starts += [max(round(i), 0) for i in np.log(same / taus[0]) / np.log(ratio)]
    return _downhill(problem, taus[0], ratio, [*starts, 0], method, run)


def _minima(curve: TauCurve) -> list[int]:
    """Return the candidates that are no worse than their neighbours, the best first."""
    around = np.pad(curve.criterion, 1, constant_values=np.inf)
    low = np.flatnonzero((around[1:-1] <= around[:-2]) & (around[1:-1] <= around[2:]))
    return [int(i) for i in low[np.argsort(curve.criterion[low], kind="stable")][:N_FOLLOWED]]


def thinned(problem: Problem, most: int) -> Problem:
    """Return the problem of so many of its points, or itself if it has at most twice as many.

    They are drawn: a signal could have the rhythm of any stride.
    """
    if len(problem.Y) <= 2 * most or problem.without is None:
        return problem
    return problem.without(np.random.RandomState(0).permutation(len(problem.Y))[most:])[0]


def _middle(problem: Problem, most: int) -> Problem:
    """Return the problem of so many of its points in the middle, as they come."""
    n = len(problem.Y)
    first = (n - most) // 2
    assert problem.without is not None
    return problem.without(np.r_[:first, first + most : n])[0]


def _tried(problem: Problem, taus: Floats, method: str, run: Run) -> tuple[list[Decomposition], TauCurve]:
    """Return the fits at some taus, and their curve."""
    fits = [run(problem, tau) for tau in taus]
    if method == "cv":
        criterion = cross_validate(problem, taus, run)
    else:
        score = {"gcv": gcv, "reml": reml}[method]
        criterion = np.array([score(problem, fit) for fit in fits])
    return fits, TauCurve(method, taus, np.array([problem.dof(tau) for tau in taus]), criterion)


def _downhill(
    problem: Problem, stiffest: float, ratio: float, starts: list[int], method: str, run: Run
) -> tuple[Decomposition, TauCurve]:
    """Return the fit and the curve from the best start on to a local minimum; candidate i is stiffest * ratio^i."""
    most = _softest(problem.smoother) * (problem.Y.shape[1] if problem.per_channel else 1)
    tried: dict[int, tuple[Decomposition, TauCurve]] = {}

    def criterion(i: int) -> float:
        if i not in tried:
            tau = stiffest * ratio**i
            if i != starts[0] and problem.dof(tau) > most:
                return np.inf
            (fit,), curve = _tried(problem, np.array([tau]), method, run)
            tried[i] = fit, curve
        return float(tried[i][1].criterion[0])

    at = min(starts, key=criterion)
    for step in (1, -1):
        while at + step >= 0 and criterion(at + step) < criterion(at):
            at += step
    curves = [tried[i][1] for i in sorted(tried)]
    columns = [np.concatenate(column) for column in zip(*((c.tau, c.effective_dof, c.criterion) for c in curves))]
    return tried[at][0], TauCurve(method, *columns)


def gcv(problem: Problem, fit: Decomposition) -> float:
    """Return the generalised cross-validation score of a fit, its labels taken as given."""
    size = problem.weights.sum() * problem.Y.shape[1]
    left = 1.0 - (problem.dof(fit.tau) + problem.level_dof(len(fit.levels))) / size
    return float(fit.loss / left**2) if left > 0.0 else np.inf


def reml(problem: Problem, fit: Decomposition) -> float:
    """Return minus twice the restricted log-likelihood of a fit, its labels taken as given.

    y - mu_z = f + noise with f a Gaussian process of covariance sigma^2 K / tau; sigma^2 is profiled out, the
    levels are integrated out.
    """
    weights, p = problem.weights, problem.Y.shape[1]
    fields, tau = (p, fit.tau) if problem.per_channel else (1, fit.tau / p)
    Z = problem.level_model.directions(len(fit.levels))[fit.labels]
    values = np.linalg.eigvalsh(Z.T @ (weights[:, None] * (Z - problem.smoother.solve(Z, tau))))
    free = problem.smoother.dof_range[0]
    # Where constants are free, the levels' common shift is too: it is counted with f.
    values = values[values > (1e-9 if free else 1e-15) * weights.sum()]
    # Contrasts between channels do not see a shared f: all of them are estimated.
    contrasts = 0 if problem.per_channel else Z.shape[1] * (p - 1)
    size = weights.sum() * p - fields * (len(values) + free) - contrasts
    if size <= 0.0:
        return np.inf
    deviance = weights.sum() * fit.objective / size
    if deviance <= 0.0:
        return -np.inf
    return float(size * np.log(deviance) + fields * (problem.smoother.logdet(tau) + np.sum(np.log(values))))


def cross_validate(problem: Problem, taus: Floats, run: Run) -> Floats:
    """Return the held-out mean squared distance to the nearest level, as the paper has it, at each tau."""
    if problem.without is None:
        raise ValueError("cross-validation needs a problem that can leave points out.")
    n = len(problem.Y)
    folds = np.random.RandomState(0).permutation(n) % N_FOLDS
    total = np.zeros(len(taus))
    for k in range(N_FOLDS):
        held_out = np.flatnonzero(folds == k)
        if len(held_out) == 0:
            continue
        part, X_new = problem.without(held_out)
        for i, tau in enumerate(taus):
            fit = run(part, tau)
            f = part.smooth_at(X_new, part.Y - fit.levels[fit.labels], tau)
            error = problem.Y[held_out] - f
            squared = np.sum((error[:, None, :] - fit.levels[None]) ** 2, axis=2).min(axis=1)
            total[i] += np.sum(problem.weights[held_out] * squared)
    return np.asarray(total / problem.weights.sum())
