"""The certificate of a fit: could its labels be other than they are."""

from typing import Any

import numpy as np

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.topology import Certificate, certify, level_gap

# Noise below this share of the least gap turns no label, and counts as part of f.
FAINT = 0.05


def certificate_of(m: Any, X: Floats, y: Floats, *, c: float = 2.0, confidence: float = 0.95) -> Certificate:
    """Return the certificate of a fitted `StepSmooth` on the data that it was fitted to.

    Faint noise (a standard deviation below a twentieth of the least gap of levels) counts as part of f, and the verdict
    is about every label. With more, it is about regions, and labels that noise has turned are counted apart.

    Parameters
    ----------
    m : StepSmooth
        Fitted.
    X : (n, d) array
        The points; the kernel matrix if kernel="precomputed".
    y : (n,) or (n, p) array
        The observations, NaN where they are missing; points without a label do not count.
    c, confidence : float
        As in :func:`stepsmooth.topology.certify`.

    Examples
    --------
    >>> from stepsmooth import StepSmooth
    >>> from stepsmooth.datasets import make_sine_steps
    >>> data = make_sine_steps(400, 3, 3.0, random_state=0)
    >>> m = StepSmooth(n_levels=3).fit(data.X, data.y)
    >>> certificate_of(m, data.X, data.y).verdict
    'identified'
    """
    labelled = m.labels_ >= 0
    labels, Y = m.labels_[labelled], np.asarray(y, dtype=np.float64)[labelled].reshape(int(labelled.sum()), -1)
    check_every_level(labels, len(m.levels_))
    precomputed = m.__sklearn_tags__().input_tags.pairwise
    points: Anything = _distances(X[np.ix_(labelled, labelled)]) if precomputed else X[labelled]
    metric = "precomputed" if precomputed else "euclidean"
    gap = level_gap(m.levels_)
    if float(np.sqrt(np.max(m.noise_variance_))) <= FAINT * gap:
        return certify(points, labels, m.levels_, y=Y, c=c, metric=metric)
    if precomputed:
        raise ValueError("certificate() with noise needs points, but kernel='precomputed' knows only kernel values.")
    smooth = m.smooth_[labelled]
    variance = np.asarray(m.noise_variance_, dtype=np.float64)
    if variance.shape == (len(m.levels_),):  # one for each level, alike in all channels
        variance = np.repeat(variance[:, None], Y.shape[1], axis=1)
    return certify(points, labels, m.levels_, smooth=smooth, y=Y, c=c, noise_variance=variance, confidence=confidence)


def check_every_level(labels: Ints, n_levels: int) -> None:
    """Refuse a fit in which some level has no points."""
    absent = np.flatnonzero(np.bincount(labels, minlength=n_levels) == 0)
    if n_levels > 1 and len(absent):
        raise ValueError(
            f"certificate() needs points of every level, but the fit gave none the label {absent[0]}; ask for fewer "
            "levels, or for a stiffer f."
        )


def _distances(K: Floats) -> Floats:
    """Return the kernel metric of a kernel matrix."""
    diagonal = np.diag(K)
    distances = np.sqrt(np.maximum(diagonal[:, None] - K - K.T + diagonal[None, :], 0.0))
    np.fill_diagonal(distances, 0.0)
    return np.asarray(distances)
