"""One fit by the joint solver, from plain arrays to a `Result`: sort, thin, choose M, solve, fix the gauge."""

from dataclasses import replace

import numpy as np

from stepsmooth.estimators.filtered import filled_in, white_every
from stepsmooth.estimators.result import Result, SmoothPart
from stepsmooth.estimators.settings import Settings
from stepsmooth.line.chain import Signal
from stepsmooth.line.joint import JointFit, fit_joint, select_levels
from stepsmooth.line.maximise import Structure
from stepsmooth.model.arrays import Floats
from stepsmooth.model.gauge import centre

# The share of observations that may be outliers.
OUTLIERS = 0.01
# M = "auto" is searched up to here, and to as many levels as have so many points each.
MOST_LEVELS = 8
POINTS_PER_LEVEL = 10


def fit_on_line(x: Floats, Y: Floats, weights: Floats, settings: Settings) -> Result:
    """Decompose observations (n, p) along x by the joint solver, all weights positive."""
    order = np.argsort(x, kind="stable")
    back = np.argsort(order, kind="stable")
    x, Y, weights = x[order], Y[order], weights[order]
    # With tau given, f cannot follow the noise.
    every = white_every(Y) if isinstance(settings.tau, str) else 1
    found = _fit_in_order(x[::every], Y[::every], weights[::every], settings)
    if every > 1:
        found = filled_in(found, x, Y, every)
    return replace(
        found,
        labels=found.labels[back],
        probabilities=found.probabilities[back],
        smooth=found.smooth[back],
        smooth_se=found.smooth_se[back],
        alternatives=[labels[back] for labels in found.alternatives],
    )


def _fit_in_order(x: Floats, Y: Floats, weights: Floats, settings: Settings) -> Result:
    tau = None if isinstance(settings.tau, str) else settings.tau
    signal = Signal(
        x,
        Y,
        weights / weights.mean(),
        order=1 if settings.kernel == "min" else 2,
        outlier=OUTLIERS if settings.robust else 0.0,
        tau=tau,
    )
    selection: dict[str, object] = {}
    if isinstance(settings.n_levels, str):
        most = max(min(MOST_LEVELS, len(signal) // POINTS_PER_LEVEL, len(np.unique(Y, axis=0))), 1)
        fit, criterion = select_levels(signal, settings.label_prior, "ladder" if settings.ladder else "free", most)
        chosen, counts = fit.solution.theta.n_levels, np.arange(1, len(criterion) + 1)
        selection["n_levels"] = {"method": "evidence", "n_levels": counts, "criterion": criterion, "chosen": chosen}
    else:
        structure: Structure = "ladder" if settings.ladder else "free"
        if settings.known is not None:
            structure = "shifted" if settings.free_shift else "known"
        fit = fit_joint(signal, settings.n_levels, settings.label_prior, structure, settings.known)
    selection["label_prior"] = {"method": "evidence", "score": fit.scores, "chosen": fit.solution.prior}
    return _result(signal, fit, float(weights.mean()), settings, selection)


def _result(signal: Signal, fit: JointFit, unit: float, settings: Settings, selection: dict[str, object]) -> Result:
    best, p = fit.solution, signal.Y.shape[1]
    theta, gamma = best.theta, best.found.gamma
    smooth, levels, shift = fit.smooth[:, None], theta.levels, np.zeros(1)
    if settings.known is None or settings.free_shift:
        smooth, levels, shift = centre(smooth, levels, signal.weights, settings.mean)
    mass = signal.weights @ gamma
    return Result(
        labels=fit.labels,
        probabilities=gamma,
        levels=levels,
        levels_se=fit.levels_se,
        smooth=smooth,
        smooth_se=fit.smooth_se[:, None],
        part=SmoothPart(signal.smoother, fit.residual[:, None], theta.tau / p, shift),
        tau=theta.tau,
        effective_dof=signal.smoother.trace(theta.tau / p),
        noise_variance=theta.noise * unit * (1.0 if theta.ratio is None else theta.ratio),
        proportions=mass / mass.sum(),
        label_prior=best.prior,
        objective=-best.loglik,
        history=[-value for value in best.history],
        n_iter=len(best.history),
        converged=best.converged,
        kernel="min" if signal.order == 1 else "spline",
        selection=selection,
        transition_matrix=theta.transition,
        transition_se=fit.transition_se,
        alternatives=[rival.found.gamma.argmax(axis=1) for rival in fit.rivals],
    )
