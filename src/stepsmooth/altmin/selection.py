"""Choosing tau: generalised or k-fold cross-validation or restricted likelihood, over effective degrees of freedom.

Each candidate is a whole AltMin run at that tau; tau itself has no natural range, degrees of freedom have.
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
        return np.array([tau_of_dof(smoother, (low + high) / 2.0)]) if high > low else np.array([1.0])
    stiff, soft = low + min(1.0, (high - low) / 4.0), low + (high - low) / 2.0
    return np.geomspace(tau_of_dof(smoother, stiff), tau_of_dof(smoother, soft), n_candidates)


def select_tau(problem: Problem, method: str, run: Run) -> tuple[Decomposition, TauCurve]:
    """Return the decomposition at the best tau and the curve that chose it.

    Parameters
    ----------
    problem : Problem
    method : {"gcv", "cv", "reml"}
    run : callable
        `run(problem, tau)` returns a Decomposition.
    """
    scale = 1 if problem.per_channel else problem.Y.shape[1]
    taus = scale * tau_candidates(problem.smoother)
    fits = [run(problem, tau) for tau in taus]
    if method == "cv":
        criterion = cross_validate(problem, taus, run)
    else:
        score = {"gcv": gcv, "reml": reml}[method]
        criterion = np.array([score(problem, fit) for fit in fits])
    curve = TauCurve(method, taus, np.array([problem.dof(tau) for tau in taus]), criterion)
    return fits[curve.best], curve


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
