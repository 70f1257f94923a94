"""Label probabilities against what happens: of the labels given 80 %, 80 % should be right."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Floats, columns


def calibration_error(labels_true: ArrayLike, probabilities: ArrayLike, *, n_bins: int = 10) -> float:
    """Return the expected calibration error of label probabilities.

    Points are sorted into bins by the probability of their most probable label. Within a bin, the mean of these
    probabilities is compared with the share of points where that label is the true one; the error is the mean of
    the absolute differences, each bin weighted by its points. Chance alone
    gives a bin of n points up to about ``0.4 / sqrt(n)``.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Labels numbered as the columns of `probabilities`: by ascending level.
    probabilities : array-like of shape (n, M)
        The probability of each label, a row for each point. Ties go to the lower label.
    n_bins : int, default=10
        Number of bins, equally wide, of [0, 1].

    Returns
    -------
    float
        Between 0, which is calibrated, and 1.

    References
    ----------
    Naeini, Cooper & Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning, AAAI.

    Examples
    --------
    >>> from stepsmooth.metrics import calibration_error
    >>> calibration_error([0, 0, 0, 1], [[0.75, 0.25]] * 4)
    0.0
    >>> calibration_error([0, 0, 1, 1], [[0.75, 0.25]] * 4)
    0.25
    """
    return pooled_error(calibration_bins(labels_true, probabilities, n_bins))


def calibration_bins(labels_true: ArrayLike, probabilities: ArrayLike, n_bins: int = 10) -> Floats:
    """Return, for each bin, the points, the sum of their largest probabilities and the hits, (3, n_bins).

    Bins of several datasets add up to the bins of all their points.

    Examples
    --------
    >>> calibration_bins([0, 1, 1], [[0.75, 0.25], [0.75, 0.25], [0.0, 1.0]], n_bins=2)
    array([[0. , 3. ],
           [0. , 2.5],
           [0. , 2. ]])
    """
    true, share = np.asarray(labels_true), columns("probabilities", probabilities)
    if true.shape != (len(share),):
        raise ValueError(
            "labels_true must hold one label per row of probabilities; "
            f"found shapes {true.shape} and {np.shape(probabilities)}."
        )
    total = share.sum(axis=1)
    wrong = (share < 0).any(axis=1) | (np.abs(total - 1) > 1e-6)
    if np.any(wrong):
        raise ValueError(f"probabilities must be at least 0 and sum to 1; found the row {share[wrong][0].tolist()}.")
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1; found {n_bins}.")
    largest, hit = share.max(axis=1), share.argmax(axis=1) == true
    at = np.minimum((largest * n_bins).astype(np.int64), n_bins - 1)
    return np.stack([np.bincount(at, weights, n_bins) for weights in (np.ones(len(at)), largest, hit)])


def pooled_error(bins: Floats) -> float:
    """Return the expected calibration error of points counted in bins.

    Examples
    --------
    >>> pooled_error(np.array([[0.0, 4.0], [0.0, 3.0], [0.0, 2.0]]))
    0.25
    """
    points, probability, hits = bins
    return float(np.abs(hits - probability).sum() / points.sum())
