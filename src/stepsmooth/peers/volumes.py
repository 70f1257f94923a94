"""Images and volumes: clusters of the intensities within a mask, corrected for a field or not.

Every answer is a :class:`PeerDecomposition` of the voxels within the mask, in C order: levels in the units of
the corrected image, and the log field as the smooth part, with mean zero.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .decomposition import FloatArray, IntArray, PeerDecomposition, in_our_gauge

_ENOUGH = 200_000  # voxels to fit clusters to: more change no digit that matters


def voxels(image: ArrayLike, mask: ArrayLike | None = None, channel_axis: int | None = None) -> FloatArray:
    """Give the intensities within a mask as a matrix, one row per voxel.

    Parameters
    ----------
    image : array_like
        The image, of any number of dimensions.
    mask : array_like of bool, optional
        Where to look, of the shape of the grid; everywhere by default.
    channel_axis : int or None, default None
        The axis of the channels, if there are several.

    Returns
    -------
    ndarray of shape (n, p)
        Intensities.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import voxels
    >>> voxels([[1.0, 2.0], [3.0, 4.0]], [[True, False], [True, True]]).ravel()
    array([1., 3., 4.])
    """
    array = np.asarray(image)
    stack = array[..., None] if channel_axis is None else np.moveaxis(array, channel_axis, -1)
    inside = whole(stack.shape[:-1]) if mask is None else np.asarray(mask)
    if inside.dtype != np.bool_ or inside.shape != stack.shape[:-1] or not inside.any():
        raise ValueError(
            f"mask must be an array of booleans of the grid's shape {stack.shape[:-1]} that is somewhere true; "
            f"found dtype {inside.dtype}, shape {inside.shape}, {int(np.count_nonzero(inside))} true."
        )
    return stack[inside].astype(np.float64)


def whole(shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Give the mask that leaves nothing out.

    Parameters
    ----------
    shape : tuple of int
        The grid.

    Returns
    -------
    ndarray of bool
        True everywhere.

    Examples
    --------
    >>> from stepsmooth.peers.volumes import whole
    >>> whole((2,))
    array([ True,  True])
    """
    return np.ones(shape, dtype=bool)


def box_of(mask: NDArray[np.bool_]) -> tuple[slice, ...]:
    """Give the smallest box that holds a mask.

    Parameters
    ----------
    mask : ndarray of bool
        Somewhere true.

    Returns
    -------
    tuple of slice
        One per axis.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers.volumes import box_of
    >>> box_of(np.array([False, True, True, False]))
    (slice(1, 3, None),)
    """
    box = []
    for axis in range(mask.ndim):
        held = np.flatnonzero(mask.any(axis=tuple(a for a in range(mask.ndim) if a != axis)))
        box.append(slice(int(held[0]), int(held[-1]) + 1))
    return tuple(box)


def logs(values: FloatArray) -> FloatArray:
    """Take logarithms, values of zero and below standing at half the smallest positive one.

    Parameters
    ----------
    values : ndarray
        Intensities, some of them positive.

    Returns
    -------
    ndarray
        Their logarithms.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers.volumes import logs
    >>> np.exp(logs(np.array([0.0, 2.0, 3.0])))
    array([1., 2., 3.])
    """
    positive = values[values > 0]
    if positive.size == 0:
        raise ValueError("image must be positive somewhere within the mask; found no value above 0.")
    return np.log(np.where(values > 0, values, positive.min() / 2))


