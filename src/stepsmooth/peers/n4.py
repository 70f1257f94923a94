"""N4 bias-field correction (Tustison et al., 2010), by SimpleITK."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .optional import require
from .volumes import voxels, whole


def n4_field(
    image: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    spacing: Sequence[float] | None = None,
    shrink: int = 4,
    fitting_levels: int = 4,
    iterations: int = 50,
    tolerance: float = 1e-3,
    threads: int | None = None,
) -> NDArray[np.float32]:
    """Estimate a log bias field by N4.

    Parameters
    ----------
    image : array_like of two or three dimensions
        One sequence; N4 knows no more.
    mask : array_like of bool, optional
        Where to look; everywhere by default.
    spacing : sequence of float, optional
        Size of a voxel along each axis; 1 by default.
    shrink : int, default 4
        The image is thinned by this factor first, the field returned at full resolution.
    fitting_levels : int, default 4
        The mesh of the field is halved this many times, from one cell over the image.
    iterations : int, default 50
        Iterations at each of them, at most.
    tolerance : float, default 1e-3
        Change of the field at which a level ends.
    threads : int or None, default None
        Threads; as many as SimpleITK likes by default.

    Returns
    -------
    ndarray of float32
        The log field on the grid, with mean zero over the mask.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import n4_field
    >>> steps = 1.0 + (np.add.outer(np.arange(48), np.arange(48)) // 8 % 2)
    >>> ramp = np.linspace(-0.3, 0.3, 48)[:, None]
    >>> field = n4_field(steps * np.exp(ramp), shrink=1)
    >>> bool(np.std(field - ramp) < 0.25 * np.std(ramp))
    True
    """
    sitk = require("SimpleITK")
    array = np.asarray(image, dtype=np.float32)
    if array.ndim not in (2, 3):
        raise ValueError(f"image must have two or three dimensions for N4; found shape {array.shape}.")
    inside = whole(array.shape) if mask is None else np.asarray(mask)
    voxels(array, inside)  # refuses a mask that does not fit
    full = sitk.GetImageFromArray(np.ascontiguousarray(array.T))
    where = sitk.GetImageFromArray(np.ascontiguousarray(inside.T.astype(np.uint8)))
    size = [float(step) for step in (spacing or (1.0,) * array.ndim)]
    for each in (full, where):
        each.SetSpacing(size)
    factors = [min(shrink, n) for n in array.shape]
    filter_ = sitk.N4BiasFieldCorrectionImageFilter()
    filter_.SetMaximumNumberOfIterations([iterations] * fitting_levels)
    filter_.SetConvergenceThreshold(tolerance)
    if threads is not None:
        filter_.SetNumberOfThreads(threads)
    filter_.Execute(sitk.Shrink(full, factors), sitk.Shrink(where, factors))
    field = np.asarray(sitk.GetArrayFromImage(filter_.GetLogBiasFieldAsImage(full)).T, dtype=np.float32)
    return field - np.float32(field[inside].mean(dtype=np.float64))
