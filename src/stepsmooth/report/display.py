"""The picture of a decomposition, in scikit-learn's Display idiom."""

from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.report.channel import Channel
from stepsmooth.report.line_figure import draw_line, line_layout
from stepsmooth.report.map_panels import draw_maps, map_layout
from stepsmooth.report.palette import TYPOGRAPHY

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class DecompositionDisplay:
    """Observations, smooth part and step part of a fitted decomposition.

    Build it with :meth:`from_estimator`. Over a line (X with one column) three aligned panels show the
    observations coloured by label over the curves smooth + level, the smooth part with its band, and the
    step part; histograms of y and of y minus the smooth part stand beside them. Over a plane (X with two
    columns) four maps show the observations, the step part, the smooth part and the residual. Every channel
    of a vector y has a block of panels of its own. Of more than 20,000 points a sample is drawn, and said to
    be one; curves and histograms are always those of all points.

    Parameters
    ----------
    X : array, shape (n, 1) or (n, 2)
        Where the observations were made.
    y : array, shape (n,) or (n, p)
        The observations.
    labels : array of int, shape (n,)
        The recovered labels, in ascending order of the levels.
    levels : array, shape (M,) or (M, p)
        The recovered levels.
    smooth : array, shape (n,) or (n, p)
        The recovered smooth part.
    smooth_se : array like `smooth`, optional
        Its standard errors.
    levels_se : array like `levels`, optional
        The standard errors of the levels.
    truth : object, optional
        The truth, where it is known: any of the attributes ``labels``, ``levels`` and ``smooth``, as the
        generators in :mod:`stepsmooth.datasets` return. It is drawn dashed, and wrong labels are ringed.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
        The figure drawn into.
    axes_ : array of matplotlib.axes.Axes, shape (p, 5) or (p, 4)
        Per channel, over a line: observations, smooth part, step part, histogram of y, histogram of y minus
        the smooth part; over a plane: observations, step part, smooth part, residual.

    Examples
    --------
    >>> from stepsmooth import StepSmooth
    >>> from stepsmooth.datasets import make_sine_steps
    >>> from stepsmooth.report import DecompositionDisplay
    >>> data = make_sine_steps(200, 3, 2, noise_variance=0.01, random_state=0)
    >>> m = StepSmooth(n_levels=3, solver="altmin").fit(data.X, data.y)
    >>> display = DecompositionDisplay.from_estimator(m, data.X, data.y, truth=data)
    >>> display.axes_.shape
    (1, 5)
    """

    figure_: "Figure"
    axes_: np.ndarray[tuple[int, ...], np.dtype[np.object_]]

    def __init__(
        self,
        *,
        X: Floats,
        y: Floats,
        labels: Ints,
        levels: Floats,
        smooth: Floats,
        smooth_se: Floats | None = None,
        levels_se: Floats | None = None,
        truth: Anything = None,
    ) -> None:
        self.X = X
        self.y = y
        self.labels = labels
        self.levels = levels
        self.smooth = smooth
        self.smooth_se = smooth_se
        self.levels_se = levels_se
        self.truth = truth

    @classmethod
    def from_estimator(
        cls,
        estimator: Anything,
        X: Anything = None,
        y: Anything = None,
        *,
        axes: Anything = None,
        truth: Anything = None,
    ) -> Self:
        """Draw a fitted StepSmooth together with the data it was fitted on.

        Parameters
        ----------
        estimator : StepSmooth
            A fitted estimator.
        X : array-like, shape (n, 1) or (n, 2), or (n,), optional
            The X given to ``fit``, by default the one that the estimator keeps; of more columns, the one or two that
            are to be drawn.
        y : array-like, shape (n,) or (n, p), optional
            The y given to ``fit``.
        axes : array-like of matplotlib.axes.Axes, optional
            The axes to draw into, in the order of `axes_`; a new figure by default.
        truth : object, optional
            What is known to be true, with any of the attributes ``labels``, ``levels``, ``smooth``.

        Returns
        -------
        DecompositionDisplay
            The display, drawn.
        """
        check_is_fitted(estimator)
        labels = np.asarray(estimator.labels_)
        if X is None and y is None:
            X, y = getattr(estimator, "_data", (None, None))
        X, y = _training_data(X, y, len(labels))
        display = cls(
            X=X,
            y=y,
            labels=labels,
            levels=np.asarray(estimator.levels_),
            smooth=np.asarray(estimator.smooth_),
            smooth_se=getattr(estimator, "smooth_se_", None),
            levels_se=getattr(estimator, "levels_se_", None),
            truth=truth,
        )
        return display.plot(axes=axes)

    def plot(self, *, axes: Anything = None) -> Self:
        """Draw the panels.

        Parameters
        ----------
        axes : array-like of matplotlib.axes.Axes, optional
            The axes to draw into, in the order of `axes_`; a new figure by default.

        Returns
        -------
        DecompositionDisplay
            The display itself, with `figure_` and `axes_`.
        """
        import matplotlib as mpl

        channels = Channel.of(self)
        on_line = self.X.shape[1] == 1
        with mpl.rc_context(TYPOGRAPHY):
            if axes is None:
                axes = line_layout(len(channels)) if on_line else map_layout(len(channels))
            self.axes_ = as_blocks(axes, len(channels), 5 if on_line else 4)
            self.figure_ = self.axes_[0, 0].get_figure(root=True)
            for block, channel in zip(self.axes_, channels):
                (draw_line if on_line else draw_maps)(block, channel)
        return self


def _training_data(X: Anything, y: Anything, n: int) -> tuple[Floats, Floats]:
    """Check X and y against the fit, or say in one sentence what is amiss."""
    if X is None or y is None:
        raise ValueError("X and y belong together: pass both, from_estimator(m, X, y), or neither.")
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    X = X[:, None] if X.ndim == 1 else X
    if X.shape[1] not in (1, 2):
        raise ValueError(f"X has {X.shape[1]} columns and a picture shows one or two: pass those, as in X[:, [0, 1]].")
    if not len(X) == len(y) == n:
        raise ValueError(f"X has {len(X)} rows and y {len(y)}, but the fit has {n}: pass the data it was fitted on.")
    return X, y


def as_blocks(axes: Anything, channels: int, panels: int) -> np.ndarray[tuple[int, ...], np.dtype[np.object_]]:
    """Arrange the axes as one row of panels per channel."""
    array = np.asarray(axes, dtype=object)
    if array.size != panels * channels:
        needed = f"{panels} axes for each of {channels} channels" if channels > 1 else f"{panels} axes"
        raise ValueError(f"The picture needs {needed}, and {array.size} were given.")
    return array.reshape(channels, panels)
