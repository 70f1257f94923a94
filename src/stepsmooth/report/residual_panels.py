"""The panels of residuals."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator
from scipy.stats import chi2, norm

from stepsmooth.estimators.autocorrelation import autocorrelation, left_by_smoothing
from stepsmooth.estimators.recording import Recording
from stepsmooth.model.arrays import Floats, Ints
from stepsmooth.report.lettering import entitle, points_note
from stepsmooth.report.line_panels import draw_points
from stepsmooth.report.naming import level_values, with_unit
from stepsmooth.report.palette import GREY, INK, level_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAR = 4.0  # noise sds
TAIL = 300  # quantiles drawn one by one at either end


def draw_along(ax: "Axes", recording: Recording, channel: int, title: str, unit: str, y_unit: str) -> None:
    """Draw residuals along x, coloured by label, with dotted lines at 4 noise sds."""
    residuals = recording.residuals[:, channel]
    draw_points(ax, recording.x, residuals, recording.labels, len(recording.levels), alpha=0.7)
    ax.axhline(0.0, color=INK, linewidth=0.6)
    far = FAR * float(recording.noise_sd[:, channel].max())
    for height in (-far, far):
        ax.axhline(height, color=INK, linewidth=0.8, linestyle=":")
    ax.margins(x=0.01)
    ax.set_xlabel(with_unit("x", unit))
    ax.set_ylabel(with_unit("residual", y_unit))
    entitle(ax, title, points_note(len(recording)) or "dotted: 4 noise sds")


def draw_quantiles(ax: "Axes", recording: Recording, channel: int) -> None:
    """Draw residuals, each in units of its level's sd, against the quantiles of the normal distribution."""
    residuals, labels = recording.residuals[:, channel], recording.labels
    own = level_sds(recording, channel)[labels]
    standard = np.sort(np.divide(residuals, own, out=np.zeros_like(residuals), where=own > 0.0))
    n = len(standard)
    shown = _tails_in_full(n)
    normal = norm.ppf((shown + 0.5) / n)
    ends = np.array([normal[0], normal[-1]])
    ax.plot(ends, ends, color=INK, linewidth=0.8, zorder=1)
    ax.plot(normal, standard[shown], ".", color=level_colours(1)[0], markersize=3.0, alpha=0.8, zorder=2)
    ax.set_xlabel("normal quantile")
    ax.set_ylabel("residual / sd of its level")
    entitle(ax, "Quantiles")


def draw_correlation(ax: "Axes", recording: Recording, channel: int, n_lags: int) -> None:
    """Draw the autocorrelation, over the band that white noise keeps to after smoothing."""
    correlations = autocorrelation(recording.residuals[:, [channel]], n_lags)
    entitle(ax, "Autocorrelation", "band: 95 % of white noise")
    ax.set_xlabel("lag (samples)")
    ax.axhline(0.0, color=INK, linewidth=0.6)
    if not len(correlations):
        ax.set_yticks([])
        return
    lags = np.arange(1, len(correlations) + 1)
    expected = left_by_smoothing(len(recording), recording.dof, recording.sharing, len(lags))
    half = 1.96 / np.sqrt(len(recording))
    ax.bar(lags, 2.0 * half, 1.0, expected - half, color=GREY, alpha=0.3, linewidth=0)
    ax.vlines(lags, 0.0, correlations, color=level_colours(1)[0], linewidth=1.6)
    ax.plot(lags, correlations, "o", color=level_colours(1)[0], markersize=3.5)
    ax.set_xlim(0.3, len(lags) + 0.7)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    top = max(0.2, 1.1 * float(np.abs(correlations).max()))
    ax.set_ylim(-top, top)


def draw_spread(ax: "Axes", recording: Recording, channel: int, y_unit: str) -> None:
    """Draw the sd of each level with its 95 % interval, over a bar at the noise of the fit."""
    count = len(recording.levels)
    sizes = np.bincount(recording.labels, minlength=count)
    sds = level_sds(recording, channel)
    for label, colour in enumerate(level_colours(count)):
        fitted = recording.noise_sd[label, channel]
        ax.plot([label - 0.3, label + 0.3], [fitted, fitted], color=GREY, linewidth=3.0, alpha=0.6, zorder=1)
        if sizes[label]:
            low, high = sds[label] * np.sqrt(sizes[label] / chi2.ppf([0.975, 0.025], sizes[label]))
            ax.plot([label, label], [low, high], color=colour, linewidth=1.6, zorder=2)
            ax.plot(label, sds[label], "o", color=colour, markersize=6.0, zorder=3)
    names = level_values(recording.levels[:, channel : channel + 1])
    ax.set_xticks(np.arange(count), names if count <= 5 else [str(label) for label in range(count)])
    ax.set_xlim(-0.6, count - 0.4)
    ax.set_ylim(0.0, 1.12 * ax.get_ylim()[1] or 1.0)
    ax.set_xlabel(with_unit("level", y_unit) if count <= 5 else "label")
    ax.set_ylabel(with_unit("residual sd", y_unit))
    entitle(ax, "Noise by level", "bar: fitted")


def level_sds(recording: Recording, channel: int) -> Floats:
    """Return the root mean square residual of each level, NaN where it has no sample."""
    count = len(recording.levels)
    squares = np.bincount(recording.labels, recording.residuals[:, channel] ** 2, minlength=count)
    sizes = np.bincount(recording.labels, minlength=count)
    return np.asarray(np.sqrt(np.divide(squares, sizes, out=np.full(count, np.nan), where=sizes > 0)))


def _tails_in_full(n: int) -> Ints:
    """Choose the ranks to draw: the tails one by one, the middle thinned to what can be seen."""
    if n <= 4 * TAIL:
        return np.arange(n)
    middle = np.linspace(TAIL, n - TAIL, 2 * TAIL).astype(np.int64)
    return np.unique(np.concatenate([np.arange(TAIL), middle, np.arange(n - TAIL, n)]))
