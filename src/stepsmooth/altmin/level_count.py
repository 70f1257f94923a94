"""Choosing the number of levels M: by evidence, or by cross-validation as the paper says."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stepsmooth.altmin.alternation import Problem
from stepsmooth.altmin.selection import Run, cross_validate, tau_candidates
from stepsmooth.altmin.soft import evidence, refine, soften
from stepsmooth.model.arrays import Floats, Ints

# The search stops after this many values of M in a row without a new best.
PATIENCE = 2
# So many of the softened candidates have their tau refined.
N_REFINED = 3


@dataclass(frozen=True)
class LevelCurve:
    """The curve behind a choice of M: the criterion (smaller is better) at each M."""

    method: str
    n_levels: Ints
    criterion: Floats

    @property
    def best(self) -> int:
        """The chosen number of levels."""
        return int(self.n_levels[np.argmin(self.criterion)])

    def as_dict(self) -> dict[str, object]:
        """Return plain values, as `selection_` keeps them."""
        return {
            "method": self.method,
            "n_levels": self.n_levels,
            "criterion": self.criterion,
            "chosen": self.best,
        }


def select_n_levels(make: Callable[[int], Problem], method: str, run: Run, most: int) -> LevelCurve:
    """Return the criterion at M = 1, 2, ... until it has risen twice in a row, or M = `most`.

    Parameters
    ----------
    make : callable
        `make(M)` returns the problem with M free levels.
    method : {"evidence", "cv"}
        `"evidence"`: -2 log p(y) + (M + 1) log n, with log p(y) by Laplace. `"cv"`: the held-out distance to the
        nearest level at its best tau, as the paper has it; under noise it takes ever more levels.
    run : callable
        `run(problem, tau)` returns a Decomposition.
    most : int
    """
    criterion: list[float] = []
    for n_levels in range(1, most + 1):
        problem = make(n_levels)
        scale = 1 if problem.per_channel else problem.Y.shape[1]
        taus = scale * tau_candidates(problem.smoother)
        if method == "cv":
            criterion.append(float(cross_validate(problem, taus, run).min()))
        else:
            criterion.append(_information(problem, taus, run))
        if len(criterion) - 1 - int(np.argmin(criterion)) >= PATIENCE:
            break
    return LevelCurve(method, np.arange(1, len(criterion) + 1), np.array(criterion))


def _information(problem: Problem, taus: Floats, run: Run) -> float:
    fits = [soften(problem, run(problem, tau), max_iter=40, tol=0.1) for tau in taus]
    fits = sorted(fits, key=lambda fit: -fit.bound)[:N_REFINED]
    best = max(evidence(problem, refine(problem, fit)) for fit in fits)
    n_levels = len(fits[0].levels)
    return float(-2.0 * best + (n_levels + 1) * np.log(problem.weights.sum()))
