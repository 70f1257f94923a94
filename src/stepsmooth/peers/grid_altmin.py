"""The paper's alternation on a grid with others' parts: csaps for the field, scikit-learn for the levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .decomposition import FloatArray, PeerDecomposition, in_our_gauge
from .kmeans import kmeans_sklearn
from .optional import require
from .volumes import box_of, in_units_of_the_image, logs, voxels, whole


def grid_csaps(values: ArrayLike, p: float, *, spacing: Sequence[float] | None = None) -> FloatArray:
    """Smooth a full grid by csaps' tensor product of cubic smoothing splines.

    Parameters
    ----------
    values : array_like
        Values on the grid.
    p : float
        csaps' smoothing parameter along every axis, 0 (a plane) to 1 (interpolation).
    spacing : sequence of float, optional
        Size of a voxel along each axis; 1 by default.

    Returns
    -------
    ndarray
        The smoothed values.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import grid_csaps
    >>> plane = np.add.outer(np.arange(5.0), np.arange(6.0))
    >>> bool(np.allclose(grid_csaps(plane, 0.1), plane))
    True
    """
    csaps = require("csaps")
    array = np.asarray(values, dtype=np.float64)
    size = spacing or (1.0,) * array.ndim
    axes = [np.arange(n) * float(step) for n, step in zip(array.shape, size)]
    spline = csaps.NdGridCubicSmoothingSpline(axes, array, smooth=[p] * array.ndim)
    return np.asarray(spline(axes), dtype=np.float64)


def grid_csaps_altmin(
    image: ArrayLike,
    n_levels: int,
    *,
    mask: ArrayLike | None = None,
    spacing: Sequence[float] | None = None,
    p: float = 1e-4,
    multiplicative: bool = True,
    start: Literal["smooth", "kmeans"] = "smooth",
    tolerance: float = 1e-4,
    max_iter: int = 1000,
    random_state: int = 0,
) -> PeerDecomposition:
    """Alternate csaps and k-means until labels and field stand still.

    csaps takes no mask: outside it, the field at hand is the datum, which at convergence is to smooth the data
    within the mask alone.

    Parameters
    ----------
    image : array_like
        One channel, of any number of dimensions. One csaps call on a whole head takes minutes and gigabytes.
    n_levels : int
        Number of levels.
    mask : array_like of bool, optional
        Where to look; everywhere by default.
    spacing, p
        As in :func:`grid_csaps`.
    multiplicative : bool, default True
        Whether to work on logarithms.
    start : {"smooth", "kmeans"}, default "smooth"
        Which half-step comes first.
    tolerance : float, default 1e-4
        Largest change of the field, at standing labels, that counts as none.
    max_iter : int, default 1000
        Rounds at most.
    random_state : int, default 0
        Seed of the first k-means; later ones start from the levels at hand.

    Returns
    -------
    PeerDecomposition
        Of the voxels within the mask, with `converged` false when something still moved in the last round.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import grid_csaps_altmin
    >>> steps = np.add.outer(np.arange(20), np.arange(20)) // 3 % 2
    >>> image = np.exp(np.linspace(0, 1, 20)) * (1.0 + steps)
    >>> d = grid_csaps_altmin(image, 2, p=1e-4)
    >>> bool(np.all(d.labels == steps.ravel())), d.converged
    (True, True)
    """
    from sklearn.cluster import KMeans

    array = np.asarray(image)
    inside = whole(array.shape) if mask is None else np.asarray(mask)
    values = voxels(array, inside)
    inside = inside[box_of(inside)]  # beyond it there is nothing to smooth
    data = logs(values) if multiplicative else values
    field = np.zeros(inside.shape)
    if start == "smooth":
        field[inside] = data[:, 0] - data.mean()
        field = grid_csaps(field, p, spacing=spacing)
    elif start != "kmeans":
        raise ValueError(f"Unknown start {start!r}: choose smooth or kmeans.")
    rest = data - field[inside][:, None]
    labels, centers, _ = kmeans_sklearn(rest, n_levels, random_state=random_state)
    converged, rounds = False, 0
    while not converged and rounds < max_iter:
        rounds += 1
        residual = field.copy()
        residual[inside] = (data - centers[labels])[:, 0]
        smoothed = grid_csaps(residual, p, spacing=spacing)
        rest = data - smoothed[inside][:, None]
        lloyd = KMeans(n_levels, init=centers, n_init=1).fit(rest)
        moved = float(np.abs(smoothed - field)[inside].max())
        converged = bool(np.array_equal(lloyd.labels_, labels)) and moved < tolerance
        field, labels, centers = smoothed, lloyd.labels_.astype(np.intp), lloyd.cluster_centers_
    if not multiplicative:
        return in_our_gauge(
            values[:, 0], labels, field[inside], levels=centers[:, 0], converged=converged, n_iter=rounds
        )
    return in_units_of_the_image(
        values, labels, field[inside], flat=True, n_levels=n_levels, converged=converged, n_iter=rounds
    )
