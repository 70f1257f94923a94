"""One fit of an image, from `GridImage` and settings to a `GridResult` in the image's units and gauge."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from stepsmooth.estimators.grid_altmin import fit_altmin_on_grid
from stepsmooth.estimators.grid_image import GridImage
from stepsmooth.estimators.grid_settings import GridSettings
from stepsmooth.estimators.lengths import unit_length
from stepsmooth.grid import Emission, Search, Volume, choose_count, find_air, fit_grid, shell
from stepsmooth.grid.background import Air
from stepsmooth.grid.closing import field_on_grid
from stepsmooth.grid.volume import box_of
from stepsmooth.model.arrays import Anything, Floats

# The units are taken from about so many voxels.
N_FOR_UNITS = 100_000
# Values of this size survive single precision.
SINGLE = 1e-30, 1e30
# Air outside a mask is worth a look if there is at least this share of the image.
OUTSIDE = 0.01


@dataclass(frozen=True)
class GridResult:
    """Labels (t, *space), f (*space), margins or None, and levels, variances and mass (of voxels) by class."""

    labels: NDArray[np.int16]
    smooth: NDArray[np.floating]
    margin: NDArray[np.floating] | None
    levels: Floats
    variances: Floats
    mass: Floats
    emission: Emission
    in_logs: bool
    label_prior: str
    tau: float
    knots: float
    objective: float
    history: list[float]
    n_iter: int
    converged: bool
    selection: dict[str, object]
    strength: float
    has_background: bool


def fit_by_joint(image: GridImage, settings: GridSettings, multiplicative: bool) -> GridResult:
    """Return the decomposition by the joint solver."""
    scale, offset = _units(image, multiplicative)
    unit = unit_length(image.values.shape[2:], image.spacing if image.spaced else None)
    volume = _volume(image, scale, offset, unit)
    # The integral of |D^2 f|^2 has the dimension of a length to this power.
    bending = unit ** (sum(n > 1 for n in volume.grid[1:]) - 4)
    air = _air(image, scale) if multiplicative else None
    known = None if settings.known is None else (settings.known - offset) / scale
    knots = None if settings.knots is None else settings.knots / unit
    selection: dict[str, object] = {}
    task = Search(
        n_levels=settings.n_levels or 1,
        multiplicative=multiplicative,
        known=known,
        # Of a constant image nothing is left to explain.
        knots=knots if multiplicative or np.nanmax(np.abs(volume.values)) > 0.0 else np.inf,
        tau=None if settings.tau is None else settings.tau * bending,
        start=str(settings.start),
        rician=settings.rician,
        seed=settings.seed,
    )
    if settings.n_levels is None:
        task, selection["n_levels"] = choose_count(volume, task, air)
    prior = settings.label_prior
    has_background = air is not None and not image.masked
    try:
        fit = fit_grid(volume, task, prior, air=air, air_is_a_class=has_background, callback=settings.callback)
    except np.linalg.LinAlgError:
        raise ValueError(
            f"the field of this image is not determined: {image.n_present} voxels are present, and their values, their "
            "weights or tau may differ by more than 16 digits; use knots=None for no field, or solver='altmin'."
        ) from None
    selection.update(_in_spacing(fit.selection, unit))
    levels = fit.classes.levels
    labels, margin = _whole(image, volume, fit.labels, -1), _whole(image, volume, fit.margin, np.nan)
    fit, spacing = replace(fit, labels=labels, margin=margin), volume.spacing
    del volume  # what lives in its box goes before more is made
    # The field reaches beyond the box in which the fit lives.
    space = image.values.shape[2:]
    grid = [np.arange(n, dtype=np.float64) * h for n, h in zip(_deep(space), spacing)]
    mean = fit.mean
    if known is not None and not settings.free_shift:
        mean = float(np.mean(np.log(known / levels)) if multiplicative else np.mean(known - levels))
    smooth = field_on_grid(fit.joint.field, grid, mean)
    factor, term = (float(np.exp(mean)), 0.0) if multiplicative else (1.0, mean)
    levels = levels * factor + term
    if not multiplicative:
        if SINGLE[0] < scale[0] < SINGLE[1]:
            smooth *= np.float32(scale[0])
        else:  # such values come in double precision only, and so does f
            smooth = smooth * scale[0]
    return GridResult(
        labels=labels,
        smooth=smooth.reshape(space),
        margin=margin,
        levels=levels * scale + offset,
        variances=fit.classes.variances * scale**2,
        mass=fit.mass,
        emission=_in_units(fit.emission, factor, term, scale, offset),
        in_logs=False,
        label_prior="potts" if fit.strength > 0.0 else "proportions" if prior == "auto" else prior,
        tau=fit.joint.field.penalty / max(fit.n_blocks, 1) / bending,
        knots=_knots_of(fit) * unit,
        objective=-fit.joint.evidence,
        history=[],
        n_iter=fit.joint.n_iter,
        converged=fit.joint.converged,
        selection=selection,
        strength=fit.strength,
        has_background=has_background,
    )


def fit_by_altmin(image: GridImage, settings: GridSettings, multiplicative: bool) -> GridResult:
    """Return the decomposition by AltMin, in the log domain if f multiplies: there a voxel of zero is missing."""
    present = image.present
    if multiplicative:
        present = present & np.all(image.values > 0.0, axis=0)
        dark = int(np.count_nonzero(image.present) - np.count_nonzero(present))
        if dark:
            warnings.warn(
                f"image is 0 at {dark:,} voxels, which have no logarithm and get the label -1: mask them out or, if "
                "they are a class, use solver='joint' or multiplicative=False.",
                stacklevel=3,
            )
    Y = image.values[:, present].T.astype(np.float64)
    Y = np.log(Y) if multiplicative else Y
    known = settings.known
    if known is not None and multiplicative:
        known = np.log(known)
    start = "smooth" if isinstance(settings.start, str) and settings.start == "auto" else settings.start
    if not isinstance(start, str) and multiplicative:
        kept = present[image.present]
        start = np.unique(start[kept], return_inverse=True)[1].astype(np.int64)
    weights = None if image.weights is None else image.weights[present]
    where = present[0]
    found = fit_altmin_on_grid(Y, where, weights, image.spacing, replace(settings, known=known, start=start))
    fit = found.fit
    order = np.lexsort(fit.levels.T[::-1])
    rank = np.argsort(order)
    levels, labels = fit.levels[order], rank[fit.labels]
    smooth = found.smooth
    mass = np.ones(len(Y)) if weights is None else weights
    if settings.known is None or settings.free_shift:
        mean = float(np.average(smooth[where], weights=mass))
        smooth, levels = smooth - mean, levels + mean
    full = np.full(present.shape, -1, dtype=np.int16)
    full[present] = labels
    error = Y - levels[labels] - smooth[where][:, None]
    spread = float(np.average(np.mean(error**2, axis=1), weights=mass))
    emission = Emission(
        levels,
        np.full_like(levels, 0.5 / max(spread, 1e-300)),
        np.zeros(len(levels)),
        np.arange(len(levels)),
        np.ones(len(levels), dtype=bool),
    )
    return GridResult(
        labels=full,
        smooth=smooth,
        margin=None,
        levels=np.exp(levels) if multiplicative else levels,
        variances=np.full_like(levels, spread),
        mass=np.asarray(np.bincount(labels, mass, minlength=len(levels)), dtype=np.float64),
        emission=emission,
        in_logs=multiplicative,
        label_prior="uniform",
        tau=fit.tau,
        knots=np.nan,
        objective=fit.objective,
        history=fit.history,
        n_iter=fit.n_iter,
        converged=fit.converged,
        selection=found.selection,
        strength=0.0,
        has_background=False,
    )


def _in_units(emission: Emission, factor: float, term: float, scale: Floats, offset: Floats) -> Emission:
    """Return an emission in the units and gauge of the image; air knows no gauge."""
    moved = np.where(emission.touched[:, None], emission.levels * factor + term, emission.levels)
    return replace(emission, levels=moved * scale + offset, precision=emission.precision / scale**2)


def _units(image: GridImage, multiplicative: bool) -> tuple[Floats, Floats]:
    """Return by what each channel is divided, and what is subtracted before: single precision then loses nothing."""
    scale, offset = np.ones(image.n_channels), np.zeros(image.n_channels)
    step = max(image.n_present // N_FOR_UNITS, 1)
    places = np.unravel_index(np.flatnonzero(image.present)[::step], image.present.shape)
    for c, channel in enumerate(image.values):
        some = channel[places].astype(np.float64)
        if multiplicative:
            scale[c] = np.quantile(some, 0.99) or channel[image.present].max()
        else:
            offset[c] = np.median(some)
            scale[c] = float(np.std(some)) or float(np.std(channel[image.present])) or 1.0
    if not multiplicative:
        scale[:] = scale.max()  # f adds to all channels alike
    return scale, offset


def _deep(space: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape with three axes of space."""
    return (*space, *(1 for _ in range(3 - len(space))))


