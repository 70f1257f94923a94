"""The parameters of `StepSmooth`, checked against each other and against the data."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from stepsmooth.altmin import AltMinState
from stepsmooth.estimators import parameters as p
from stepsmooth.estimators.geometry import resolve_name
from stepsmooth.model.arrays import Anything, Floats, Ints


@dataclass(frozen=True)
class Settings:
    """How to fit: the parameters of the estimator, checked."""

    solver: str
    label_prior: str
    robust: bool
    kernel: Anything
    ladder: bool
    n_levels: int | str
    tau: float | str
    start: str | Ints
    known: Floats | None
    free_shift: bool
    per_channel: bool
    precomputed: bool
    mean: float
    n_init: int
    max_iter: int
    tol: float
    callback: Callable[[AltMinState], object] | None
    seed: int


def check_settings(m: Anything, Y: Floats, present: Anything, n_features: int) -> Settings:
    """Return the settings of an estimator for observations Y (n, p), of which some are present."""
    solver = p.check_choice("solver", m.solver, p.SOLVERS)
    p.check_kernel(m.kernel)
    kernel = resolve_name(m.kernel, n_features)
    if solver == "auto":
        solver = "altmin" if _needs_altmin(m, kernel, n_features) else "joint"
    prior = p.check_choice("label_prior", m.label_prior, p.LABEL_PRIORS)
    if m.robust not in ("auto", True, False):
        raise ValueError(f"robust must be 'auto', True or False, got {m.robust!r}.")
    per_channel = p.check_choice("field", m.field, p.FIELDS) == "per_channel"
    ladder = isinstance(m.levels, str) and m.levels == "ladder"
    if solver == "altmin":
        _check_altmin(prior, m.robust, ladder)
    else:
        _check_joint(m, kernel, n_features, per_channel)
    known = None if ladder else p.check_levels(m.levels, m.free_shift, Y.shape[1])
    n_levels = _check_n_levels(m, known, int(present.sum()))
    if isinstance(m.tau, str):
        tau: float | str = p.check_choice("tau", m.tau, p.TAU_METHODS, also=", or a number above 0")
        tau = "gcv" if tau == "auto" and solver == "altmin" else tau
    else:
        tau = p.check_number("tau", m.tau, 0.0, strict=True, also=", 'gcv', 'cv', 'reml' or 'auto'")
    start = p.check_start(m.start, len(Y))
    if not isinstance(start, str):
        if isinstance(n_levels, str):
            raise ValueError(f"start as labels needs a number of levels, but n_levels is {n_levels!r}.")
        start = np.unique(start[present], return_inverse=True)[1].astype(np.int64)
        if start.max() + 1 != n_levels:
            raise ValueError(f"start must use {n_levels} different labels, one for each level, got {start.max() + 1}.")
    elif known is None and isinstance(n_levels, int):
        n_levels = p.count_distinct(Y[present], n_levels)
    if m.callback is not None and not callable(m.callback):
        raise ValueError(f"callback must be None or callable, got {m.callback!r}.")
    return Settings(
        solver=solver,
        label_prior=prior,
        robust=solver == "joint" if m.robust == "auto" else bool(m.robust),
        kernel=kernel,
        ladder=ladder,
        n_levels=n_levels,
        tau=tau,
        start=start,
        known=known,
        free_shift=bool(m.free_shift),
        per_channel=per_channel,
        precomputed=isinstance(m.kernel, str) and m.kernel == "precomputed",
        mean=p.check_number("mean", m.mean, -np.inf),
        n_init=p.check_count("n_init", m.n_init),
        max_iter=p.check_count("max_iter", m.max_iter),
        tol=p.check_number("tol", m.tol, 0.0),
        callback=m.callback,
        seed=int(check_random_state(m.random_state).randint(2**31 - 1)),
    )


def _needs_altmin(m: Anything, kernel: Anything, n_features: int) -> bool:
    """Return whether the data or a parameter ask for AltMin; else, on a line, the joint solver is the better one."""
    return (
        n_features > 1
        or not isinstance(kernel, str)
        or kernel not in ("spline", "min")
        or m.field == "per_channel"
        or (isinstance(m.tau, str) and m.tau in ("gcv", "cv", "reml"))
        or not isinstance(m.start, str)
        or m.start != "auto"
        or (isinstance(m.n_levels, str) and m.n_levels == "cv")
        or m.n_init != 1
        or m.callback is not None
    )


def _check_n_levels(m: Anything, known: Floats | None, n_present: int) -> int | str:
    if known is not None:
        n_levels: int | str = len(known)
    elif isinstance(m.n_levels, str):
        n_levels = p.check_choice("n_levels", m.n_levels, ("auto", "cv"), also=", or a whole number of at least 1")
    else:
        n_levels = p.check_count("n_levels", m.n_levels, also=', "auto" or "cv"')
    fewest = n_levels if isinstance(n_levels, int) else 1
    if n_present < fewest:
        raise ValueError(
            f"n_levels={n_levels!r} needs at least {fewest} point(s), but there are n_samples = {n_present} "
            "with a y and a weight."
        )
    return n_levels


def _check_altmin(prior: str, robust: Anything, ladder: bool) -> None:
    if prior not in ("auto", "uniform"):
        raise ValueError(
            f"label_prior={prior!r} does not go with solver='altmin', which takes all labels as equally likely; "
            "use 'uniform', or solver='joint' on a line."
        )
    if robust not in ("auto", False):
        raise ValueError(
            f"robust={robust!r} does not go with solver='altmin', which has no outlier component; use False."
        )
    if ladder:
        raise ValueError("levels='ladder' does not go with solver='altmin'; use solver='joint' on a line.")


def _check_joint(m: Anything, kernel: Anything, n_features: int, per_channel: bool) -> None:
    if n_features > 1:
        raise ValueError(f"solver='joint' needs points on a line, but X has {n_features} columns; use solver='altmin'.")
    if kernel not in ("spline", "min"):
        raise ValueError(f"solver='joint' needs kernel='spline' or 'min', got {m.kernel!r}; use solver='altmin'.")
    if per_channel:
        raise ValueError("field='per_channel' does not go with solver='joint'; use solver='altmin'.")
    if isinstance(m.tau, str) and m.tau in ("gcv", "cv", "reml"):
        raise ValueError(f"tau={m.tau!r} does not go with solver='joint', which has its own criterion; use 'auto'.")
    if not isinstance(m.start, str) or m.start != "auto":
        raise ValueError("solver='joint' finds its own starts; use start='auto', or solver='altmin'.")
    if m.n_levels == "cv":
        raise ValueError("n_levels='cv' does not go with solver='joint'; use 'auto' or a number.")
    if m.callback is not None:
        raise ValueError("callback does not go with solver='joint', which runs many searches; use solver='altmin'.")
