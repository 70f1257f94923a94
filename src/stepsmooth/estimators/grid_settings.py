"""The settings of `GridStepSmooth`, checked: each refusal is a sentence."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from stepsmooth.estimators import magnitudes
from stepsmooth.estimators import parameters as p
from stepsmooth.estimators.grid_image import GridImage
from stepsmooth.model.arrays import Anything, Floats, Ints

STARTS = ("auto", "differences", "smooth", "kmeans")
LABEL_PRIORS = ("auto", "uniform", "proportions", "potts")
NOISES = ("gaussian", "rician")
# How many times farther apart voxels may be along one axis than along another: the integral of |D^2 f|^2 takes the
# fourth power of that.
FLATTEST = 1e6


@dataclass(frozen=True)
class GridSettings:
    """Checked settings: `n_levels`, `tau` and `knots` are None where the data choose them."""

    solver: str
    n_levels: int | None
    known: Floats | None
    free_shift: bool
    label_prior: str
    start: str | Ints
    tau: float | None
    knots: float | None
    rician: bool
    max_iter: int
    tol: float
    callback: Anything
    seed: int


def check_grid_settings(m: Anything, image: GridImage) -> GridSettings:
    """Return the settings of an estimator for an image."""
    solver = p.check_choice("solver", m.solver, p.SOLVERS)
    solver = "joint" if solver == "auto" else solver
    if isinstance(m.levels, str) and m.levels == "ladder":
        raise ValueError("levels='ladder' is not available on grids; give the levels, or leave levels=None.")
    known = p.check_levels(m.levels, bool(m.free_shift), image.n_channels)
    if known is not None and m.multiplicative and not np.all(known > 0.0):
        raise ValueError(f"levels must be positive if multiplicative=True, got a smallest level of {known.min():g}.")
    if known is not None:
        _check_known(known, image, bool(m.multiplicative))
    prior = p.check_choice("label_prior", m.label_prior, LABEL_PRIORS)
    noise = p.check_choice("noise", m.noise, NOISES)
    start = _check_start(m.start, image)
    if solver == "altmin":
        _check_altmin(m, prior, noise, start, image)
    else:
        _check_joint(m, start, image)
    if noise == "rician" and not m.multiplicative:
        raise ValueError("noise='rician' is the noise of magnitude images, which need multiplicative=True.")
    if m.callback is not None and not callable(m.callback):
        raise ValueError(f"callback must be None or callable, got {m.callback!r}.")
    knots = _check_knots(m.knots)
    if knots is not None and knots < min(image.spacing):
        raise ValueError(
            f"knots must be at least the distance of voxels, {min(image.spacing):g} (a finer field is the image "
            f"itself), got {knots:g}."
        )
    return GridSettings(
        solver=solver,
        n_levels=_check_n_levels(m, known, image.n_present),
        known=known,
        free_shift=bool(m.free_shift),
        label_prior=prior,
        start=start,
        tau=_number_or_name("tau", m.tau, ("auto", "gcv", "reml")),
        knots=knots,
        rician=noise == "rician",
        max_iter=p.check_count("max_iter", m.max_iter),
        tol=p.check_number("tol", m.tol, 0.0),
        callback=m.callback,
        seed=int(check_random_state(m.random_state).randint(2**31 - 1)),
    )


def _check_known(known: Floats, image: GridImage, multiplicative: bool) -> None:
    inside = [channel[image.present] for channel in image.values]
    ends = np.array([[values.min() for values in inside], [values.max() for values in inside]], dtype=np.float64)
    magnitudes.check_known(known, ends)
    if multiplicative and known.min() * magnitudes.DIGITS < ends[1].max():
        raise ValueError(
            f"levels must be at least {ends[1].max() / magnitudes.DIGITS:g}, {1 / magnitudes.DIGITS:g} of the image's "
            f"largest value, if multiplicative=True, got {known.min():g}."
        )


def _number_or_name(name: str, value: Anything, names: tuple[str, ...]) -> float | None:
    if isinstance(value, str):
        p.check_choice(name, value, names, also=", or a number above 0")
        return None
    return p.check_number(name, value, 0.0, strict=True, also=" or one of " + ", ".join(map(repr, names)))


def _check_knots(knots: Anything) -> float | None:
    """Return the distance of the knots: infinite stands for no field, None for a choice by the data."""
    if knots is None:
        return np.inf
    if isinstance(knots, float) and knots == np.inf:
        return np.inf
    return _number_or_name("knots", knots, ("auto",))


def _check_n_levels(m: Anything, known: Floats | None, n_present: int) -> int | None:
    if known is not None:
        n_levels: int | None = len(known)
    elif isinstance(m.n_levels, str):
        p.check_choice("n_levels", m.n_levels, ("auto",), also=", or a whole number of at least 1")
        n_levels = None
    else:
        n_levels = p.check_count("n_levels", m.n_levels, also=' or "auto"')
    fewest = max(n_levels or 1, 2)
    if n_present < fewest:
        raise ValueError(
            f"n_levels={m.n_levels!r} needs an image of at least {fewest} voxels, but only {n_present} are present "
            "(inside the mask, not missing, with a weight)."
        )
    return n_levels


def _check_start(start: Anything, image: GridImage) -> str | Ints:
    if isinstance(start, str):
        return p.check_choice("start", start, STARTS, also=", or an image of labels")
    labels = np.asarray(start)
    if labels.shape != image.label_shape or not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(
            f"start as labels must be whole numbers of shape {image.label_shape}, "
            f"got {labels.dtype} values of shape {labels.shape}."
        )
    inside = image.in_layout(labels)[image.present]
    if inside.min() < 0:
        raise ValueError("start as labels must be 0, 1, ... wherever a voxel is present, but some are negative.")
    return np.unique(inside, return_inverse=True)[1].astype(np.int64)


def _check_altmin(m: Anything, prior: str, noise: str, start: str | Ints, image: GridImage) -> None:
    if image.series_axis is not None:
        raise ValueError("series_axis does not go with solver='altmin'; use solver='joint'.")
    if prior not in ("auto", "uniform"):
        raise ValueError(
            f"label_prior={prior!r} does not go with solver='altmin', which takes all labels as equally likely; "
            "use 'uniform', or solver='joint'."
        )
    if noise != "gaussian":
        raise ValueError("noise='rician' does not go with solver='altmin'; use solver='joint'.")
    if isinstance(m.n_levels, str) and m.levels is None:
        raise ValueError("n_levels='auto' does not go with solver='altmin' on grids; give a number, or use 'joint'.")
    if isinstance(start, str) and start == "differences":
        raise ValueError("start='differences' does not go with solver='altmin'; use 'smooth', 'kmeans' or labels.")
    if isinstance(m.tau, str) and m.tau == "reml":
        raise ValueError("tau='reml' does not go with solver='altmin' on grids; use 'gcv' or a number.")
    if not (isinstance(m.knots, str) and m.knots == "auto"):
        raise ValueError("knots does not go with solver='altmin', whose stiffness is tau; leave knots='auto'.")


def _check_joint(m: Anything, start: str | Ints, image: GridImage) -> None:
    if not isinstance(start, str) or start == "smooth":
        raise ValueError("solver='joint' starts from 'differences' or 'kmeans'; use 'auto', or solver='altmin'.")
    if isinstance(m.tau, str) and m.tau == "gcv":
        raise ValueError("tau='gcv' does not go with solver='joint', which uses restricted likelihood; use 'auto'.")
    if max(image.spacing) > FLATTEST * min(image.spacing):
        raise ValueError(
            f"spacing may be up to {FLATTEST:g} times as large along one axis as along another for solver='joint', got "
            f"{', '.join(f'{h:g}' for h in image.spacing)}."
        )
    if image.n_axes > 3:
        raise ValueError(
            f"solver='joint' takes up to three axes of space, but the image has {image.n_axes}; name the axis of "
            "channels (channel_axis) or of frames (series_axis), or use solver='altmin'."
        )