def _volume(image: GridImage, scale: Floats, offset: Floats, unit: float) -> Volume:
    """Return the box of the image that holds all present voxels, in lengths that count as mm."""
    p, frames, *space = image.values.shape
    present = image.present.reshape(frames, *_deep(tuple(space)))
    box = box_of(present)
    inside = present[(slice(None), *box)]
    values = np.empty((p, *inside.shape), dtype=np.float32)
    given = image.values.reshape(p, *present.shape)[(slice(None), slice(None), *box)]
    if not np.all((scale > SINGLE[0]) & (scale < SINGLE[1])):
        # Single precision does not hold the values before they are in units of their spread.
        for c in range(p):
            values[c] = np.where(inside, (given[c] - offset[c]) / scale[c], np.nan)
    else:
        _fill(given, inside, offset.astype(given.dtype), scale.astype(np.float32), values)
    spacing = (*(h / unit for h in image.spacing), *(1.0 for _ in range(3 - len(space))))
    weights = None
    if image.weights is not None:
        weights = image.weights.reshape(present.shape)[(slice(None), *box)].astype(np.float32)
    start = (box[0].start, box[1].start, box[2].start)
    return Volume(values, (spacing[0], spacing[1], spacing[2]), weights, start)


@njit(parallel=True, cache=True)
def _fill(given: Anything, inside: Anything, offset: Anything, scale: Anything, values: Anything) -> None:
    """Fill in the values of the channels, which may lie side by side, in their units; NaN where none is present."""
    p, frames, nx, ny, nz = given.shape
    for x in prange(nx):
        for t in range(frames):
            for y in range(ny):
                for z in range(nz):
                    here = inside[t, x, y, z]
                    for c in range(p):
                        less = np.float32(given[c, t, x, y, z] - offset[c]) / scale[c]
                        values[c, t, x, y, z] = less if here else np.float32(np.nan)


