"""What the metrics accept: each check returns a plain array, or refuses with one sentence."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = NDArray[np.generic]


def label_pair(labels_true: ArrayLike, labels: ArrayLike) -> tuple[Labels, Labels]:
    """Return both label arrays, flattened, if they cover the same points.

    Examples
    --------
    >>> label_pair([0, 1], [0.0, float("nan")])
    Traceback (most recent call last):
    ...
    ValueError: labels must hold a class at every point; found NaN.
    """
    true, found = np.asarray(labels_true), np.asarray(labels)
    if true.shape != found.shape or true.size == 0:
        raise ValueError(
            f"labels_true and labels must have the same shape and not be empty; found {true.shape} and {found.shape}."
        )
    for name, array in (("labels_true", true), ("labels", found)):
        if np.any(array != array):  # true of NaN and NaT alone, in arrays of any kind
            raise ValueError(f"{name} must hold a class at every point; found NaN.")
    return true.ravel(), found.ravel()


def indices(name: str, labels: Labels, n_levels: int) -> Ints:
    """Return labels as indices, if they point into `n_levels` levels.

    Examples
    --------
    >>> indices("labels", np.array([0, 3]), 3)
    Traceback (most recent call last):
    ...
    ValueError: labels must be whole numbers from 0 to 2; found 3.
    """
    codes = labels.astype(np.int64)
    wrong = (codes != labels) | (codes < 0) | (codes >= n_levels)
    if np.any(wrong):
        raise ValueError(f"{name} must be whole numbers from 0 to {n_levels - 1}; found {labels[wrong][0].item()!r}.")
    return codes


def contingency(true: Ints, found: Ints, n_true: int, n_found: int) -> Ints:
    """Count the points of each pair of a true and a found label.

    Examples
    --------
    >>> contingency(np.array([0, 0, 1]), np.array([2, 2, 0]), 2, 3)
    array([[0, 0, 2],
           [1, 0, 0]])
    """
    return np.bincount(true * n_found + found, minlength=n_true * n_found).reshape(n_true, n_found)


def columns(name: str, values: ArrayLike) -> Floats:
    """Return values as a finite (n, p) array, scalar data as one column.

    Examples
    --------
    >>> columns("levels", [1, 2])
    array([[1.],
           [2.]])
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(f"{name} must be one- or two-dimensional and not empty; found shape {array.shape}.")
    wrong = int(np.sum(~np.isfinite(array)))
    if wrong:
        raise ValueError(f"{name} must be finite; found {wrong} of {array.size} values NaN or infinite.")
    return array if array.ndim == 2 else array[:, None]


def frequencies(weights: ArrayLike | None, n: int) -> Floats:
    """Return the weights of n points, 1 each when none are given.

    Examples
    --------
    >>> frequencies(None, 2)
    array([1., 1.])
    """
    if weights is None:
        return np.ones(n)
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n,):
        raise ValueError(f"weights must hold one number per point, ({n},); found shape {array.shape}.")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if np.any(wrong) or not np.any(array):
        found = array[wrong][0] if np.any(wrong) else "only zeros"
        raise ValueError(f"weights must be finite, at least 0 and not all 0; found {found}.")
    return array


def variances(noise_variance: ArrayLike, n_levels: int, n_channels: int, *, vector: bool) -> Floats:
    """Return the variance of each class and channel, (M, p).

    One axis means classes for scalar data and channels for vector data.

    Examples
    --------
    >>> variances([1, 4], 3, 2, vector=True)
    array([[1., 4.],
           [1., 4.],
           [1., 4.]])
    """
    array = np.asarray(noise_variance, dtype=np.float64)
    shapes = [(n_channels,), (n_levels, n_channels)] if vector else [(n_levels,)]
    if array.ndim > 0 and array.shape not in shapes:
        accepted = " or ".join(str(shape) for shape in shapes)
        raise ValueError(f"noise_variance must be one number or of shape {accepted}; found shape {array.shape}.")
    # A class of zero variance among noisy ones has an infinite density: neither limit is meant.
    positive = bool(np.all(np.isfinite(array) & (array > 0)))
    if not positive and not np.all(array == 0):
        raise ValueError(f"noise_variance must be finite and positive, or 0 everywhere; found {array.tolist()}.")
    return np.broadcast_to(array if vector or array.ndim == 0 else array[:, None], (n_levels, n_channels))


def distributions(name: str, values: ArrayLike | None, shape: tuple[int, ...]) -> Floats:
    """Return probabilities along the last axis, uniform when none are given.

    Examples
    --------
    >>> distributions("proportions", None, (4,))
    array([0.25, 0.25, 0.25, 0.25])
    """
    if values is None:
        return np.full(shape, 1 / shape[-1])
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}; found {array.shape}.")
    # Written as "not all good", so that NaN is refused too.
    if not (np.all(array >= 0) and np.all(np.abs(array.sum(axis=-1) - 1) < 1e-6)):
        raise ValueError(f"{name} must be probabilities that sum to 1; found {array.tolist()}.")
    return array
