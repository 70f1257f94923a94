"""What stands out in residuals, a sentence each: what was found, and what it does to the answer."""

from typing import TYPE_CHECKING

import numpy as np

from stepsmooth.model.arrays import Floats

if TYPE_CHECKING:
    from stepsmooth.estimators.diagnostics import Diagnostics

# Each finding must be large enough to matter and too large for chance.
CHANCE = 0.001
CORRELATION = 0.1
SD_RATIO = 1.5
SKEWNESS = 0.5
EXCESS_KURTOSIS = 1.0
OUTLIERS, FEWEST_OUTLIERS = 0.0005, 3
LINE_SHARE = 0.01


def find(d: "Diagnostics", sd_p_value: float) -> tuple[str, ...]:
    """Return the findings, the most consequential first; none is a good sign."""
    found = [_correlation(d), _hum(d), _spread(d, sd_p_value), _outliers(d), _tails(d), _skew(d)]
    return tuple(sentence for sentence in found if sentence)


def _correlation(d: "Diagnostics") -> str:
    if not d.ljung_box_p < CHANCE:
        return ""
    excess = d.autocorrelation - d.expected_autocorrelation
    lag = 0 if abs(excess[0]) >= CORRELATION else int(np.abs(excess).argmax())
    # A single lag must stand out among all: 3.5 standard errors for some twenty of them.
    if abs(excess[lag]) < max(CORRELATION, 3.5 / np.sqrt(d.n)):
        return ""
    if lag > 0:
        return f"residuals {lag + 1} samples apart are correlated ({bare(excess[lag])}): standard errors may be wrong"
    if excess[0] > 0.0:
        return f"neighbouring residuals are correlated (lag 1: {bare(excess[0])}): standard errors are too small"
    return f"neighbouring residuals alternate (lag 1: {bare(excess[0])}): the smooth part follows the noise, raise tau"


def _hum(d: "Diagnostics") -> str:
    if d.line is None or not d.line.stands_out or d.line.share < LINE_SHARE:
        return ""
    return (
        f"a line at frequency {d.line.frequency:.4g} (Hz if x is in seconds) carries {d.line.share:.0%} of the fast "
        "variance: if it is hum, remove it before the fit"
    )


def _spread(d: "Diagnostics", p_value: float) -> str:
    if not p_value < CHANCE:
        return ""
    sd = _over_channels(d.sd)
    low, high = int(np.nanargmin(sd)), int(np.nanargmax(sd))
    if not sd[high] >= SD_RATIO * sd[low]:
        return ""
    return (
        f"noise differs between levels (sd {sd[low]:.3g} at level {low}, {sd[high]:.3g} at level {high}): excursions "
        "of the noisier one can pass for short events"
    )


def _outliers(d: "Diagnostics") -> str:
    if d.outlier_share <= OUTLIERS or d.outlier_share * d.n < FEWEST_OUTLIERS - 0.5:
        return ""
    return (
        f"{d.outlier_share:.2%} of the residuals lie beyond 4 noise sds (chance: 0.006 %): look at them; "
        "solver='joint' with robust=True allows for spikes"
    )


def _tails(d: "Diagnostics") -> str:
    if not d.excess_kurtosis > max(EXCESS_KURTOSIS, 4.0 * np.sqrt(24.0 / d.n)):
        return ""
    return (
        f"the residuals have heavy tails (excess kurtosis {d.excess_kurtosis:.2g}): labels are less sure than they say"
    )


def _skew(d: "Diagnostics") -> str:
    if not abs(d.skewness) > max(SKEWNESS, 4.0 * np.sqrt(6.0 / d.n)):
        return ""
    return f"the residuals are skewed ({d.skewness:.2g}): a level may be missing, or y may want a transformation"


def _over_channels(sd: Floats) -> Floats:
    return np.asarray(np.sqrt(np.mean(sd**2, axis=1))) if sd.ndim == 2 else sd


def bare(correlation: float) -> str:
    """Write a number between -1 and 1 without the zero before the point.

    Examples
    --------
    >>> bare(0.314), bare(-0.2), bare(1.0)
    ('.31', '−.20', '1.00')
    """
    return f"{correlation:.2f}".replace("0.", ".", 1).replace("-", "\N{MINUS SIGN}")
