"""How long each level lasts: histograms of dwell times as Sigworth and Sine draw them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stepsmooth.estimators.events import events
from stepsmooth.estimators.recording import read_recording
from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.report.channel import level_text
from stepsmooth.report.display import as_blocks
from stepsmooth.report.dwell_bins import PER_DECADE, dwell_edges, exponential_density, geometric_density, log_histogram
from stepsmooth.report.naming import level_values, with_unit
from stepsmooth.report.palette import INK, TYPOGRAPHY, level_colours
from stepsmooth.report.scales import logarithmic_x, square_root_y

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3  # panels in a row


class DwellDisplay:
    """Dwell times of each level, on a logarithmic axis with a square-root ordinate (Sigworth & Sine 1987).

    There an exponential distribution is a peak at its mean, and bars scatter equally whatever their height. Only
    complete events are counted. Build it with :meth:`from_estimator`.

    Parameters
    ----------
    events : structured array
        As :func:`stepsmooth.events` returns it.
    levels : array, shape (M, p)
    step : float
        The median step from sample to sample.
    levels_se : array, shape (M, p), optional
    transition_matrix : array, shape (M, M), optional
        Of a Markov prior: drawn dashed is the distribution that it implies.
    min_dwell : float
        The dead time that the events were given; the exponential starts there.
    unit : str
        The unit of x.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : array of matplotlib.axes.Axes, shape (M,)

    Examples
    --------
    >>> from stepsmooth import StepSmooth
    >>> from stepsmooth.datasets import make_sine_steps
    >>> from stepsmooth.report import DwellDisplay
    >>> data = make_sine_steps(200, 3, 2, noise_variance=0.01, random_state=0)
    >>> m = StepSmooth(n_levels=3, solver="altmin").fit(data.X, data.y)
    >>> DwellDisplay.from_estimator(m, data.X, data.y, unit="s").axes_.shape
    (3,)
    """

    figure_: "Figure"
    axes_: np.ndarray[tuple[int, ...], np.dtype[np.object_]]

    def __init__(
        self,
        *,
        events: np.ndarray[Any, Any],
        levels: Floats,
        step: float,
        levels_se: Floats | None = None,
        transition_matrix: Floats | None = None,
        min_dwell: float = 0.0,
        unit: str = "",
    ) -> None:
        self.events = events
        self.levels = levels
        self.step = step
        self.levels_se = levels_se
        self.transition_matrix = transition_matrix
        self.min_dwell = min_dwell
        self.unit = unit

    @classmethod
    def from_estimator(
        cls,
        estimator: Anything,
        X: Anything = None,
        y: Anything = None,
        *,
        gap: float | None = None,
        min_dwell: float = 0.0,
        unit: str = "",
        axes: Anything = None,
    ) -> Self:
        """Draw the dwell times of a fitted StepSmooth.

        Parameters
        ----------
        estimator : StepSmooth
            Fitted on one axis.
        X, y : arrays, optional
            The data given to ``fit``, by default those that the estimator keeps.
        gap, min_dwell
            As in :func:`stepsmooth.events`.
        unit : str
            The unit of x, such as ``"ms"``.
        axes : array-like of matplotlib.axes.Axes, optional
            One for each level; a new figure by default.

        Returns
        -------
        DwellDisplay
            The display, drawn.
        """
        recording = read_recording(estimator, X, y, "from_estimator")
        display = cls(
            events=events(estimator, X, y, gap=gap, min_dwell=min_dwell),
            levels=recording.levels,
            step=recording.step,
            levels_se=recording.levels_se,
            transition_matrix=recording.transition,
            min_dwell=min_dwell,
            unit=unit,
        )
        return display.plot(axes=axes)

    def plot(self, *, axes: Anything = None) -> Self:
        """Draw one panel for each level.

        Parameters
        ----------
        axes : array-like of matplotlib.axes.Axes, optional
            One for each level; a new figure by default.

        Returns
        -------
        DwellDisplay
            The display itself, with `figure_` and `axes_`.
        """
        import matplotlib as mpl

        count = len(self.levels)
        with mpl.rc_context(TYPOGRAPHY):
            own = axes is None
            self.axes_ = as_blocks(_layout(count) if own else axes, 1, count)[0]
            self.figure_ = self.axes_[0].get_figure(root=True)
            complete = self.events[self.events["complete"]]
            edges = dwell_edges(complete["dwell"], self.step) if len(complete) else None
            tallest = max([self._draw(label, edges) for label in range(count)], default=1.0)
            for ax in self.axes_:
                square_root_y(ax, tallest)
            self._letter(own)
        return self

    def _draw(self, label: int, edges: Floats | None) -> float:
        """Draw one level, and return the height of the panel's highest mark."""
        ax = self.axes_[label]
        mine = self.events[self.events["complete"] & (self.events["label"] == label)]["dwell"]
        place = {"xy": (0.02, 0.97), "xycoords": "axes fraction", "va": "top", "fontsize": 8.0, "color": INK}
        if edges is not None:
            logarithmic_x(ax, edges[0], edges[-1])
        if not len(mine) or edges is None:
            ax.annotate("no complete event", **place)
            return 1.0
        heights = log_histogram(mine, edges)
        ax.stairs(heights, edges, fill=True, color=level_colours(len(self.levels))[label], alpha=0.65, linewidth=0)
        t = np.geomspace(edges[0], edges[-1], 400)
        curves = [exponential_density(t, mine.mean() - self.min_dwell, len(mine), self.min_dwell)]
        ax.plot(t, curves[0], color=INK, linewidth=1.2, label="exponential with the mean dwell time")
        # Absorbed events lengthen the others: the chain's own dwells then no longer compare.
        if self.transition_matrix is not None and self.min_dwell == 0.0:
            stay = float(self.transition_matrix[label, label])
            curves.append(geometric_density(t, stay, self.step, len(mine)))
            ax.plot(t, curves[1], color=INK, linewidth=1.2, dashes=(3, 2), label="fitted transition matrix")
        error = float(mine.std(ddof=1)) / np.sqrt(len(mine)) if len(mine) > 1 else None
        mean = level_text(float(mine.mean()), error, float(mine.mean()))
        ax.annotate(f"{len(mine):,} event{'s' * (len(mine) > 1)}\nmean {mean} {self.unit}".rstrip(), **place)
        return float(np.nanmax(np.concatenate([heights, *curves])))

    def _letter(self, own: bool) -> None:
        colours = level_colours(len(self.levels))
        for place, value in enumerate(level_values(self.levels, self.levels_se)):
            ax, colour = self.axes_[place], colours[place]
            ax.set_title(f"Level {value}", loc="left", fontweight="bold")
            # In our own grid the scale stands below the lowest panel of each column.
            if not own or place + COLUMNS >= len(colours):
                ax.set_xlabel(with_unit("dwell time", self.unit))
            ax.spines["bottom"].set(color=colour, linewidth=2.0)
        first = self.axes_[0]
        first.set_ylabel(f"events per 1/{PER_DECADE} decade\n(square-root scale)")
        drawn = [ax for ax in self.axes_ if ax.lines]
        if own and drawn:
            self.figure_.legend(
                handles=drawn[0].lines, loc="outside lower center", ncols=2, frameon=False, fontsize=8.0
            )


def _layout(count: int) -> Sequence["Axes"]:
    """Make a figure with one panel for each level."""
    import matplotlib.pyplot as plt

    columns = min(count, COLUMNS)
    rows = -(-count // columns)
    figure = plt.figure(figsize=(3.0 * columns + 0.6, 2.6 * rows + 0.4))
    figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.06)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for ax in grid[count:]:
        ax.remove()
    return list(grid[:count])
