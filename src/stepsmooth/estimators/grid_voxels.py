"""Voxel by voxel, after a fit: the image without the field, probabilities of the classes, and margins."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepsmooth.estimators.grid_image import Bools, GridImage, Image
from stepsmooth.grid import Emission
from stepsmooth.grid.mixture import gain_and_shift


def corrected_image(image: GridImage, field: NDArray[Any], multiplicative: bool) -> NDArray[Any]:
    """Return the image without the field, in the user's layout; outside the mask it stays as it is."""
    values = np.empty_like(image.values)
    for c, channel in enumerate(image.values):
        values[c] = channel / field if multiplicative else channel - field
        np.copyto(values[c], channel, where=~image.inside)
    return np.ascontiguousarray(image.with_channels(values))


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