def _whole(image: GridImage, volume: Volume, part: Anything, fill: float) -> Anything:
    """Return an image of the volume's box on the whole grid, (t, *space)."""
    frames, *space = image.present.shape
    shape = (frames, *_deep(tuple(space)))
    if part.shape == shape:
        return part.reshape(image.present.shape)
    whole = np.empty(shape, dtype=part.dtype)
    _set_into(whole, part, np.array(volume.start), part.dtype.type(fill))
    return whole.reshape(image.present.shape)


@njit(parallel=True, cache=True)
def _set_into(whole: Anything, part: Anything, start: Anything, fill: Anything) -> None:
    """Put a part of an image where it starts, and a value around it: who touches new memory first takes longest."""
    _, nx, ny, nz = part.shape
    for row in prange(whole.shape[0] * whole.shape[1]):
        t, x = row // whole.shape[1], row % whole.shape[1]
        plane, i = whole[t, x], x - start[0]
        plane[:] = fill
        if 0 <= i < nx:
            for y in range(ny):
                plane[start[1] + y, start[2] : start[2] + nz] = part[t, i, y]


def _air(image: GridImage, scale: Floats) -> Air | None:
    """Return what air looks like, from outside the mask, or from the border of an image without one."""
    p, frames, *space = image.values.shape
    shape = (frames, *_deep(tuple(space)))
    if image.masked:
        where = ~image.inside.reshape(shape)
        if np.count_nonzero(where) < OUTSIDE * where.size:
            return None
    else:
        where = shell(shape)
    air = find_air(image.values.reshape(p, *shape), where)
    return None if air is None else Air(air.sigma / scale, air.share)


def _in_spacing(selection: dict[str, Anything], unit: float) -> dict[str, Anything]:
    """Return the curves of a fit with the distances of knots in the unit of the image's spacing."""
    if "stiffness" not in selection:
        return selection
    curve = selection["stiffness"]
    return selection | {"stiffness": curve | {name: curve[name] * unit for name in ("knots", "chosen")}}


def _knots_of(fit: Anything) -> float:
    basis = fit.joint.field.basis
    if basis is None:
        return np.inf
    return float(max(axis.width for axis in basis.axes if axis.n_cells))
