"""Long segments, uneven levels closer than the noise, and a slow random wave."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from .arguments import Seed, generator, real_number, whole_number
from .markov_steps import visit
from .step_signal import StepSignal, observe

# Knots per correlation length: the spline through them then errs by about 1e-8 of the wave.
_RESOLUTION = 64


def random_wave(n_samples: int, correlation_length: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return a smooth random function at 0, 1, ..., n - 1 with mean 0 and standard deviation 1 over them.

    It is a Gaussian process of covariance ``exp(-d^2 / (2 l^2))``, l the correlation length in samples:
    white noise under a Gaussian window of standard deviation ``l / sqrt(2)``.

    Examples
    --------
    >>> wave = random_wave(1000, 100.0, np.random.default_rng(0))
    >>> bool(abs(wave.mean()) < 1e-12), round(float(wave.std()), 12)
    (True, 1.0)
    """
    # A long wave is drawn on a coarse grid, so that the cost does not grow with its length.
    spacing = max(1.0, correlation_length / _RESOLUTION)
    window_sd = correlation_length / math.sqrt(2) / spacing
    half = math.ceil(5 * window_sd)
    n_knots = math.ceil((n_samples - 1) / spacing) + 4  # a cubic needs four, even for a short signal
    window = np.exp(-0.5 * (np.arange(-half, half + 1) / window_sd) ** 2)
    at_knots = np.convolve(rng.standard_normal(n_knots + 2 * half), window, mode="valid")
    wave = CubicSpline(spacing * np.arange(n_knots), at_knots)(np.arange(n_samples))
    wave -= wave.mean()
    return np.asarray(wave / wave.std(), dtype=np.float64)


def uneven_levels(n_levels: int, gap: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return ascending levels of mean 0 whose gaps are `gap`, once, and up to 2.5 times as much elsewhere.

    Examples
    --------
    >>> levels = uneven_levels(4, 0.6, np.random.default_rng(0))
    >>> round(float(np.diff(levels).min()), 12)
    0.6
    """
    gaps = gap * rng.uniform(1.0, 2.5, size=n_levels - 1)
    gaps[rng.integers(n_levels - 1)] = gap
    levels = np.concatenate([[0.0], np.cumsum(gaps)])
    return np.asarray(levels - levels.mean(), dtype=np.float64)


def make_segments(
    n_samples: int = 20000,
    n_segments: int = 40,
    *,
    n_levels: int | None = None,
    gap: float = 0.6,
    wave: float = 0.25,
    correlation_length: float = 2000,
    random_state: Seed = None,
) -> StepSignal:
    """Draw long segments of uneven levels on a slow random wave, under unit noise.

    A single observation says little about its label, since the noise exceeds the smallest step; a segment
    says much. Segments of about ``n_samples / n_segments`` samples and a wave that turns about as fast
    compete to explain the same changes.

    Parameters
    ----------
    n_samples : int, default=20000
        Number of observations n, at ``x = i / n``.
    n_segments : int, default=40
        Number of segments, at most `n_samples`. Their ends are drawn uniformly, and neighbouring segments
        have different labels.
    n_levels : int or None, default=None
        Number of levels M, at least 2; None draws 3, 4 or 5. With few segments a level may not occur.
    gap : float, default=0.6
        The smallest gap between levels, in standard deviations of the noise. The other gaps are uniform
        between 1 and 2.5 times as large.
    wave : float, default=0.25
        Standard deviation of the wave over the signal, as a fraction of the smallest gap.
    correlation_length : float, default=2000
        Correlation length l of the wave in samples, at least 1 and at most ``1000 * n_samples``: its
        covariance is ``exp(-d^2 / (2 l^2))``.
    random_state : int, Generator or None, default=None
        A number gives the same data every time; None gives fresh data.

    Returns
    -------
    StepSignal
        The observations and their parts. The noise variance is 1, and the wave has mean 0.

    See Also
    --------
    make_markov_steps : Labels from a chain, on a sine wave.

    Examples
    --------
    >>> from stepsmooth.datasets import make_segments
    >>> signal = make_segments(random_state=0)
    >>> signal.levels.round(2)
    array([-1.56, -0.72, -0.08,  0.52,  1.85])
    >>> int((signal.labels[1:] != signal.labels[:-1]).sum()) + 1
    40
    """
    rng = generator(random_state)
    n = whole_number("n_samples", n_samples, least=2)
    pieces = whole_number("n_segments", n_segments, least=1)
    if pieces > n:
        raise ValueError(f"n_segments must be at most n_samples = {n}; found {pieces}.")
    smallest = real_number("gap", gap, above=0)
    height = smallest * real_number("wave", wave, least=0)
    # Longer than that, the wave is a straight line to the last digits that doubles hold.
    length = real_number("correlation_length", correlation_length, least=1, most=1000 * n)
    m = int(rng.integers(3, 6)) if n_levels is None else whole_number("n_levels", n_levels, least=2)

    levels = uneven_levels(m, smallest, rng)
    switches = np.zeros(n - 1, dtype=np.bool_)
    switches[rng.choice(n - 1, size=pieces - 1, replace=False)] = True
    labels = visit(int(rng.integers(m)), switches, m, rng)
    smooth = height * random_wave(n, length, rng)
    return observe(np.arange(1, n + 1) / n, labels, levels, smooth, 1.0, rng)
