"""What every peer returns: labels, levels and a smooth part, in the same order and gauge as ours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class PeerDecomposition:
    """A peer's answer to ``y = smooth + levels[labels] + noise``.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        0..M-1, in ascending order of the (first channel of the) levels.
    levels : ndarray of shape (M,) or (M, p)
        One level per label.
    smooth : ndarray of shape (n,)
        The smooth part, with mean zero over the points; zeros for a peer that has none.
    probabilities : ndarray of shape (n, M) or None
        Label probabilities, where the peer has them.
    converged : bool
        Whether the peer itself reports convergence.
    n_iter : int
        Iterations of the peer's outer loop.
    """

    labels: IntArray
    levels: FloatArray
    smooth: FloatArray
    probabilities: FloatArray | None = None
    converged: bool = True
    n_iter: int = 1


def channels(y: ArrayLike) -> FloatArray:
    """Give y as a matrix of shape (n, p), a signal being one channel.

    Parameters
    ----------
    y : array_like of shape (n,) or (n, p)
        Observations.

    Returns
    -------
    ndarray of shape (n, p)
        The same numbers.

    Examples
    --------
    >>> from stepsmooth.peers import channels
    >>> channels([1.0, 2.0]).shape
    (2, 1)
    """
    matrix = np.asarray(y, dtype=np.float64)
    return matrix[:, None] if matrix.ndim == 1 else matrix


def in_our_gauge(
    y: ArrayLike,
    labels: ArrayLike,
    smooth: ArrayLike | None = None,
    *,
    levels: ArrayLike | None = None,
    probabilities: FloatArray | None = None,
    converged: bool = True,
    n_iter: int = 1,
) -> PeerDecomposition:
    """Bring a peer's labels and smooth part into ascending level order and zero mean.

    Parameters
    ----------
    y : array_like of shape (n,) or (n, p)
        Observations.
    labels : array_like of shape (n,)
        Labels in any order. Labels that no point carries are dropped unless `levels` names them.
    smooth : array_like of shape (n,), optional
        The smooth part in any gauge; zero when omitted.
    levels : array_like of shape (M,) or (M, p), optional
        Levels in the gauge of `smooth`; means of ``y - smooth`` by label when omitted.
    probabilities : ndarray of shape (n, M), optional
        Label probabilities, columns in the order of `labels`.
    converged, n_iter
        Passed on.

    Returns
    -------
    PeerDecomposition
        The same decomposition in our conventions.

    Examples
    --------
    >>> from stepsmooth.peers import in_our_gauge
    >>> d = in_our_gauge([5.0, 1.0, 5.0, 1.0], [0, 1, 0, 1], [2.0, 2.0, 2.0, 2.0])
    >>> d.labels, d.levels, d.smooth
    (array([1, 0, 1, 0]), array([1., 5.]), array([0., 0., 0., 0.]))
    """
    observed = channels(y)
    flat = np.asarray(y).ndim == 1
    given = np.asarray(labels, dtype=np.intp)
    field = np.zeros(len(observed)) if smooth is None else np.asarray(smooth, dtype=np.float64)
    if levels is None:
        kept, given = np.unique(given, return_inverse=True)
        means = np.stack([(observed - field[:, None])[given == k].mean(axis=0) for k in range(len(kept))])
        if probabilities is not None:
            probabilities = probabilities[:, kept]
    else:
        means = channels(levels)
    order = np.argsort(means[:, 0], kind="stable")
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    shift = field.mean()
    ordered = means[order] + shift
    return PeerDecomposition(
        labels=rank[given],
        levels=ordered[:, 0] if flat else ordered,
        smooth=field - shift,
        probabilities=None if probabilities is None else probabilities[:, order],
        converged=converged,
        n_iter=n_iter,
    )
