"""Labels against the true labels: up to the names of the classes, or in the order of the levels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from .arguments import columns, contingency, indices, label_pair


def label_accuracy(labels_true: ArrayLike, labels: ArrayLike) -> float:
    """Return the share of correct labels under the best one-to-one matching of classes (Hungarian).

    Parameters
    ----------
    labels_true, labels : array-like of equal shape
        Classes, of any kind that sorts. The names of the classes do not matter, and there may be more of
        them on one side: those left without a partner count as wrong. For an image, pass the labels inside
        the mask.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    ordered_accuracy : The order of the levels matters as well.

    Examples
    --------
    >>> from stepsmooth.metrics import label_accuracy
    >>> label_accuracy([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> label_accuracy([0, 0, 1, 1], [0, 1, 2, 2])
    0.75
    """
    true, found = label_pair(labels_true, labels)
    rows, true_codes = np.unique(true, return_inverse=True)
    columns, codes = np.unique(found, return_inverse=True)
    counts = contingency(true_codes.astype(np.int64), codes.astype(np.int64), len(rows), len(columns))
    return float(counts[linear_sum_assignment(counts, maximize=True)].sum() / true.size)


def ordered_accuracy(labels_true: ArrayLike, labels: ArrayLike, *, levels: ArrayLike | None = None) -> float:
    """Return the share of labels that are equal, label k being the k-th level from below on both sides.

    It is never above :func:`label_accuracy`. A method that finds the right classes but puts them in the
    wrong order, or splits a low class and merges two high ones, shows here.

    Parameters
    ----------
    labels_true, labels : array-like of equal shape
        Labels numbered by ascending level.
    levels : array-like of shape (M,) or (M, p), optional
        The levels that `labels` point to, if these are not numbered by ascending level (k-means, say):
        `labels` are renumbered by them first, by the first channel when there are several.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from stepsmooth.metrics import ordered_accuracy
    >>> ordered_accuracy([0, 0, 1, 1], [1, 1, 0, 0])
    0.0
    >>> ordered_accuracy([0, 0, 1, 1], [1, 1, 0, 0], levels=[5.0, -5.0])
    1.0
    """
    true, found = label_pair(labels_true, labels)
    if levels is not None:
        mu = columns("levels", levels)
        order = np.lexsort(mu.T[::-1])  # the last key counts first
        rank = np.empty(len(mu), dtype=np.int64)
        rank[order] = np.arange(len(mu))
        found = rank[indices("labels", found, len(mu))]
    return float(np.mean(true == found))
