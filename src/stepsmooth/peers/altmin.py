"""The paper's alternation with others' parts: csaps for the smooth part, scikit-learn for the levels."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .decomposition import PeerDecomposition, in_our_gauge
from .kmeans import kmeans_sklearn
from .splines import spline_csaps


def csaps_altmin(
    x: ArrayLike,
    y: ArrayLike,
    n_levels: int,
    *,
    tau: float | None = None,
    start: Literal["smooth", "kmeans"] = "smooth",
    max_iter: int = 100,
    random_state: int = 0,
) -> PeerDecomposition:
    """Alternate csaps and k-means until the labels stand still.

    Parameters
    ----------
    x, y : array_like of shape (n,)
        Points and observations.
    n_levels : int
        Number of levels.
    tau : float or None, default None
        Smoothing parameter as in :func:`spline_csaps`; None takes csaps' own default.
    start : {"smooth", "kmeans"}, default "smooth"
        Which half-step comes first.
    max_iter : int, default 100
        Rounds at most.
    random_state : int, default 0
        Seed of the first k-means; later ones start from the levels at hand.

    Returns
    -------
    PeerDecomposition
        With `converged` false when labels still changed in the last round.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.peers import csaps_altmin
    >>> x = np.linspace(0.0, 1.0, 40)
    >>> steps = np.arange(40) % 2
    >>> d = csaps_altmin(x, 3.0 * x + steps, 2, tau=1e-3)
    >>> bool(np.all(d.labels == steps)), d.converged
    (True, True)
    """
    from sklearn.cluster import KMeans

    observed = np.asarray(y, dtype=np.float64)
    smooth = np.zeros_like(observed)
    if start == "smooth":
        smooth = spline_csaps(x, observed - observed.mean(), tau)
    elif start != "kmeans":
        raise ValueError(f"Unknown start {start!r}: choose smooth or kmeans.")
    labels, centers, _ = kmeans_sklearn(observed - smooth, n_levels, random_state=random_state)
    converged = False
    rounds = 0
    while not converged and rounds < max_iter:
        rounds += 1
        smooth = spline_csaps(x, observed - centers[labels, 0], tau)
        lloyd = KMeans(n_levels, init=centers, n_init=1).fit((observed - smooth)[:, None])
        converged = bool(np.array_equal(lloyd.labels_, labels))
        labels, centers = lloyd.labels_.astype(np.intp), lloyd.cluster_centers_
    return in_our_gauge(y, labels, smooth, levels=centers[:, 0], converged=converged, n_iter=rounds)
