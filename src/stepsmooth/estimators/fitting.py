"""One fit by AltMin, from plain arrays to a `Result`: choose the kernel's scale, M and tau, run, fix the gauge."""

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from stepsmooth.altmin import Decomposition, Problem, altmin, select_n_levels, select_tau, thinned
from stepsmooth.estimators import uncertainty
from stepsmooth.estimators.geometry import Build
from stepsmooth.estimators.result import Result, SmoothPart
from stepsmooth.estimators.settings import Settings
from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.model.gauge import centre
from stepsmooth.model.kmeans import lloyd
from stepsmooth.model.levels import LevelModel, level_model

# M = "auto" is searched up to here, on so many of the points if there are more than twice as many.
MOST_LEVELS, N_FOR_COUNT = 8, 5_000
# A length scale is chosen on at most so many points.
N_FOR_LENGTH_SCALE = 1000


def fit_altmin(X: Floats, Y: Floats, weights: Floats, build: dict[str, Build], settings: Settings) -> Result:
    """Decompose observations (n, p) at points X by AltMin, all weights positive."""
    selection: dict[str, object] = {}
    name = next(iter(build))
    if len(build) > 1:
        name, selection["kernel"] = _choose_scale(X, Y, weights, build, settings)
    smoother = build[name](X, weights)

    def make(n_levels: int) -> Problem:
        return _problem(X, Y, weights, build[name], _level_model(settings, n_levels), settings, smoother=smoother)

    def few(n_levels: int) -> Problem:
        return thinned(make(n_levels), N_FOR_COUNT)

    n_levels = settings.n_levels
    if isinstance(n_levels, str):
        method = "cv" if n_levels == "cv" else "evidence"
        most = min(MOST_LEVELS, len(np.unique(few(1).Y, axis=0)))
        curve = select_n_levels(few, method, _runner(replace(settings, callback=None)), most)
        n_levels, selection["n_levels"] = curve.best, curve.as_dict()
    problem = make(n_levels)
    if isinstance(settings.tau, str):
        # Every candidate is a run of its own: a callback would see their iterations mixed, so it sees the last run.
        # Labels to start from are of all points: no part could begin with them.
        parts = isinstance(settings.start, str)
        best, tau_curve = select_tau(problem, settings.tau, _runner(replace(settings, callback=None)), parts=parts)
        selection["tau"] = tau_curve.as_dict()
        warn_of_few_observations(tau_curve.criterion, weights)
        if settings.callback is not None:
            best = _runner(settings)(problem, best.tau)
    else:
        best = _runner(settings)(problem, settings.tau)
    warn_if_not_converged(best)
    return _in_gauge(best, problem, settings, name, selection)


def warn_if_not_converged(fit: Decomposition) -> None:
    """Say if the iterations did not suffice."""
    if not fit.converged:
        warnings.warn(
            f"AltMin did not converge in {fit.n_iter} iterations (the objective still falls); raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=5,
        )


def warn_of_few_observations(criterion: Floats, weights: Floats) -> None:
    """Say if weights that are no frequencies leave fewer observations than f and the levels take at any tau."""
    if np.all(np.isinf(criterion)) and weights.sum() < len(weights):
        warnings.warn(
            f"the weights sum to {weights.sum():.3g} over {len(weights)} points: as weights are numbers of "
            "observations, these are too few to choose tau by, and f is as stiff as can be; scale them, or give tau.",
            UserWarning,
            stacklevel=5,
        )


def _problem(
    X: Floats,
    Y: Floats,
    weights: Floats,
    build: Build,
    level_model: LevelModel,
    settings: Settings,
    smoother: Anything = None,
) -> Problem:
    def without(held_out: Ints) -> tuple[Problem, Floats]:
        kept = np.ones(len(Y), dtype=bool)
        kept[held_out] = False
        keep = np.flatnonzero(kept)
        # A kernel matrix loses columns as well as rows.
        X_keep = X[np.ix_(keep, keep)] if settings.precomputed else X[keep]
        X_new = X[np.ix_(held_out, keep)] if settings.precomputed else X[held_out]
        return _problem(X_keep, Y[keep], weights[keep], build, level_model, settings), X_new

    smoother = build(X, weights) if smoother is None else smoother
    return Problem(Y, smoother, level_model, settings.per_channel, without)


def _level_model(settings: Settings, n_levels: int) -> LevelModel:
    return level_model(n_levels, settings.known, settings.free_shift, settings.seed)


