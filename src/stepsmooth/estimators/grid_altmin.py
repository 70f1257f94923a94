"""AltMin on an image: logarithms if f multiplies, tensor splines as smoother, the paper's alternation."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from stepsmooth.altmin import Decomposition, Problem, altmin, tau_of_dof
from stepsmooth.altmin.selection import TauCurve, gcv
from stepsmooth.estimators.fitting import warn_of_few_observations
from stepsmooth.grid.tensor_smoother import TensorSmoother
from stepsmooth.grid.volume import Bools
from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.model.levels import FreeLevels, KnownLevels, LevelModel, ShiftedLevels

# tau is chosen among this many values, from a nearly multilinear f to one with so many degrees of freedom.
N_CANDIDATES, MOST_DOF = 8, 400.0


@dataclass(frozen=True)
class AltMinTask:
    """What AltMin is to do with the present voxels of an image; `tau` is None to choose it by GCV."""

    n_levels: int
    known: Floats | None
    free_shift: bool
    tau: float | None
    start: str | Ints
    max_iter: int
    tol: float
    callback: Callable[..., object] | None
    seed: int


@dataclass(frozen=True)
class AltMinImage:
    """The alternation's result, f on the whole grid, and the curve behind tau."""

    fit: Decomposition
    smooth: Floats
    dof: float
    selection: dict[str, object]


def fit_altmin_on_grid(
    Y: Floats, present: Bools, weights: Floats | None, spacing: tuple[float, ...], task: AltMinTask
) -> AltMinImage:
    """Decompose values (n, p) at the present voxels of a grid of any number of dimensions.

    Parameters
    ----------
    Y : (n, p) array
        Logarithms, if f multiplies.
    present : array of bool
    weights : (n,) array or None
    spacing : tuple of float
    task : AltMinTask
    """
    model: LevelModel = FreeLevels(task.n_levels, task.seed)
    if task.known is not None:
        model = ShiftedLevels(task.known) if task.free_shift else KnownLevels(task.known)
    smoother = TensorSmoother(present, weights, spacing)
    problem = Problem(Y, smoother, model)
    selection: dict[str, object] = {}
    options: dict[str, Anything] = {"start": task.start, "max_iter": task.max_iter, "tol": task.tol}
    if task.tau is None:
        taus = Y.shape[1] * _candidates(smoother)
        fits = [altmin(problem, tau, **options) for tau in taus]
        scores = np.array([gcv(problem, fit) for fit in fits])
        curve = TauCurve("gcv", taus, np.array([problem.dof(tau) for tau in taus]), scores)
        selection["tau"] = curve.as_dict()
        warn_of_few_observations(scores, problem.weights)
        fit = fits[curve.best]
        if task.callback is not None:
            fit = altmin(problem, fit.tau, callback=task.callback, **options)
    else:
        fit = altmin(problem, task.tau, callback=task.callback, **options)
    if not fit.converged:
        warnings.warn(
            f"AltMin did not converge in {fit.n_iter} iterations (the objective still falls); raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=4,
        )
    residual = (Y - fit.levels[fit.labels]).mean(axis=1)
    return AltMinImage(fit, smoother.everywhere(residual, fit.tau / Y.shape[1]), problem.dof(fit.tau), selection)


def _candidates(smoother: TensorSmoother) -> Floats:
    """Return taus spaced evenly in the logarithm of the degrees of freedom that the grid would have without holes."""
    whole = TensorSmoother(np.ones_like(smoother.present), None, smoother.spacing)
    low, high = whole.dof_range
    most = min(low + (high - low) / 2.0, MOST_DOF)
    if high - low < 2.0:
        return np.array([1.0])
    dofs = np.geomspace(low + min(1.0, (most - low) / 4.0), most, N_CANDIDATES)
    return np.array([tau_of_dof(whole, float(dof)) for dof in dofs])
