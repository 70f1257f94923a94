"""The Bayes classifier of single voxels, for images under a field and Rician noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import i0e

from .arguments import Ints, columns, distributions


def bayes_voxels(
    values: ArrayLike,
    smooth: ArrayLike,
    levels: ArrayLike,
    noise: float,
    proportions: ArrayLike | None = None,
    *,
    rician: bool = True,
) -> Ints:
    """Return the most probable label of each voxel, given all but the labels.

    It knows the field, the levels and the noise of ``values = exp(smooth) * levels[k] + noise`` and looks at one
    voxel at a time: the ceiling for any method without a prior on neighbours. Ties go to the lower label.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, p)
        Intensities of the voxels in question.
    smooth : array-like of shape (n,)
        The true log field there.
    levels : array-like of shape (M,) or (M, p)
        The true levels; 0 is air.
    noise : float
        Standard deviation of the noise; 0 means that the nearest level is certain.
    proportions : array-like of shape (M,), optional
        Probability of each label; uniform by default.
    rician : bool, default True
        Whether the values are magnitudes of complex noise; otherwise the noise is Gaussian.

    Returns
    -------
    ndarray of shape (n,), int64
        The labels.

    See Also
    --------
    bayes_oracle : The same for additive smooth parts.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.datasets import make_head_phantom
    >>> from stepsmooth.metrics import bayes_voxels, ordered_accuracy
    >>> head = make_head_phantom((90, 108), classes=["CSF", "GM", "WM"], noise=9.0, random_state=0)
    >>> inside = head.mask
    >>> found = bayes_voxels(head.image[inside], head.smooth[inside], head.levels, head.noise)
    >>> 0.85 < ordered_accuracy(head.labels[inside], found) < 0.99
    True
    """
    observed, mu = columns("values", values), columns("levels", levels)
    field = np.exp(columns("smooth", smooth))
    if observed.shape[1] != mu.shape[1]:
        raise ValueError(
            f"values and levels must have the same number of channels; found {observed.shape[1]} and {mu.shape[1]}."
        )
    if field.shape != (len(observed), 1):
        raise ValueError(f"smooth must hold one value per voxel, ({len(observed)},); found shape {np.shape(smooth)}.")
    if not (np.isfinite(noise) and noise >= 0):
        raise ValueError(f"noise must be a finite number of at least 0; found {noise!r}.")
    share = distributions("proportions", proportions, (len(mu),))
    best = np.full(len(observed), -np.inf)
    labels = np.zeros(len(observed), dtype=np.int64)
    with np.errstate(divide="ignore"):
        prior = np.log(share) if noise else np.zeros(len(mu))
    variance = noise**2 or 1.0
    for k in range(len(mu)):  # one class at a time, so that memory stays at n p
        clean = field * mu[k]
        score = prior[k] - ((observed - clean) ** 2).sum(axis=1) / (2 * variance)
        if rician and noise:
            # log I0(t) - t, which turns the Gaussian exponent into the Rician one; what y alone decides is left out
            score += np.log(i0e(observed * clean / variance)).sum(axis=1)
        better = score > best
        best[better] = score[better]
        labels[better] = k
    return labels
