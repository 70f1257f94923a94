"""LapGM (Vinas, Amini, Fischer and Sudhyadhom, 2022): a Gaussian mixture of log intensities under a Laplacian field."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .optional import require
from .volumes import box_of, voxels, whole


def lapgm_field(
    image: ArrayLike,
    n_levels: int,
    *,
    mask: ArrayLike | None = None,
    channel_axis: int | None = None,
    tau: float = 1e-3,
    downscale: int = 1,
    max_iter: int = 25,
    random_state: int = 0,
) -> NDArray[np.float32]:
    """Estimate a log bias field by LapGM.

    LapGM has no mask: what lies outside becomes a class of its own, filled with noise below half the smallest
    intensity, as LapGM itself fills zeros, but from `random_state`. The image is cut to the box of the mask.

    Parameters
    ----------
    image : array_like
        The image; its channels share the field.
    n_levels : int
        Number of classes within the mask.
    mask, channel_axis
        As in :func:`voxels`.
    tau : float, default 1e-3
        LapGM's own: the larger, the rougher the field.
    downscale : int, default 1
        Whole number by which LapGM thins the image.
    max_iter : int, default 25
        Rounds of expectation-maximisation, LapGM's own number.
    random_state : int, default 0
        Seed of k-means and of the filling.

    Returns
    -------
    ndarray of float32
        The log field on the grid, with mean zero over the mask; beyond the mask's box its edge is repeated.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import lapgm_field
    >>> steps = 1.0 + (np.add.outer(np.arange(24), np.arange(24)) // 4 % 2)
    >>> steps *= np.exp(0.02 * np.random.default_rng(0).standard_normal((24, 24)))
    >>> ramp = np.linspace(-0.3, 0.3, 24)[:, None]
    >>> field = lapgm_field(steps * np.exp(ramp), 2)
    >>> bool(np.std(field - ramp) < 0.25 * np.std(ramp))
    True
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns at import that there is no graphics card
        lapgm = require("lapgm")
    array = np.asarray(image)
    stack = array[None] if channel_axis is None else np.moveaxis(array, channel_axis, 0)
    grid = stack.shape[1:]
    inside = whole(grid) if mask is None else np.asarray(mask)
    values = voxels(image, inside, channel_axis)
    box = box_of(inside)
    margins = [(along.start, n - along.stop) for along, n in zip(box, grid)]
    rng = np.random.default_rng(random_state)
    sequences = []
    for channel, own in zip(stack, values.T):
        least = own[own > 0].min() / 2
        filled = np.where(inside[box] & (channel[box] > 0), channel[box], 0.0)
        empty = filled <= 0
        filled[empty] = least * (1 - rng.random(int(empty.sum())))
        sequences.append(filled)
    outside = not inside[box].all()
    model = lapgm.LapGM(downscale_factor=downscale)
    model.set_hyperparameters(tau=tau, n_classes=n_levels + outside)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of divisions where a class dies out
        estimate = model.estimate_parameters(
            lapgm.to_sequence_array(sequences), max_em_iters=max_iter, random_seed=random_state
        )
    field = np.pad(np.asarray(estimate.B, dtype=np.float32), margins, mode="edge")
    if not np.all(np.isfinite(field)):
        raise FloatingPointError(f"LapGM gave no finite field at tau={tau:g}: a class died out.")
    return field - np.float32(field[inside].mean(dtype=np.float64))
