"""AltMin on an image: logarithms if f multiplies, tensor splines as smoother, the paper's alternation."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from stepsmooth.altmin import Decomposition, Problem, altmin, select_tau, tau_of_dof
from stepsmooth.estimators.fitting import warn_if_not_converged, warn_of_few_observations
from stepsmooth.estimators.grid_settings import GridSettings
from stepsmooth.grid.tensor_smoother import TensorSmoother
from stepsmooth.grid.volume import Bools
from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.model.levels import level_model

# tau is chosen among this many values, from a nearly multilinear f to one with so many degrees of freedom.
N_CANDIDATES, MOST_DOF = 8, 400.0


@dataclass(frozen=True)
class AltMinImage:
    """The alternation's result, f on the whole grid, and the curve behind tau."""

    fit: Decomposition
    smooth: Floats
    selection: dict[str, object]


def fit_altmin_on_grid(
    Y: Floats, present: Bools, weights: Floats | None, spacing: tuple[float, ...], settings: GridSettings
) -> AltMinImage:
    """Decompose values (n, p) at the present voxels of a grid of any number of dimensions.

    Parameters
    ----------
    Y : (n, p) array
        Logarithms, if f multiplies.
    present : array of bool
    weights : (n,) array or None
    spacing : tuple of float
    settings : GridSettings
        In the domain of Y; `tau` is None to choose it by GCV.
    """
    smoother = TensorSmoother(present, weights, spacing)
    model = level_model(settings.n_levels or 1, settings.known, settings.free_shift, settings.seed)
    problem = Problem(Y, smoother, model)
    selection: dict[str, object] = {}
    options: dict[str, Anything] = {"start": settings.start, "max_iter": settings.max_iter, "tol": settings.tol}
    tau, p = settings.tau, Y.shape[1]
    if tau is None:
        fit, curve = select_tau(problem, "gcv", partial(altmin, **options), taus=p * _candidates(smoother))
        selection["tau"] = curve.as_dict()
        warn_of_few_observations(curve.criterion, problem.weights)
        tau = fit.tau
    # A callback sees the last run alone, not the candidates.
    if settings.tau is not None or settings.callback is not None:
        fit = altmin(problem, tau, callback=settings.callback, **options)
    warn_if_not_converged(fit)
    residual = (Y - fit.levels[fit.labels]).mean(axis=1)
    return AltMinImage(fit, smoother.everywhere(residual, fit.tau / p), selection)


def _candidates(smoother: TensorSmoother) -> Floats:
    """Return taus spaced evenly in the logarithm of the degrees of freedom that the grid would have without holes."""
    whole = TensorSmoother(np.ones_like(smoother.present), None, smoother.spacing)
    low, high = whole.dof_range
    most = min(low + (high - low) / 2.0, MOST_DOF)
    if high - low < 2.0:
        return np.array([1.0])
    dofs = np.geomspace(low + min(1.0, (most - low) / 4.0), most, N_CANDIDATES)
    return np.array([tau_of_dof(whole, float(dof)) for dof in dofs])
