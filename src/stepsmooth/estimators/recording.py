"""A fitted estimator together with its data, in the order of x: what events, diagnostics and their pictures read."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stepsmooth.estimators import parameters
from stepsmooth.model.arrays import Anything, Floats, Ints


@dataclass(frozen=True)
class Recording:
    """Samples along one axis with what the fit says of each; those that had no say in the fit are left out.

    Attributes
    ----------
    x : (n,) array
        Ascending.
    smooth : (n, p) array
    steps : (n, p) array
        y minus the smooth part.
    labels : (n,) array of ints
    probabilities : (n, M) array
    levels : (M, p) array
    levels_se : (M, p) array
    noise_sd : (M, p) array
    proportions : (M,) array
    transition : (M, M) array or None
        Of the Markov prior, if the fit has one.
    dof : float
        Effective degrees of freedom of one smooth part.
    sharing : int
        Channels that share one smooth part.
    vector : bool
        Whether y has a column for each channel, be it one.
    """

    x: Floats
    smooth: Floats
    steps: Floats
    labels: Ints
    probabilities: Floats
    levels: Floats
    levels_se: Floats
    noise_sd: Floats
    proportions: Floats
    transition: Floats | None
    dof: float
    sharing: int
    vector: bool

    def __len__(self) -> int:
        return len(self.x)

    @property
    def residuals(self) -> Floats:
        """What neither the smooth part nor the level explains, (n, p)."""
        return np.asarray(self.steps - self.levels[self.labels])

    @property
    def step(self) -> float:
        """The median step from one x to the next, repeated x aside; NaN if there is only one."""
        return median_step(self.x)


def median_step(x: Floats) -> float:
    """Return the median distance of neighbours that are not at the same place, NaN if there are none.

    Examples
    --------
    >>> median_step(np.array([0.0, 0.5, 0.5, 1.0, 9.0]))
    0.5
    """
    moves = np.diff(x)
    moves = moves[moves > 0.0]
    return float(np.median(moves)) if len(moves) else float("nan")


def read_recording(m: Anything, X: Anything, y: Anything, caller: str) -> Recording:
    """Put a fitted `StepSmooth` and the data it was fitted on into the order of x.

    Parameters
    ----------
    m : StepSmooth, fitted
    X : (n, 1) or (n,) array
    y : (n,) or (n, p) array
    caller : str
        Whom to name in a refusal, such as "events".

    Returns
    -------
    Recording

    Examples
    --------
    >>> from stepsmooth import decompose
    >>> x, y = np.array([2.0, 0.0, 1.0, 3.0]), np.array([5.0, 1.0, 1.0, 5.0])
    >>> recording = read_recording(decompose(y, x, tau=1e6, start="kmeans"), x, y, "events")
    >>> recording.x, recording.labels
    (array([0., 1., 2., 3.]), array([0, 0, 1, 1]))
    """
    check_is_fitted(m)
    if X is None and y is None and m.kernel != "precomputed":
        X, y = m._data
    if X is None or y is None:
        raise ValueError(f"X and y belong together: pass both, {caller}(m, X, y), or neither.")
    levels = np.asarray(m.levels_, dtype=np.float64)
    vector = levels.ndim == 2
    levels = levels.reshape(len(levels), -1)
    x, Y = _check_axis(m, X), _check_y(y, levels.shape[1])
    labels = np.asarray(m.labels_)
    if not len(x) == len(Y) == len(labels):
        raise ValueError(
            f"X has {len(x)} rows and y {len(Y)}, but the fit has {len(labels)}: pass the data it was fitted on."
        )
    smooth = np.asarray(m.smooth_).reshape(len(labels), -1)
    # A standard error of f is NaN exactly where y was dropped or had weight 0.
    used = (labels >= 0) & np.isfinite(np.asarray(m.smooth_se_).reshape(len(labels), -1)).all(axis=1)
    if not np.isfinite(Y[used]).all():
        raise ValueError("y must be finite where the fit has a label, but it is not: pass the y it was fitted on.")
    kept = np.flatnonzero(used)
    kept = kept[np.argsort(x[kept], kind="stable")]
    variance = np.asarray(m.noise_variance_, dtype=np.float64)
    variance = variance[:, None] if variance.ndim == 1 and levels.shape[1] == 1 else variance
    transition = getattr(m, "transition_matrix_", None)
    return Recording(
        x=x[kept],
        smooth=np.broadcast_to(smooth, Y.shape)[kept],
        steps=(Y - smooth)[kept],
        labels=labels[kept].astype(np.int64),
        probabilities=np.asarray(m.probabilities_)[kept],
        levels=levels,
        levels_se=np.asarray(m.levels_se_, dtype=np.float64).reshape(levels.shape),
        noise_sd=np.sqrt(np.broadcast_to(variance, levels.shape)),
        proportions=np.asarray(m.proportions_),
        transition=None if transition is None or m.label_prior_ != "markov" else np.asarray(transition),
        dof=float(m.effective_dof_) / smooth.shape[1],
        sharing=Y.shape[1] // smooth.shape[1],
        vector=vector,
    )


def _check_axis(m: Anything, X: Anything) -> Floats:
    parameters.check_plain("X", X)
    x = np.asarray(X, dtype=np.float64)
    columns = 1 if x.ndim == 1 else x.shape[-1]
    # A kernel matrix says nothing of where its points lie: there the axis itself is passed.
    if columns == 1 and m.kernel != "precomputed":
        columns = m.n_features_in_
    if x.ndim not in (1, 2) or columns != 1:
        raise ValueError(f"X must have one column, the axis of the recording, got {columns} columns.")
    if not np.isfinite(x).all():
        raise ValueError("X must be finite, but it has NaN or infinity: pass the X the estimator was fitted on.")
    return x.reshape(-1)


def _check_y(y: Anything, n_channels: int) -> Floats:
    parameters.check_plain("y", y)
    Y = np.asarray(y, dtype=np.float64)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or Y.shape[1] != n_channels:
        raise ValueError(f"y must have {n_channels} channel(s), as in fit, got shape {np.shape(y)}.")
    return Y
