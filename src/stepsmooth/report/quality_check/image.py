"""A fitted image as its quality is judged on: pairs of neighbouring voxels, few enough to be quick about."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepsmooth.estimators.grid_image import to_layout
from stepsmooth.estimators.lengths import unit_length
from stepsmooth.grid.volume import Bools, Volume
from stepsmooth.model.arrays import Anything, Floats, Ints

# About so many labelled voxels are looked at.
N_LOOKED_AT = 200_000


@dataclass(frozen=True)
class ThinImage:
    """Every k-th pair of voxels along each axis of an image and of its fit; axes of length one make up three.

    Attributes
    ----------
    values : (p, t, x, y, z) array of float32
        The image as it was given to the fit, NaN where no voxel is labelled.
    smooth : (x, y, z) array
    labels : (t, x, y, z) array
    margin : (t, x, y, z) array
    weights : (t, x, y, z) array or None
    coordinates : list of three arrays
        Where the voxels lie along each axis, in lengths that count as mm.
    knots : float
        The distance of the field's knots, likewise; NaN if it has none, as AltMin's.
    levels : (M, p) array
    multiplicative : bool
    """

    values: NDArray[np.float32]
    smooth: Floats
    labels: Ints
    margin: Floats
    weights: Floats | None
    coordinates: list[Floats]
    knots: float
    levels: Floats
    multiplicative: bool

    @classmethod
    def of(cls, m: Anything, weights: Anything = None) -> "ThinImage":
        """Return the thinned image of a fitted `GridStepSmooth`."""
        channel_axis, series_axis = m._axes
        corrected = to_layout(m.corrected_, channel_axis, series_axis)
        space = corrected.shape[2:]
        if len(space) > 3:
            raise ValueError(f"quality is judged on images of up to three axes of space, got one of {len(space)}.")
        spacing = np.broadcast_to(np.asarray(1.0 if m.spacing is None else m.spacing, dtype=np.float64), len(space))
        unit = unit_length(space, None if m.spacing is None else spacing)
        n_labelled = int(np.count_nonzero(m.labels_ >= 0))
        axes = sum(n > 1 for n in space)
        step = max(round((n_labelled / N_LOOKED_AT) ** (1.0 / max(axes, 1))), 1)
        picked = [np.flatnonzero(np.arange(n) // 2 % step == 0) for n in space]
        ones = (1,) * (3 - len(space))

        def thin(array: NDArray[Any]) -> NDArray[Any]:
            """Return the picked voxels of an array whose last axes are space."""
            lead = array.shape[: array.ndim - len(space)]
            for a, index in enumerate(picked):
                if len(index) < space[a]:
                    array = np.take(array, index, axis=len(lead) + a)
            return array.reshape(*lead, *(len(index) for index in picked), *ones)

        def framed(array: NDArray[Any]) -> NDArray[Any]:
            return thin(array[None] if series_axis is None else np.moveaxis(array, series_axis, 0))

        smooth = thin(m.smooth_).astype(np.float64)
        labels = framed(m.labels_)
        values = thin(corrected)
        values = values * np.exp(smooth) if m.multiplicative else values + smooth
        values = np.where(labels >= 0, values, np.nan)
        mass = None
        if weights is not None:
            mass = _weights(np.asarray(weights, dtype=np.float64), m.labels_.shape, m.smooth_.shape, framed, thin)
        return cls(
            values=values,
            smooth=smooth,
            labels=labels,
            margin=framed(m.margin_),
            weights=mass,
            coordinates=[i * h / unit for i, h in zip(picked, spacing)] + [np.zeros(1)] * len(ones),
            knots=float(m.knots_) / unit,
            levels=np.asarray(m.levels_, dtype=np.float64).reshape(m.n_levels_, -1),
            multiplicative=bool(m.multiplicative),
        )

    @property
    def present(self) -> Bools:
        """Where a voxel has a label."""
        return np.asarray(self.labels >= 0)

    def in_units(self) -> tuple[Volume, Floats, Floats]:
        """Return the voxels on the scale of the solvers, with indices for places; the scale; and the offset."""
        p = len(self.values)
        some = self.values[:, self.present].astype(np.float64)
        offset = np.zeros(p) if self.multiplicative else np.median(some, axis=1)
        scale = np.quantile(some, 0.99, axis=1) if self.multiplicative else np.full(p, np.std(some, axis=1).max())
        scale = np.where(scale > 0.0, scale, 1.0)
        ones = (p, *(1 for _ in range(4)))
        values = ((self.values - offset.reshape(ones)) / scale.reshape(ones)).astype(np.float32)
        weights = None if self.weights is None else self.weights.astype(np.float32)
        return Volume(values, (1.0, 1.0, 1.0), weights), scale, offset


def _weights(given: Floats, shape: tuple[int, ...], space: tuple[int, ...], framed: Anything, thin: Anything) -> Floats:
    if given.shape not in (shape, space):
        raise ValueError(f"weights must have the shape of the labels, {shape}, got {given.shape}.")
    found = framed(given) if given.shape == shape else np.broadcast_to(thin(given), framed(np.empty(shape)).shape)
    return np.asarray(found, dtype=np.float64)
