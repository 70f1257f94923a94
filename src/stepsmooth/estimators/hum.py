"""A periodic disturbance at equal steps of x: mains hum, a pump, a flickering lamp."""

from dataclasses import dataclass

import numpy as np
from scipy.fft import next_fast_len

from stepsmooth.estimators.recording import median_step
from stepsmooth.model.arrays import Floats, Ints

# Samples may lie beside their place by this share of a step, and so many of the places must be taken.
JITTER = 0.1
TAKEN = 0.9
# What has fewer periods on record is drift, and a record must have room for several times as many.
DRIFT = 10
FEWEST = 8 * DRIFT
# A line stands out if noise, white or smoothly coloured, would seldom have one as strong. The noise around the line is
# known from a few frequencies only: up to 1000 samples, 0.6 % of white noises have one all the same.
CHANCE = 0.0001


@dataclass(frozen=True)
class Line:
    """The strongest line of a spectrum.

    Attributes
    ----------
    frequency : float
        In periods per unit of x.
    share : float
        Of the variance of all that is faster than ten periods on record.
    stands_out : bool
        Whether it is too strong for noise.
    """

    frequency: float
    share: float
    stands_out: bool


def strongest_line(x: Floats, values: Floats) -> Line | None:
    """Return the strongest sine with more than ten periods in values (n, p) at ascending x.

    None if x does not go in equal steps. Single samples may be missing; they count as zeros.

    Examples
    --------
    >>> t = np.arange(1000) / 1000
    >>> noise = np.random.default_rng(0).normal(size=1000)
    >>> line = strongest_line(t, (np.sin(2 * np.pi * 50 * t) + noise)[:, None])
    >>> round(line.frequency), round(line.share, 1), line.stands_out
    (50, 0.3, True)
    """
    places = lattice(x)
    if places is None or np.all(np.ptp(values, axis=0) == 0.0):
        return None
    n = int(places[-1]) + 1
    filled = np.zeros((n, values.shape[1]))
    filled[places] = values - values.mean(axis=0)
    taper = np.hanning(n)[:, None]  # else the drift would leak into all frequencies
    # Four times as many frequencies as samples: a line between two Fourier frequencies is not split.
    size = next_fast_len(4 * n)
    power = np.sum(np.abs(np.fft.rfft(filled * taper, size, axis=0)) ** 2, axis=1)
    slowest = DRIFT * size // n
    peak = slowest + int(power[slowest:].argmax())
    # Variance of a sine by its height, of noise by Parseval.
    line = 2.0 * power[peak] / taper.sum() ** 2
    total = 2.0 * power[slowest:].sum() / (size * np.sum(taper**2))
    step = float(x[-1] - x[0]) / (n - 1)
    return Line(peak / (size * step), min(float(line / total), 1.0), _stands_out(power, peak, size, n))


def lattice(x: Floats) -> Ints | None:
    """Return the places of ascending x on a line of equal steps, or None if they do not lie on one.

    Examples
    --------
    >>> lattice(np.delete(np.arange(100.0), 2))[:4]
    array([0, 1, 3, 4])
    >>> lattice(np.geomspace(1, 2, 100)) is None
    True
    """
    if len(x) < FEWEST or x[0] == x[-1]:
        return None
    step = median_step(x)
    places = np.append(0, np.cumsum(np.rint(np.diff(x) / step))).astype(np.int64)
    if len(x) < TAKEN * (places[-1] + 1) or np.any(np.diff(places) < 1):
        return None
    even = x[0] + (x[-1] - x[0]) * places / places[-1]
    return places if np.abs(x - even).max() <= JITTER * step else None


def _stands_out(power: Floats, peak: int, size: int, n: int) -> bool:
    """Compare the peak with the spectrum on either side, so that the slope of coloured noise is no line."""
    fine = size / n  # frequencies for each Fourier frequency
    reach, own = int(fine * max(16, n / 64)), int(4 * fine)
    sides = power[max(peak - reach, 0) : max(peak - own, 0)], power[peak + own + 1 : peak + reach]
    floor = max(float(np.median(side)) for side in sides if len(side) > fine)
    # Ordinates of noise are exponential: their mean is median / log 2, and the largest of N exceeds log(N / chance)
    # means with probability `chance`.
    return bool(power[peak] > floor / np.log(2.0) * np.log(size / 2.0 / CHANCE))
