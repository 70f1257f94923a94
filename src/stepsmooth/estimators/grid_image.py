"""An image as the solvers want it: channels first, then frames, then space; and the way back to the user's layout."""

import warnings
from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from stepsmooth.estimators import magnitudes
from stepsmooth.grid.pieces import piece_sizes
from stepsmooth.model.arrays import Anything, Floats

Image = NDArray[np.floating]
Bools = NDArray[np.bool_]
# Pieces of a mask smaller than this share of it are dust, not worth a word.
DUST = 0.02
# A field that multiplies needs values that differ by more than single precision (joint) or logarithms (AltMin) hold.
LEAST_CONTRAST = {"altmin": 1e-12, "joint": 1e-5}


@dataclass(frozen=True)
class GridImage:
    """Values (p, t, *space) in the input's precision, where they have a say (t, *space), and weights or None."""

    values: Image
    present: Bools
    inside: Bools
    weights: Floats | None
    spacing: tuple[float, ...]
    spaced: bool
    channel_axis: int | None
    series_axis: int | None
    dtype: np.dtype[Anything]
    masked: bool

    @property
    def n_channels(self) -> int:
        """Return p."""
        return int(self.values.shape[0])

    @property
    def rows(self) -> Image | None:
        """Return the values as (voxels, p) where they lie in memory like that, else None."""
        return _rows(self.values) if len(self.present) == 1 and self.inside.flags.c_contiguous else None

    @property
    def n_present(self) -> int:
        """Return how many voxels have a say."""
        return int(np.count_nonzero(self.present))

    @property
    def n_axes(self) -> int:
        """Return the number of axes of space."""
        return self.values.ndim - 2

    @property
    def label_shape(self) -> tuple[int, ...]:
        """Return the shape of the image without channels."""
        return tuple(self.out_of_layout(self.present).shape)

    def in_layout(self, image: Anything) -> Anything:
        """Return an image without channels as (t, *space)."""
        return image[None] if self.series_axis is None else np.moveaxis(image, self.series_axis, 0)

    def out_of_layout(self, image: Anything) -> Anything:
        """Return (t, *space) in the user's layout."""
        return image[0] if self.series_axis is None else np.moveaxis(image, 0, self.series_axis)

    def with_channels(self, image: Anything) -> Anything:
        """Return (p, t, *space) in the user's layout."""
        image = image[:, 0] if self.series_axis is None else np.moveaxis(image, 1, 1 + self.series_axis)
        return image[0] if self.channel_axis is None else np.moveaxis(image, 0, self.channel_axis)


def to_layout(array: Anything, channel_axis: int | None, series_axis: int | None) -> Anything:
    """Return an image as (p, t, *space); `series_axis` is counted without the channels."""
    array = array[None] if channel_axis is None else np.moveaxis(array, channel_axis, 0)
    return array[:, None] if series_axis is None else np.moveaxis(array, series_axis + 1, 1)


def read_image(m: Anything, image: Anything, mask: Anything, weights: Anything) -> GridImage:
    """Return the checked image of an estimator's `fit`."""
    if isinstance(image, np.ma.MaskedArray):
        image = np.ma.filled(image.astype(np.float64), np.nan)
    array = np.asarray(image)
    if array.dtype.kind not in "fiub" or array.ndim == 0 or array.size == 0:
        raise ValueError(
            f"image must be an array of real numbers with at least one voxel, got {array.dtype} of shape {array.shape}."
        )
    dtype = np.dtype(np.float64 if array.dtype.itemsize > 4 or array.dtype == np.int32 else np.float32)
    values = array.astype(dtype, copy=False)
    channel_axis = _axis("channel_axis", m.channel_axis, array.ndim)
    series_axis = _axis("series_axis", m.series_axis, array.ndim)
    if channel_axis is not None and channel_axis == series_axis:
        raise ValueError(f"channel_axis and series_axis must differ, but both are {channel_axis}.")
    if series_axis is not None and channel_axis is not None and channel_axis < series_axis:
        series_axis -= 1  # counted without the channels from here on
    values = to_layout(values, channel_axis, series_axis)
    if values.ndim == 2:
        raise ValueError(f"image must have an axis of space besides channels and frames, got shape {array.shape}.")
    # Two looks at all voxels, in the order in which they lie in memory, tell that nothing is missing.
    whole = bool(np.isfinite(array.min()) and np.isfinite(array.max()))
    if not whole and np.isinf(array).any():
        raise ValueError("image must be finite, but it contains infinity; mark missing voxels by NaN.")
    grid = np.moveaxis(np.empty(values.shape[1:], dtype=bool), 0, series_axis or 0)
    shape = grid.shape if series_axis is not None else grid.shape[1:]

    def laid_out(name: str, given: Anything, kind: str) -> Anything:
        given = np.asarray(given)
        space = tuple(s for a, s in enumerate(shape) if a != series_axis)
        if given.shape == space and series_axis is not None:
            return np.broadcast_to(given, values.shape[1:])
        if given.shape != shape:
            raise ValueError(f"{name} must have the shape of the image{kind}, {shape}, got {given.shape}.")
        return given[None] if series_axis is None else np.moveaxis(given, series_axis, 0)

    channels = " without channels" if channel_axis is not None else ""
    if mask is None:
        inside = np.ones(values.shape[1:], dtype=bool)
    else:
        inside = laid_out("mask", mask, channels).astype(bool, order="C")
        if not inside.any():
            raise ValueError("mask is empty: no voxel is inside.")
    if not whole:
        inside &= _known(values)
    mass = None
    if weights is not None:
        mass = laid_out("weights", weights, channels).astype(np.float64)
        if not np.all(np.isfinite(mass)) or np.any(mass < 0.0):
            raise ValueError("weights must be finite and not negative.")
        magnitudes.check_weights("weights", mass)
    present = inside if mass is None else inside & (mass > 0.0)
    if not present.any():
        raise ValueError("no voxel is present: all are missing, outside the mask or of weight zero.")
    _check_values(values, present, m.multiplicative, LEAST_CONTRAST["altmin" if m.solver == "altmin" else "joint"])
    result = GridImage(
        values,
        present,
        inside,
        mass,
        _spacing(m.spacing, values.ndim - 2),
        m.spacing is not None,
        channel_axis,
        series_axis,
        dtype,
        mask is not None,
    )
    if mask is not None:
        _warn_of_pieces(present)
    return result


