"""Survival functions of step signals, and the decay of what smoothing leaves of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from matplotlib.ticker import LogFormatterMathtext, LogLocator

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.report.chain_curves import SIZES, SWITCHING, ChainCurves, chain_curves
from stepsmooth.report.display import as_blocks
from stepsmooth.report.lettering import entitle, spread
from stepsmooth.report.palette import GREY, INK, TYPOGRAPHY, ordered_colours
from stepsmooth.report.scales import logarithmic_x

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = ("survival", "K/n", "K")
TOO_THIN = 1e-3  # a band narrower than this, relatively, is none


class SpectralDisplay:
    """Why smoothing removes rough steps: where their energy lies in the spectrum, and what is left of it.

    At the left the survival function S_g(t) of two-state Markov chains in the spectrum of the min kernel: the share
    of their energy at eigenvalues above t. The rougher the chain, the more of it lies at small eigenvalues, which a
    smoother suppresses. Beside it the residual norm at tau = sqrt(lambda_n) against the number of points, for the
    paper's matrix K/n and for the kernel matrix K itself, with the fitted slope of each curve. Lines are medians,
    bands hold 95 % of the chains. Build it with :meth:`from_chains`.

    Parameters
    ----------
    curves : ChainCurves

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : array of matplotlib.axes.Axes, shape (3,)
        Survival functions, residual norms for K/n, residual norms for K.

    Examples
    --------
    >>> from stepsmooth.report import SpectralDisplay
    >>> display = SpectralDisplay.from_chains([0.2, 1.0], n=100, sizes=[50, 100, 200], chains=20)
    >>> display.axes_.shape
    (3,)
    """

    figure_: "Figure"
    axes_: np.ndarray[tuple[int, ...], np.dtype[np.object_]]

    def __init__(self, *, curves: ChainCurves) -> None:
        self.curves = curves

    @classmethod
    def from_chains(
        cls,
        switching: Sequence[float] = SWITCHING,
        *,
        n: int = 1000,
        sizes: Sequence[int] = SIZES,
        chains: int = 200,
        random_state: int = 0,
        axes: Anything = None,
    ) -> Self:
        """Simulate Markov chains and draw their curves.

        Parameters
        ----------
        switching : sequence of floats
            The probabilities to switch, one curve each.
        n : int, default=1000
            Points of the chains in the left panel.
        sizes : sequence of ints
            Points of the chains in the others.
        chains : int, default=200
            For each probability; the paper has 10,000.
        random_state : int, default=0
        axes : array-like of matplotlib.axes.Axes, optional
            Three to draw into; a new figure by default.

        Returns
        -------
        SpectralDisplay
            The display, drawn.
        """
        curves = chain_curves(switching, n=n, sizes=sizes, chains=chains, random_state=random_state)
        return cls(curves=curves).plot(axes=axes)

    def plot(self, *, axes: Anything = None) -> Self:
        """Draw the panels.

        Parameters
        ----------
        axes : array-like of matplotlib.axes.Axes, optional
            Three to draw into; a new figure by default.

        Returns
        -------
        SpectralDisplay
            The display itself, with `figure_` and `axes_`.
        """
        import matplotlib as mpl
        import matplotlib.pyplot as plt

        with mpl.rc_context(TYPOGRAPHY):
            if axes is None:
                figure = plt.figure(figsize=(11.0, 3.9))
                figure.set_layout_engine("constrained", w_pad=0.08)
                axes = figure.subplots(1, 3, width_ratios=[1.15, 1, 1])
                axes[2].sharey(axes[1])
            self.axes_ = as_blocks(axes, 1, len(PANELS))[0]
            self.figure_ = self.axes_[0].get_figure(root=True)
            self._draw_survival(self.axes_[0])
            for ax, scaling in zip(self.axes_[1:], PANELS[1:]):
                self._draw_decay(ax, scaling)
            low, high = (f(limits) for f, limits in zip((min, max), zip(*(ax.get_ylim() for ax in self.axes_[1:]))))
            for ax in self.axes_[1:]:
                ax.set_ylim(low, high)
                self._name_slopes(ax, PANELS[1 if ax is self.axes_[1] else 2])
        return self

    @property
    def _colours(self) -> Sequence[str]:
        return ordered_colours(len(self.curves.switching), name="viridis", low=0.0, high=0.88)

    def _draw_survival(self, ax: "Axes") -> None:
        c = self.curves
        for band, colour in zip(c.survival, self._colours):
            _draw_band(ax, c.t, band, colour)
        logarithmic_x(ax, float(c.t[0]) / 1.4, float(c.t[-1]))
        ax.xaxis.set_major_locator(LogLocator(numticks=5))
        ax.xaxis.set_major_formatter(LogFormatterMathtext())
        ax.set_ylim(0.0, 1.02 * float(c.survival.max()))
        ax.set_xlabel("t, in the scaling K/n (K: times n)")
        ax.set_ylabel("energy at eigenvalues above t")
        entitle(ax, "Survival function S(t)", f"n = {c.n:,}")
        words = f"dark: calm chains, p = {c.switching.min():g}\nlight: rough ones, p = {c.switching.max():g}"
        words += "\nbands: 95 % of the chains"
        ax.text(1.0, 0.97, words, transform=ax.transAxes, ha="right", va="top", fontsize=8.0, linespacing=1.5)

    def _draw_decay(self, ax: "Axes", scaling: str) -> None:
        c = self.curves
        for band, colour in zip(c.residual[scaling], self._colours):
            _draw_band(ax, c.sizes, band, colour)
            ax.plot(c.sizes, band[1], "o", color=colour, markersize=2.8)
        ax.set_yscale("log")
        logarithmic_x(ax, float(c.sizes.min()) / 1.08, float(c.sizes.max()) * 1.08)
        ax.grid(axis="y", color=GREY, alpha=0.2, linewidth=0.5)
        ax.set_xlabel("points n")
        entitle(ax, "Residual norm", f"matrix {scaling}, τ = √λₙ")

    def _name_slopes(self, ax: "Axes", scaling: str) -> None:
        """Write the legend beside the ends of the curves: probability and fitted slope."""
        c = self.curves
        figure = ax.get_figure(root=True)
        assert figure is not None
        room = max(ax.get_position().height * figure.get_figheight() * 72, 1.0)
        low, high = np.log(ax.get_ylim())
        ends = (np.log(c.residual[scaling][:, 1, np.argmax(c.sizes)]) - low) / (high - low)
        order, slopes = np.argsort(ends, kind="stable"), c.slopes(scaling)
        heights = _within(spread(ends[order], 11.0 / room), 11.0 / room)
        place: Anything = {"xycoords": "axes fraction", "textcoords": "offset points", "fontsize": 7.5}
        for row, at in zip(order, heights):
            text = f"p = {c.switching[row]:.1f}, slope {slopes[row]:.2f}".replace("-", "\N{MINUS SIGN}")
            ax.annotate("●", (1.0, at), (4, 0), va="center", color=self._colours[row], **place)
            ax.annotate(text, (1.0, at), (13, 0), va="center", color=INK, **place)


def _draw_band(ax: "Axes", x: Floats, band: Floats, colour: str) -> None:
    """Draw a median, and its band where there is one."""
    if np.any(band[2] - band[0] > TOO_THIN * np.abs(band[1])):
        ax.fill_between(x, band[0], band[2], color=colour, alpha=0.16, linewidth=0)
    ax.plot(x, band[1], color=colour, linewidth=1.4)


def _within(heights: Floats, gap: float) -> Floats:
    """Shift ascending positions that reach beyond the panel back into it, as far as they all fit."""
    high = max(1.0, gap * (len(heights) - 1))
    shifted = heights - max(float(heights[-1]) - high, 0.0)
    return np.asarray(shifted + max(-float(shifted[0]), 0.0))
