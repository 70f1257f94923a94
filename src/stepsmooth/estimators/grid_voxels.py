"""Voxel by voxel, after a fit: the image without the field, probabilities of classes, margins."""

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from stepsmooth.estimators.grid_image import Bools, GridImage, Image, to_layout
from stepsmooth.grid import Emission
from stepsmooth.grid.chunks import CHUNK, field_at
from stepsmooth.grid.mixture import gain_and_shift

SLAB = 1 << 17


def corrected_image(image: GridImage, smooth: NDArray[Any], multiplicative: bool) -> NDArray[Any]:
    """Return the image without the field, in the user's layout; outside the mask it stays as it is."""
    smooth = np.ascontiguousarray(smooth).ravel()
    rows = image.rows
    if rows is not None:  # the channels of a voxel side by side: nothing has to be turned
        corrected = np.empty_like(rows)
        _correct(rows, smooth, image.inside.reshape(-1), multiplicative, corrected)
        return corrected.reshape(image.with_channels(image.values).shape)
    whole = np.empty(image.with_channels(image.values).shape, dtype=image.values.dtype)
    target = to_layout(whole, image.channel_axis, image.series_axis)
    for t, inside in enumerate(image.inside):
        frame = np.array(np.moveaxis(image.values[:, t], 0, -1), order="C")
        rows = frame.reshape(-1, image.n_channels)
        _correct(rows, smooth, np.ascontiguousarray(inside).ravel(), multiplicative, rows)
        target[:, t] = np.moveaxis(frame, -1, 0)
    return whole


@njit(parallel=True, cache=True, error_model="numpy")
def _correct(
    rows: NDArray[Any], smooth: NDArray[Any], inside: Bools, multiplicative: bool, corrected: NDArray[Any]
) -> None:
    n, p = rows.shape
    for slab in prange(-(-n // SLAB)):
        end = min((slab + 1) * SLAB, n)
        for low in range(slab * SLAB, end, CHUNK):
            here = slice(low, min(low + CHUNK, end))
            values, f, out, known = rows[here], smooth[here], corrected[here], inside[here]
            touched = False
            for i in range(len(f)):
                touched |= known[i]
            if not touched:
                out[:] = values
                continue
            gain, shift = np.empty(len(f)), np.empty(len(f))
            field_at(f, multiplicative, gain, shift)
            for i in range(len(f)):  # what is outside the mask is multiplied by one
                gain[i] = 1.0 / gain[i] if known[i] else 1.0
                shift[i] = shift[i] if known[i] else 0.0
            for i in range(len(f)):
                for c in range(p):
                    out[i, c] = (values[i, c] - shift[i]) * gain[i]


def label_probabilities(
    values: Image, smooth: NDArray[Any], emission: Emission, multiplicative: bool, present: Bools
) -> NDArray[Any]:
    """Return the probabilities (t, *space, classes) of the classes of an emission, NaN where no voxel is present.

    Parameters
    ----------
    values : (p, t, *space) array
    smooth : (*space) array
    emission : Emission
    multiplicative : bool
    present : (t, *space) array
    """
    out = np.full((*present.shape, emission.n_classes), np.nan, dtype=values.dtype)
    member = np.eye(emission.n_classes)[emission.owner]
    for t, here in enumerate(present):  # frame by frame, so that no array of all classes is made twice
        Y = values[:, t][:, here].T
        gain, shift = gain_and_shift(smooth[here], multiplicative)
        score = np.empty((len(Y), len(emission.levels)))
        for k, level in enumerate(emission.levels):
            mean = gain[:, None] * level + shift[:, None] if emission.touched[k] else level
            score[:, k] = emission.logs[k] - np.sum(emission.precision[k] * (Y - mean) ** 2, axis=1)
        score = np.exp(score - score.max(axis=1, keepdims=True))
        out[t][here] = (score @ member) / score.sum(axis=1, keepdims=True)
    return out


def margins(probabilities: NDArray[Any]) -> NDArray[Any]:
    """Return by how much the largest of the probabilities (..., K) beats the second."""
    if probabilities.shape[-1] == 1:
        return np.asarray(probabilities[..., 0])
    top = np.partition(probabilities, -2, axis=-1)
    return np.asarray(top[..., -1] - top[..., -2])
