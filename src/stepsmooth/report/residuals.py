"""Residuals of a recording: along x, against the normal distribution, against their neighbours, by level."""

from typing import TYPE_CHECKING, Self

import numpy as np

from stepsmooth.estimators.recording import Recording, read_recording
from stepsmooth.model.arrays import Anything
from stepsmooth.report.display import as_blocks
from stepsmooth.report.palette import TYPOGRAPHY
from stepsmooth.report.residual_panels import draw_along, draw_correlation, draw_quantiles, draw_spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ResidualDisplay:
    """Four panels that show whether the residuals y - smooth - level are the noise that the model assumes.

    Residuals along x, with 4 noise sds dotted; their quantiles against those of the normal distribution; their
    autocorrelation, with the band in which 95 of 100 lags of white noise lie after smoothing; their sd at each level
    with a 95 % interval, and a bar for the fitted noise. :func:`stepsmooth.diagnostics` says the same in words. Every
    channel of a vector y has four panels of its own. Build it with :meth:`from_estimator`.

    Parameters
    ----------
    recording : Recording
        The fit and its data.
    n_lags : int
        Lags of the autocorrelation.
    unit, y_unit : str
        The units of x and y.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : array of matplotlib.axes.Axes, shape (p, 4)
        Per channel: along x, quantiles, autocorrelation, sd by level.

    Examples
    --------
    >>> from stepsmooth import StepSmooth
    >>> from stepsmooth.datasets import make_sine_steps
    >>> from stepsmooth.report import ResidualDisplay
    >>> data = make_sine_steps(200, 3, 2, noise_variance=0.01, random_state=0)
    >>> m = StepSmooth(n_levels=3, solver="altmin").fit(data.X, data.y)
    >>> ResidualDisplay.from_estimator(m, data.X, data.y).axes_.shape
    (1, 4)
    """

    figure_: "Figure"
    axes_: np.ndarray[tuple[int, ...], np.dtype[np.object_]]

    def __init__(self, *, recording: Recording, n_lags: int = 20, unit: str = "", y_unit: str = "") -> None:
        self.recording = recording
        self.n_lags = n_lags
        self.unit = unit
        self.y_unit = y_unit

    @classmethod
    def from_estimator(
        cls,
        estimator: Anything,
        X: Anything = None,
        y: Anything = None,
        *,
        n_lags: int = 20,
        unit: str = "",
        y_unit: str = "",
        axes: Anything = None,
    ) -> Self:
        """Draw the residuals of a fitted StepSmooth.

        Parameters
        ----------
        estimator : StepSmooth
            Fitted on one axis.
        X, y : arrays, optional
            The data given to ``fit``, by default those that the estimator keeps.
        n_lags : int
            Lags of the autocorrelation.
        unit, y_unit : str
            The units of x and y, such as ``"s"`` and ``"pA"``.
        axes : array-like of matplotlib.axes.Axes, optional
            Four for each channel; a new figure by default.

        Returns
        -------
        ResidualDisplay
            The display, drawn.
        """
        recording = read_recording(estimator, X, y, "from_estimator")
        return cls(recording=recording, n_lags=n_lags, unit=unit, y_unit=y_unit).plot(axes=axes)

    def plot(self, *, axes: Anything = None) -> Self:
        """Draw the panels.

        Parameters
        ----------
        axes : array-like of matplotlib.axes.Axes, optional
            Four for each channel; a new figure by default.

        Returns
        -------
        ResidualDisplay
            The display itself, with `figure_` and `axes_`.
        """
        import matplotlib as mpl

        count = self.recording.steps.shape[1]
        with mpl.rc_context(TYPOGRAPHY):
            self.axes_ = as_blocks(_layout(count) if axes is None else axes, count, 4)
            self.figure_ = self.axes_[0, 0].get_figure(root=True)
            for channel, (along, quantiles, correlation, spread) in enumerate(self.axes_):
                name = f", channel {channel}" if count > 1 else ""
                draw_along(along, self.recording, channel, f"Residuals{name}", self.unit, self.y_unit)
                draw_quantiles(quantiles, self.recording, channel)
                draw_correlation(correlation, self.recording, channel, self.n_lags)
                draw_spread(spread, self.recording, channel, self.y_unit)
        return self


def _layout(channels: int) -> Anything:
    """Make a figure with a block of two by two panels for each channel, side by side."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(8.0 if channels == 1 else 6.5 * channels, 5.2))
    figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.06)
    grid = figure.subplots(2, 2 * channels, squeeze=False, width_ratios=[1.7, 1.0] * channels)
    return [grid[:, 2 * channel : 2 * channel + 2].ravel() for channel in range(channels)]
