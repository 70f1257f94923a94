"""The all-points histogram of a recording without its drift, under the fitted mixture."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from scipy.stats import norm

from stepsmooth.estimators.recording import Recording, read_recording
from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.report.display import as_blocks
from stepsmooth.report.lettering import spread
from stepsmooth.report.naming import level_values, with_unit
from stepsmooth.report.palette import GREY, INK, TYPOGRAPHY, level_colours
from stepsmooth.report.scales import bin_edges

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME_WIDTH = 60.0  # points that the name of a level takes


class AmplitudeDisplay:
    """Histogram of y minus the smooth part over all samples, with the fitted mixture and its levels.

    Bars are stacked by label. The black curve is sum_k pi_k N(mu_k, noise variance), the coloured ones its parts:
    where bars and curve part, a level is missing, split in two, or the noise is not Gaussian. Every channel of a
    vector y has a panel of its own. Build it with :meth:`from_estimator`.

    Parameters
    ----------
    recording : Recording
        The fit and its data.
    unit : str
        The unit of y.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : array of matplotlib.axes.Axes, shape (p,)

    Examples
    --------
    >>> from stepsmooth import StepSmooth
    >>> from stepsmooth.datasets import make_sine_steps
    >>> from stepsmooth.report import AmplitudeDisplay
    >>> data = make_sine_steps(200, 3, 2, noise_variance=0.01, random_state=0)
    >>> m = StepSmooth(n_levels=3, solver="altmin").fit(data.X, data.y)
    >>> display = AmplitudeDisplay.from_estimator(m, data.X, data.y, unit="pA")
    >>> display.axes_[0].get_xlabel()
    'y − smooth part (pA)'
    """

    figure_: "Figure"
    axes_: np.ndarray[tuple[int, ...], np.dtype[np.object_]]

    def __init__(self, *, recording: Recording, unit: str = "") -> None:
        self.recording = recording
        self.unit = unit

    @classmethod
    def from_estimator(
        cls, estimator: Anything, X: Anything = None, y: Anything = None, *, unit: str = "", axes: Anything = None
    ) -> Self:
        """Draw the amplitudes of a fitted StepSmooth.

        Parameters
        ----------
        estimator : StepSmooth
            Fitted on one axis.
        X, y : arrays, optional
            The data given to ``fit``, by default those that the estimator keeps.
        unit : str
            The unit of y, such as ``"pA"``.
        axes : array-like of matplotlib.axes.Axes, optional
            One for each channel; a new figure by default.

        Returns
        -------
        AmplitudeDisplay
            The display, drawn.
        """
        recording = read_recording(estimator, X, y, "from_estimator")
        return cls(recording=recording, unit=unit).plot(axes=axes)

    def plot(self, *, axes: Anything = None) -> Self:
        """Draw one panel for each channel.

        Parameters
        ----------
        axes : array-like of matplotlib.axes.Axes, optional
            One for each channel; a new figure by default.

        Returns
        -------
        AmplitudeDisplay
            The display itself, with `figure_` and `axes_`.
        """
        import matplotlib as mpl

        count = self.recording.steps.shape[1]
        with mpl.rc_context(TYPOGRAPHY):
            self.axes_ = as_blocks(_layout(count) if axes is None else axes, 1, count)[0]
            self.figure_ = self.axes_[0].get_figure(root=True)
            for channel, ax in enumerate(self.axes_):
                self._draw(ax, channel)
                if count > 1:
                    ax.set_title(f"Channel {channel}", loc="left", fontweight="bold", pad=28.0)
            if axes is None and self.axes_[0].lines:
                handles: list[Anything] = [
                    Patch(color=GREY, alpha=0.45, linewidth=0, label="samples, coloured by label")
                ]
                handles.append(Line2D([], [], color=INK, linewidth=1.2, label="fitted mixture"))
                self.figure_.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=8.0)
        return self

    def _draw(self, ax: "Axes", channel: int) -> None:
        r = self.recording
        values = r.steps[:, channel]
        levels, sd = r.levels[:, channel], r.noise_sd[:, channel]
        colours = level_colours(len(levels))
        edges = bin_edges(values, int(np.clip(2 * np.sqrt(len(values)), 12, 150)))
        base = np.zeros(len(edges) - 1)
        for label, colour in enumerate(colours):
            top = base + np.histogram(values[r.labels == label], bins=edges)[0]
            ax.stairs(top, edges, baseline=base, fill=True, color=colour, alpha=0.45, linewidth=0)
            base = top
        # Without noise there is no curve to draw, only the levels.
        if sd.min() > 1e-3 * np.ptp(edges):
            t = np.linspace(min(edges[0], levels.min()), max(edges[-1], levels.max()), 600)
            parts = r.proportions[:, None] * norm.pdf(t, levels[:, None], sd[:, None])
            parts *= len(values) * (edges[1] - edges[0])
            for part, colour in zip(parts, colours):
                ax.plot(t, part, color=colour, linewidth=1.4)
            ax.plot(t, parts.sum(axis=0), color=INK, linewidth=1.2)
        for level in levels:
            ax.axvline(level, color=INK, linewidth=0.6, dashes=(3, 3), zorder=3)
        # A known level may lie where no sample is.
        ax.set_xlim(min(edges[0], levels.min()), max(edges[-1], levels.max()))
        ax.set_xlabel(with_unit("y \N{MINUS SIGN} smooth part", self.unit))
        ax.set_ylabel("samples per bin")
        _name_above(ax, levels, self._names(channel))

    def _names(self, channel: int) -> Sequence[str]:
        r = self.recording
        one = slice(channel, channel + 1)
        values = level_values(r.levels[:, one], r.levels_se[:, one])
        return [f"{value}\n{share:.0%}" for value, share in zip(values, r.proportions)]


def _layout(channels: int) -> Sequence["Axes"]:
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(6.4, 3.2 * channels))
    figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.06)
    return list(figure.subplots(channels, 1, squeeze=False).ravel())


def _name_above(ax: "Axes", levels: Floats, names: Sequence[str]) -> None:
    """Write the names of the levels above the panel, spread where they would touch, shortened where many."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    room = ax.get_position().width * figure.get_figwidth() * 72
    width = max(NAME_WIDTH, 4.6 * max(len(line) for name in names for line in name.split("\n")))
    if width * len(levels) > room:
        names, width = [str(label) for label in range(len(levels))], 12.0
    low, high = ax.get_xlim()
    order = np.argsort(levels)
    places = spread((levels[order] - low) / (high - low), width / room)
    for label, at in zip(order, places):
        options: dict[str, Anything] = {"ha": "center", "va": "bottom", "fontsize": 8.0, "color": INK}
        ax.annotate(names[label], (at, 1.0), (0, 3), "axes fraction", "offset points", **options)
