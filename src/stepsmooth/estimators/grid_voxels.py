"""Voxel by voxel, after a fit: the image without the field, probabilities of the classes, and margins."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepsmooth.estimators.grid_image import Bools, GridImage, Image
from stepsmooth.grid import Emission
from stepsmooth.grid.mixture import gain_and_shift

SLAB = 1 << 17


def corrected_image(image: GridImage, smooth: NDArray[Any], multiplicative: bool) -> NDArray[Any]:
    """Return the image without the field, in the user's layout; outside the mask it stays as it is."""
    values = np.array(image.values, order="C")
    length = values.shape[2]
    step = max(SLAB * length // max(smooth.size, 1), 1)
    for low in range(0, length, step):  # slab by slab, so that no array of the image's size is made besides
        slab = slice(low, low + step)
        field = np.exp(smooth[slab]) if multiplicative else smooth[slab]
        for channel in values:
            for frame, inside in zip(channel, image.inside):
                (np.divide if multiplicative else np.subtract)(frame[slab], field, out=frame[slab], where=inside[slab])
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