def _runner(settings: Settings) -> Callable[[Problem, float], Decomposition]:
    """Return run(problem, tau): the best of `n_init` starts."""

    def run(problem: Problem, tau: float) -> Decomposition:
        options: dict[str, Anything] = {
            "max_iter": settings.max_iter,
            "tol": settings.tol,
            "callback": settings.callback,
        }
        start = settings.start
        if not isinstance(start, str) and len(start) != len(problem.Y):
            start = "smooth"  # a part of the points (cross-validation) has no labels of its own
        best = altmin(problem, tau, start=start, **options)
        # A generator of its own: a run must not depend on how many runs came before it.
        rng = np.random.RandomState(settings.seed)
        for _ in range(settings.n_init - 1):
            other = altmin(problem, tau, start=_random_labels(problem, best, rng), **options)
            best = min(best, other, key=lambda fit: fit.objective)
        return best

    return run


def _random_labels(problem: Problem, fit: Decomposition, rng: np.random.RandomState) -> Ints:
    """Return the labels of a random start: Lloyd's algorithm on y - f from levels drawn from the data."""
    residual = problem.Y - fit.smooth
    seeds = residual[rng.choice(len(residual), size=len(fit.levels), replace=False)]
    labels = lloyd(residual, problem.weights, seeds[np.lexsort(seeds.T[::-1])])[1]
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _choose_scale(
    X: Floats, Y: Floats, weights: Floats, build: dict[str, Build], settings: Settings
) -> tuple[str, dict[str, object]]:
    """Return the length scale with the best GCV, on a part of the points if there are many."""
    if len(X) > N_FOR_LENGTH_SCALE:
        part = np.sort(np.random.RandomState(0).choice(len(X), N_FOR_LENGTH_SCALE, replace=False))
        X, Y, weights = X[part], Y[part], weights[part]
    quiet = replace(
        settings,
        callback=None,
        n_init=1,
        start=settings.start if isinstance(settings.start, str) else "smooth",
    )
    count = settings.n_levels if isinstance(settings.n_levels, int) else 3
    scores = {}
    for name, one in build.items():
        problem = _problem(X, Y, weights, one, _level_model(settings, count), settings)
        _, curve = select_tau(problem, "gcv", _runner(quiet))
        scores[name] = float(curve.criterion.min())
    chosen = min(scores, key=lambda name: scores[name])
    return chosen, {
        "method": "gcv",
        "candidates": list(scores),
        "criterion": np.array(list(scores.values())),
        "chosen": chosen,
    }


def _in_gauge(
    best: Decomposition, problem: Problem, settings: Settings, name: str, selection: dict[str, object]
) -> Result:
    """Order the levels, drop the unused ones if they are free, and fix the mean of f unless they are known exactly."""
    used = np.bincount(best.labels, minlength=len(best.levels)) > 0
    order = np.lexsort(best.levels.T[::-1])
    if settings.known is None:
        order = order[used[order]]
    rank = np.zeros(len(best.levels), dtype=np.int64)
    rank[order] = np.arange(len(order))
    best = replace(best, levels=best.levels[order], labels=rank[best.labels])
    if settings.known is not None and not settings.free_shift:
        smooth, levels, shift = best.smooth, best.levels, np.zeros(best.smooth.shape[1])
    else:
        smooth, levels, shift = centre(best.smooth, best.levels, problem.weights, settings.mean)
    residual = problem.Y - best.levels[best.labels]
    p = residual.shape[1]
    if settings.per_channel:
        part = SmoothPart(problem.smoother, residual, best.tau, shift)
    else:
        part = SmoothPart(problem.smoother, residual.mean(axis=1, keepdims=True), best.tau / p, shift)
    dof = problem.dof(best.tau)
    variance = uncertainty.noise_variance(problem, best, dof)
    errors = uncertainty.level_errors(problem, best, variance)
    even = np.full(len(levels), 1.0 / len(levels))
    densities = uncertainty.log_densities(problem.Y - smooth, levels, variance, even)
    mass = np.bincount(best.labels, problem.weights, minlength=len(levels))
    return Result(
        labels=best.labels,
        probabilities=uncertainty.normalise(densities),
        levels=levels,
        levels_se=np.zeros_like(errors) if settings.known is not None and not settings.free_shift else errors,
        smooth=smooth,
        smooth_se=uncertainty.smooth_errors(problem, best, variance),
        part=part,
        tau=best.tau,
        effective_dof=dof,
        noise_variance=variance,
        proportions=mass / mass.sum(),
        label_prior="uniform",
        objective=best.objective,
        history=best.history,
        n_iter=best.n_iter,
        converged=best.converged,
        kernel=name,
        selection=selection,
    )
