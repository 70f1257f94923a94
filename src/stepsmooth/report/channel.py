"""One channel of a decomposition, ready to be drawn."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from stepsmooth.model.arrays import Anything, Floats, Ints

if TYPE_CHECKING:
    from stepsmooth.report.display import DecompositionDisplay


@dataclass(frozen=True)
class Channel:
    """What the panels of one channel show; over a line the points are in the order of x."""

    X: Floats
    y: Floats
    labels: Ints
    levels: Floats
    smooth: Floats
    smooth_se: Floats | None
    levels_se: Floats | None
    true_smooth: Floats | None
    wrong: Ints | None
    name: str

    @classmethod
    def of(cls, display: "DecompositionDisplay") -> Sequence[Self]:
        """Split a display into its channels, leaving out points without observation or label."""
        count = 1 if display.y.ndim == 1 else display.y.shape[1]
        return [cls._one(display, channel, count) for channel in range(count)]

    @classmethod
    def _one(cls, display: "DecompositionDisplay", channel: int, count: int) -> Self:
        y, smooth = _column(display.y, channel), _column(display.smooth, channel)
        levels = _column(display.levels, channel)
        known = np.flatnonzero(np.isfinite(y) & np.isfinite(smooth) & (display.labels >= 0))
        if display.X.shape[1] == 1:
            known = known[np.argsort(display.X[known, 0], kind="stable")]
        labels = display.labels[known]
        true_labels = getattr(display.truth, "labels", None)
        true_smooth = getattr(display.truth, "smooth", None)
        if true_smooth is not None:
            # Only smooth + constant is identified: the truth is moved to the mean of the recovered part.
            true_smooth = _column(np.asarray(true_smooth), channel)[known]
            true_smooth = true_smooth - true_smooth.mean() + smooth[known].mean()
        return cls(
            X=display.X[known],
            y=y[known],
            labels=labels,
            levels=levels,
            smooth=smooth[known],
            smooth_se=_at(display.smooth_se, channel, known),
            levels_se=None if display.levels_se is None else _column(np.asarray(display.levels_se), channel),
            true_smooth=true_smooth,
            wrong=None if true_labels is None else np.flatnonzero(np.asarray(true_labels)[known] != labels),
            name="" if count == 1 else f"channel {channel}",
        )

    def title(self, words: str) -> str:
        """Name the channel in the title of its first panel, if there are several."""
        return f"{words}, {self.name}" if self.name else words

    def level_names(self) -> Sequence[str]:
        """Each level with its standard error and the share of points that carry it."""
        shares = np.bincount(self.labels, minlength=len(self.levels)) / max(len(self.labels), 1)
        errors = [None] * len(self.levels) if self.levels_se is None else list(self.levels_se)
        gap = float(np.ptp(self.levels)) / max(len(self.levels) - 1, 1) or float(np.abs(self.levels).max()) or 1.0
        values = [level_text(level, error, gap) for level, error in zip(self.levels, errors)]
        return [f"{value}\n{share:.0%}" for value, share in zip(values, shares)]

    def accuracy_note(self) -> str:
        """Say how many labels agree with the truth."""
        if self.wrong is None:
            return ""
        right = 1 - len(self.wrong) / max(len(self.labels), 1)
        return f"{right:.1%} of {len(self.labels):,} labels right" + (", the others marked" if len(self.wrong) else "")


def level_text(level: float, error: float | None, gap: float) -> str:
    """Write a level to the decimals that its standard error, or the gap between levels, makes sensible.

    Parameters
    ----------
    level : float
        The level.
    error : float or None
        Its standard error, if known.
    gap : float
        The typical distance between levels.

    Returns
    -------
    str
        The level, with its error where there is one.

    Examples
    --------
    >>> level_text(1.0234, 0.0123, 1.0)
    '1.02 ± 0.01'
    >>> level_text(-1234.5, None, 500.0)
    '−1234'
    """
    known = error is not None and np.isfinite(error) and error > 0
    size = float(error) if known and error is not None else gap / 30
    decimals = max(0, -math.floor(math.log10(size)))
    # Adding zero after rounding turns -0.00 into 0.00.
    text = f"{round(float(level), decimals) + 0.0:.{decimals}f}".replace("-", "\N{MINUS SIGN}")
    return f"{text} ± {error:.{decimals}f}" if known else text


def _column(values: Floats, channel: int) -> Floats:
    """One channel of values that may be shared by all of them."""
    return values if values.ndim == 1 else values[:, channel]


def _at(values: Anything, channel: int, known: Ints) -> Floats | None:
    """One channel of optional values, at the points that are drawn."""
    return None if values is None else _column(np.asarray(values), channel)[known]