def cluster_volume(
    image: ArrayLike,
    n_levels: int,
    *,
    mask: ArrayLike | None = None,
    channel_axis: int | None = None,
    smooth: ArrayLike | None = None,
    method: Literal["kmeans", "mixture"] = "kmeans",
    domain: Literal["raw", "log"] = "raw",
    n_init: int = 5,
    random_state: int = 0,
) -> PeerDecomposition:
    """Cluster the intensities within a mask, after division by a field where one is given.

    Clusters are fitted to at most 200,000 voxels, drawn at random, and then given to all.

    Parameters
    ----------
    image : array_like
        The image.
    n_levels : int
        Number of clusters.
    mask, channel_axis
        As in :func:`voxels`.
    smooth : array_like, optional
        The log field on the grid, from :func:`n4_field` or :func:`lapgm_field`; no field by default.
    method : {"kmeans", "mixture"}, default "kmeans"
        Lloyd's k-means from k-means++ starts, or a Gaussian mixture with a covariance per component.
    domain : {"raw", "log"}, default "raw"
        Whether to cluster intensities or their logarithms.
    n_init : int, default 5
        Starts; the best is kept.
    random_state : int, default 0
        Seed of the starts and of the sample.

    Returns
    -------
    PeerDecomposition
        Of the voxels within the mask.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import cluster_volume
    >>> cluster_volume([[1.0, 1.1, 5.0], [0.0, 5.1, 1.0]], 2, mask=[[True] * 3, [False, True, True]]).labels
    array([0, 0, 1, 1, 0])
    """
    if domain not in ("raw", "log"):
        raise ValueError(f"Unknown domain {domain!r}: choose raw or log.")
    values = voxels(image, mask, channel_axis)
    field = np.zeros(len(values)) if smooth is None else voxels(smooth, mask)[:, 0]
    corrected = values * np.exp(-field)[:, None]
    data = corrected if domain == "raw" else logs(corrected)
    labels, converged, n_iter = _clusters(data, n_levels, method, n_init, random_state)
    return in_units_of_the_image(
        values, labels, field, flat=channel_axis is None, n_levels=n_levels, converged=converged, n_iter=n_iter
    )


def in_units_of_the_image(
    values: FloatArray,
    labels: IntArray,
    field: FloatArray,
    *,
    flat: bool,
    n_levels: int,
    converged: bool = True,
    n_iter: int = 1,
) -> PeerDecomposition:
    """Bring labels and a log field into our order and gauge: levels are means of the corrected image.

    Parameters
    ----------
    values : ndarray of shape (n, p)
        Intensities within the mask.
    labels : ndarray of shape (n,)
        Labels 0 to M - 1 in any order.
    field : ndarray of shape (n,)
        The log field in any gauge.
    flat : bool
        Whether levels are numbers rather than vectors.
    n_levels : int
        M. A label that no voxel carries is left out.
    converged, n_iter
        Passed on.

    Returns
    -------
    PeerDecomposition
        The same decomposition in our conventions.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers.volumes import in_units_of_the_image
    >>> two = np.array([[4.0], [2.0]])
    >>> in_units_of_the_image(two, np.array([0, 1]), np.zeros(2), flat=True, n_levels=2).levels
    array([2., 4.])
    """
    centred = field - field.mean()
    corrected = values * np.exp(-centred)[:, None]
    counts = np.bincount(labels, minlength=n_levels)
    sums = np.stack([np.bincount(labels, column, minlength=n_levels) for column in corrected.T], axis=1)
    kept = np.flatnonzero(counts)
    rank = np.full(n_levels, -1, dtype=np.intp)
    rank[kept] = np.arange(len(kept))
    levels = sums[kept] / counts[kept, None]
    ordered = in_our_gauge(
        corrected[:, 0] if flat else corrected,
        rank[labels],
        levels=levels[:, 0] if flat else levels,
        converged=converged,
        n_iter=n_iter,
    )
    return replace(ordered, smooth=centred)


def _clusters(
    data: FloatArray, n_levels: int, method: str, n_init: int, random_state: int
) -> tuple[IntArray, bool, int]:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    rng = np.random.default_rng(random_state)
    sample = data if len(data) <= _ENOUGH else data[rng.choice(len(data), _ENOUGH, replace=False)]
    if method == "kmeans":
        model = KMeans(n_levels, n_init=n_init, random_state=random_state)
    elif method == "mixture":
        model = GaussianMixture(n_levels, n_init=n_init, max_iter=300, random_state=random_state)
    else:
        raise ValueError(f"Unknown method {method!r}: choose kmeans or mixture.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # kept as `converged`
        model.fit(sample)
    return model.predict(data).astype(np.intp), bool(getattr(model, "converged_", True)), int(model.n_iter_)
