"""A decomposed image as the page shows it: original, corrected, field and labels of one frame, channels first."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepsmooth.estimators.grid_image import to_layout
from stepsmooth.model.arrays import Anything, Floats

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Scan:
    """One frame of a decomposed image.

    Attributes
    ----------
    original, corrected : (p, *space) arrays
        NaN where a voxel is missing.
    field, labels : (*space) arrays
        The field in the units in which it acts; labels with -1 where there is none.
    levels : (M, p) array
    spacing : tuple of floats
        The size of a voxel along each axis.
    multiplicative : bool
    frames : int
        How many frames the image has; the first is shown.
    """

    original: Array
    corrected: Array
    field: Array
    labels: Array
    levels: Floats
    spacing: tuple[float, ...]
    multiplicative: bool
    frames: int = 1

    @cached_property
    def inside(self) -> Array:
        """Where there is a label."""
        return np.asarray(self.labels >= 0)

    @property
    def n_channels(self) -> int:
        """Return p."""
        return len(self.original)

    @property
    def n_axes(self) -> int:
        """Return the number of axes of space."""
        return self.labels.ndim

    def window(self, channel: int) -> tuple[float, float]:
        """Return the intensities drawn black and white, the same before and after."""
        return self._windows[channel]

    @cached_property
    def _windows(self) -> list[tuple[float, float]]:
        return [self._window(channel) for channel in range(self.n_channels)]

    def _window(self, channel: int) -> tuple[float, float]:
        inside = self.inside
        seen = self.corrected[channel][inside] if inside.any() else self.corrected[channel].ravel()
        seen = seen[np.isfinite(seen)]
        low, high = (float(v) for v in np.quantile(seen, [0.005, 0.995])) if len(seen) else (0.0, 1.0)
        span = high - low or abs(high) or 1.0
        # Intensities that start near zero keep zero as black: so dark stays dark.
        return (0.0 if 0.0 <= low < 2.0 * span else low - 0.1 * span), high + 0.1 * span

    def field_range(self) -> tuple[float, float]:
        """Return the least and the greatest field among the labelled voxels."""
        return self._field_range

    @cached_property
    def _field_range(self) -> tuple[float, float]:
        seen = self.field[self.inside]
        low, high = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 1.0)
        return (low, high) if high > low else (low - 0.5, high + 0.5)


def read_scan(m: Anything, image: Anything = None) -> Scan:
    """Return the first frame of a fitted `GridStepSmooth` with the image it was fitted to.

    Parameters
    ----------
    m : GridStepSmooth
        Fitted.
    image : array, optional
        The image given to ``fit``; by default it is put together from the corrected image and the field.

    Examples
    --------
    >>> from stepsmooth import GridStepSmooth
    >>> image = np.repeat([[1.0, 2.0, 1.0, 2.0]], 12, axis=0).repeat(6, axis=1) * np.linspace(1, 2, 12)[:, None]
    >>> m = GridStepSmooth(2, knots=60.0, label_prior="proportions").fit(image, mask=np.ones(image.shape, dtype=bool))
    >>> scan = read_scan(m)
    >>> scan.original.shape, bool(np.allclose(scan.original[0], image))
    ((1, 12, 24), True)
    """
    channel_axis, series_axis = m._axes
    corrected = to_layout(np.asarray(m.corrected_), channel_axis, series_axis)[:, 0]
    labels = np.asarray(m.labels_)
    frames = 1 if series_axis is None else labels.shape[series_axis]
    field = np.asarray(m.field_)

    def first(array: Array) -> Array:
        return array if series_axis is None else np.take(array, 0, series_axis)

    if image is None:
        # The margin is a number exactly where a voxel had a say, which is where the field was taken away.
        touched = np.isfinite(first(np.asarray(m.margin_))) | (first(labels) >= 0)
        whole = corrected * field if m.multiplicative else corrected + field
        original = np.where(touched, whole, corrected)
    else:
        given = np.asarray(image)
        if given.shape != np.shape(m.corrected_):
            raise ValueError(
                f"image must be the one given to fit, of shape {np.shape(m.corrected_)}, got {given.shape}."
            )
        original = to_layout(given, channel_axis, series_axis)[:, 0]
    space = corrected.shape[1:]
    spacing = np.ones(len(space)) if m.spacing is None else np.broadcast_to(m.spacing, (len(space),))
    levels = np.asarray(m.levels_, dtype=np.float64)
    return Scan(
        original=original,
        corrected=corrected,
        field=field,
        labels=first(labels),
        levels=levels.reshape(len(levels), -1),
        spacing=tuple(float(h) for h in spacing),
        multiplicative=bool(m.multiplicative),
        frames=frames,
    )
