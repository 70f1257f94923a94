"""Levels and smooth part against the truth, up to the constant that no data can tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from .arguments import Floats, columns, contingency, frequencies, indices, label_pair


def level_deviation(
    levels_true: ArrayLike,
    levels: ArrayLike,
    smooth_true: ArrayLike | None = None,
    smooth: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    *,
    labels_true: ArrayLike | None = None,
    labels: ArrayLike | None = None,
) -> float:
    """Return the largest deviation of a level, both smooth parts made zero-mean.

    The constant that the smooth part leaves open moves into the levels: ``levels + mean(smooth)`` is compared
    with its true counterpart, in the 2-norm over channels.

    Parameters
    ----------
    levels_true, levels : array-like of shape (M,) or (M, p)
        The levels. The k-th is compared with the k-th, which for ascending levels matches them by rank.
    smooth_true, smooth : array-like of shape (n,) or (n, p), optional
        The smooth parts; one that is not given is taken to be zero-mean already.
    weights : array-like of shape (n,), optional
        Frequencies of the observations, for the means.
    labels_true, labels : array-like of shape (n,), optional
        Labels 0 to M - 1. Given together, levels are compared as the labels match best, the way
        :func:`label_accuracy` does. Worth it for vector levels: two that nearly tie in the first channel
        may come out in either order.

    Returns
    -------
    float
        The deviation; infinite when the numbers of levels differ, since some level is then missed.

    Examples
    --------
    >>> from stepsmooth.metrics import level_deviation
    >>> level_deviation([0.0, 1.0], [5.0, 6.5], smooth_true=[1.0, 3.0], smooth=[-4.0, -2.0])
    0.5
    >>> level_deviation([0.0, 1.0], [0.0, 0.5, 1.0])
    inf
    """
    if weights is not None and smooth_true is None and smooth is None:
        raise ValueError("weights need a smooth part to be averaged over; found neither smooth_true nor smooth.")
    true = _zero_mean_levels("levels_true", levels_true, "smooth_true", smooth_true, weights)
    found = _zero_mean_levels("levels", levels, "smooth", smooth, weights)
    if true.shape[1] != found.shape[1]:
        raise ValueError(
            f"levels_true and levels must have the same number of channels; found {true.shape[1]} and {found.shape[1]}."
        )
    if smooth_true is not None and smooth is not None and len(np.asarray(smooth_true)) != len(np.asarray(smooth)):
        raise ValueError(
            "smooth_true and smooth must hold the same points; "
            f"found shapes {np.shape(smooth_true)} and {np.shape(smooth)}."
        )
    if (labels_true is None) != (labels is None):
        raise ValueError("labels_true and labels must be given together; found one without the other.")
    if len(true) != len(found):
        return float("inf")
    if labels_true is not None and labels is not None:
        pair = label_pair(labels_true, labels)
        codes_true = indices("labels_true", pair[0], len(true))
        counts = contingency(codes_true, indices("labels", pair[1], len(true)), len(true), len(true))
        found = found[linear_sum_assignment(counts, maximize=True)[1]]
    return float(np.linalg.norm(true - found, axis=1).max())


def field_rmse(smooth_true: ArrayLike, smooth: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Return the root mean squared error of the smooth part, up to a constant.

    Parameters
    ----------
    smooth_true, smooth : array-like of shape (n,) or (n, p)
        The smooth parts at the same points, per channel or shared; one shared by all channels is compared
        with each channel. Each channel has its own constant. For an image, pass the field inside the mask.
    weights : array-like of shape (n,), optional
        Frequencies of the observations.

    Returns
    -------
    float
        The error, averaged over channels before the root is taken.

    Examples
    --------
    >>> from stepsmooth.metrics import field_rmse
    >>> field_rmse([0.0, 1.0, 2.0], [7.0, 8.0, 9.0])
    0.0
    >>> field_rmse([0.0, 0.0], [1.0, -1.0])
    1.0
    """
    true, found = columns("smooth_true", smooth_true), columns("smooth", smooth)
    if len(true) != len(found) or (true.shape[1] != found.shape[1] and 1 not in (true.shape[1], found.shape[1])):
        raise ValueError(
            "smooth_true and smooth must hold the same points and channels; "
            f"found shapes {np.shape(smooth_true)} and {np.shape(smooth)}."
        )
    error = found - true
    weight = frequencies(weights, len(error))
    constant = np.average(error, axis=0, weights=weight)
    return float(np.sqrt(np.average((error - constant) ** 2, axis=0, weights=weight).mean()))


def _zero_mean_levels(
    name: str, levels: ArrayLike, smooth_name: str, smooth: ArrayLike | None, weights: ArrayLike | None
) -> Floats:
    mu = columns(name, levels)
    if smooth is None:
        return mu
    f = columns(smooth_name, smooth)
    if f.shape[1] not in (1, mu.shape[1]):
        raise ValueError(
            f"{smooth_name} must have one column, or one for each of the {mu.shape[1]} channels of {name}; "
            f"found {f.shape[1]}."
        )
    return mu + np.average(f, axis=0, weights=frequencies(weights, len(f)))
