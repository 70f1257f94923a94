"""A fitted signal, or scattered points, as its quality is judged on."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from stepsmooth.estimators.result import SmoothPart
from stepsmooth.model.arrays import Anything, Floats, Ints

# The length over which f varies is read off the pairs of at most so many points, sorted into so many distances.
N_PAIRED, N_DISTANCES = 300, 60


@dataclass(frozen=True)
class Points:
    """The observations that had a say in the fit of a `StepSmooth`, in the order of its smooth part.

    Attributes
    ----------
    X : (n, d) array
    Y : (n, p) array
    weights : (n,) array
    smooth : (n, 1) or (n, p) array
    labels : (n,) array of ints
    margin : (n,) array
        By how much the likeliest label beats the second, in probability.
    levels : (M, p) array
    part : SmoothPart
        What f was made of.
    """

    X: Floats
    Y: Floats
    weights: Floats
    smooth: Floats
    labels: Ints
    margin: Floats
    levels: Floats
    part: SmoothPart

    @classmethod
    def of(cls, m: Anything) -> "Points":
        """Return the observations of a fitted `StepSmooth`."""
        X, Y = m._data
        n = len(Y)
        order = np.arange(n) if m._columns is None else np.flatnonzero(m._columns)
        if isinstance(m.kernel, str) and m.kernel == "precomputed":
            X = _places(X)
        if "label_prior" in m.selection_:  # the joint solver works along x
            order = order[np.argsort(X[order, 0], kind="stable")]
        top = np.sort(m.probabilities_[order], axis=1)
        return cls(
            X=X[order],
            Y=Y[order],
            weights=np.asarray(m._part.smoother.weights, dtype=np.float64),
            smooth=np.asarray(m.smooth_).reshape(n, -1)[order],
            labels=m.labels_[order],
            margin=top[:, -1] - top[:, -2] if top.shape[1] > 1 else np.ones(len(order)),
            levels=np.asarray(m.levels_, dtype=np.float64).reshape(m.n_levels_, -1),
            part=m._part,
        )


def _places(K: Floats) -> Floats:
    """Return points whose distances are about those of the kernel metric: its first principal coordinates."""
    centred = K - K.mean(axis=0)
    values, vectors = np.linalg.eigh((centred.T - centred.T.mean(axis=0)).T)
    return np.asarray(vectors[:, -3:] * np.sqrt(np.maximum(values[-3:], 0.0)))


def points_in_reach(X: Floats, smooth: Floats) -> float:
    """Return how many points lie, on average, so close to a point that f is still much the same there.

    That is within half the distance at which the correlation of f with itself falls to one half.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 600)[:, None]
    >>> bool(45 < points_in_reach(x, np.sin(4 * np.pi * x)) < 60)  # about a sixth of a period of 300
    True
    """
    few = np.linspace(0, len(X) - 1, min(N_PAIRED, len(X))).astype(np.int64)
    few = few[np.argsort(X[few, 0], kind="stable")]
    places, f = X[few], smooth[few] - smooth[few].mean(axis=0)
    i, j = np.triu_indices(len(few), 1)
    distance = np.sqrt(np.sum((places[i] - places[j]) ** 2, axis=1))
    product = np.sum(f[i] * f[j], axis=1) / max(float(np.mean(np.sum(f**2, axis=1))), 1e-300)
    farthest = float(distance.max())
    if farthest == 0.0:
        return float(len(X))
    # Halfway across, few pairs are left, and every f has come back to itself.
    bins = np.linspace(0.0, farthest / 2.0, N_DISTANCES + 1)
    found = np.digitize(distance, bins) - 1
    pairs = np.bincount(found, minlength=N_DISTANCES + 1)[:N_DISTANCES]
    total = np.bincount(found, product, minlength=N_DISTANCES + 1)[:N_DISTANCES]
    low = np.flatnonzero((pairs > 0) & (total < 0.5 * pairs))
    reach = float(bins[low[0] + 1] if len(low) else bins[-1])
    inside = cKDTree(X).query_ball_point(places, reach / 2.0, return_length=True)
    return float(np.mean(inside))