def _rows(values: Image) -> Image | None:
    """Return an image (p, 1, *space) as (voxels, p) if that is a view of it, else None."""
    last = np.moveaxis(values, 0, -1)
    return last.reshape(-1, len(values)) if last.flags.c_contiguous and len(values[0]) == 1 else None


def _known(values: Image) -> Bools:
    """Return where no channel is missing, (t, *space)."""
    rows = _rows(values)
    if len(values) == 1 or rows is None:
        return np.asarray(~np.isnan(values).any(axis=0))
    known = np.empty(len(rows), dtype=bool)
    _all_known(rows, known)
    return known.reshape(values.shape[1:])


@njit(parallel=True, cache=True)
def _all_known(rows: Image, known: Bools) -> None:
    for i in prange(len(rows)):
        missing = False
        for c in range(rows.shape[1]):
            missing |= np.isnan(rows[i, c])
        known[i] = not missing


@njit(cache=True)
def _ends(rows: Image, present: Bools) -> Image:
    """Return the least and the greatest value of each channel, (p, 2)."""
    p = rows.shape[1]
    ends = np.empty((p, 2), dtype=rows.dtype)
    ends[:, 0], ends[:, 1] = np.inf, -np.inf
    for i in range(len(rows)):
        if present[i]:
            for c in range(p):
                ends[c, 0] = min(ends[c, 0], rows[i, c])
                ends[c, 1] = max(ends[c, 1], rows[i, c])
    return ends


def _axis(name: str, axis: Anything, ndim: int) -> int | None:
    if axis is None:
        return None
    if not isinstance(axis, (int, np.integer)) or isinstance(axis, bool) or not -ndim <= axis < ndim:
        raise ValueError(f"{name} must be None or an axis of the image, from {-ndim} to {ndim - 1}, got {axis!r}.")
    return int(axis) % ndim


def _spacing(spacing: Anything, n_axes: int) -> tuple[float, ...]:
    if spacing is None:
        return (1.0,) * n_axes
    given = np.atleast_1d(np.asarray(spacing, dtype=np.float64))
    if given.shape == (1,):
        given = np.repeat(given, n_axes)
    if given.shape != (n_axes,) or not np.all(np.isfinite(given)) or np.any(given <= 0.0):
        raise ValueError(
            f"spacing must be a positive number, or {n_axes} of them, one for each axis of space, got {spacing!r}."
        )
    if given.min() < magnitudes.NEAR or given.max() > magnitudes.FAR:
        raise ValueError(
            f"spacing must lie between {magnitudes.NEAR:g} and {magnitudes.FAR:g}, got {spacing!r}; change its unit."
        )
    return tuple(float(h) for h in given)


def _check_values(values: Image, present: Bools, multiplicative: bool, least: float) -> None:
    rows = _rows(values) if len(values) > 1 else None
    ends = (
        [(float(inside.min()), float(inside.max())) for inside in (channel[present] for channel in values)]
        if rows is None
        else [(float(low), float(high)) for low, high in _ends(rows, present.reshape(-1))]
    )
    lowest = min(low for low, _ in ends)
    if multiplicative and lowest < 0.0:
        raise ValueError(
            f"image has negative values (the lowest is {lowest:g}), which a field that multiplies cannot explain; "
            "use multiplicative=False, or mask them out."
        )
    if multiplicative and not all(high > 0.0 for _, high in ends):
        raise ValueError("image is zero at every present voxel: there is nothing that a field could multiply.")
    for low, high in ends:
        magnitudes.check_values("image", (low, high))
        if multiplicative and 0.0 < high - low < least * high:
            raise ValueError(
                f"image varies by {high - low:g} about {high:g}, by less than {least:g} of its values: too "
                "little for a field that multiplies; use multiplicative=False, or subtract the offset."
            )


def _warn_of_pieces(present: Bools) -> None:
    """Warn if the mask falls into pieces: between them only the smoothness of f carries the levels over."""
    mask: Anything = present.any(axis=0)
    for a in range(mask.ndim):  # the box around the mask is often much smaller than the image
        found = np.flatnonzero(mask.any(axis=tuple(b for b in range(mask.ndim) if b != a)))
        mask = mask[(*(slice(None) for _ in range(a)), slice(found[0], found[-1] + 1))]
    sizes = piece_sizes(mask)
    large = int(np.count_nonzero(sizes >= DUST * sizes.sum()))
    if large > 1:
        warnings.warn(
            f"mask is in {large} pieces that do not touch: f is continued from one to the other by its smoothness "
            "alone; fit them one by one if their fields have nothing to do with each other.",
            UserWarning,
            stacklevel=4,
        )
