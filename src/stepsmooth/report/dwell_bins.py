"""Dwell times on a logarithmic axis: bins that suit sampled data, and the densities that a theory puts there."""

import numpy as np

from stepsmooth.model.arrays import Floats

PER_DECADE = 5


def dwell_edges(dwells: Floats, step: float) -> Floats:
    """Return the edges of bins, five a decade, but none narrower than a sample.

    Sampled dwells are whole numbers of samples: edges half-way between those keep short dwells from falling into some
    bins twice as often as into others (McManus, Blatz & Magleby 1987).

    Parameters
    ----------
    dwells : array
        At least one, all positive.
    step : float
        The median step from sample to sample.

    Returns
    -------
    array
        Ascending.

    Examples
    --------
    >>> dwell_edges(np.array([1.0, 6.0]), 1.0)
    array([0.5, 1.5, 2.5, 3.5, 6.5])
    """
    exponents = np.arange(0.0, np.log10(max(dwells.max() / step, 1.0)) + 2.0 / PER_DECADE, 1.0 / PER_DECADE)
    counts = np.unique(np.append(0.0, np.floor(10.0**exponents + 1e-9)))
    edges = step * (counts + 0.5)
    edges = edges[: np.searchsorted(edges, dwells.max(), side="right") + 1]
    # Where samples come at uneven steps, a dwell may be shorter than half the median one.
    below = int(max(np.ceil(PER_DECADE * np.log10(edges[0] / dwells.min())), 0.0))
    return np.concatenate([edges[0] * 10.0 ** (-np.arange(below, 0, -1) / PER_DECADE), edges])


def log_histogram(dwells: Floats, edges: Floats) -> Floats:
    """Return the events for each fifth of a decade, so that bins of different width compare.

    Examples
    --------
    >>> log_histogram(np.array([1.0, 1.0, 2.0]), np.array([0.5, 1.5, 15.0])).round(2)
    array([0.84, 0.2 ])
    """
    counts = np.histogram(dwells, bins=edges)[0]
    return np.asarray(counts / (PER_DECADE * np.diff(np.log10(edges))))


def exponential_density(t: Floats, mean: float, n: int, onset: float = 0.0) -> Floats:
    """Return the expected events for each fifth of a decade: on a logarithmic axis it peaks at the mean.

    Parameters
    ----------
    t : array
        Dwell times.
    mean : float
        The mean of the exponential distribution.
    n : int
        Events longer than `onset`.
    onset : float
        The shortest dwell that can be seen.

    Returns
    -------
    array
        Zero below the onset.

    Examples
    --------
    >>> t = np.geomspace(0.1, 10, 201)
    >>> bool(np.isclose(t[exponential_density(t, 2.0, 50).argmax()], 2.0, rtol=0.03))
    True
    """
    density = n * (t / mean) * np.exp(-(t - onset) / mean) * np.log(10.0) / PER_DECADE
    return np.where(t >= onset, density, 0.0)


def geometric_density(t: Floats, stay: float, step: float, n: int) -> Floats:
    """Return the expected events for each fifth of a decade if a level is kept with probability `stay` each sample.

    Between half samples the density integrates to the geometric distribution, P(more than k samples) = stay^k.

    Examples
    --------
    >>> t = np.geomspace(0.5, 1.5, 2001)
    >>> share = np.trapezoid(geometric_density(t, 0.9, 1.0, 1), np.log10(t)) * PER_DECADE
    >>> round(float(share), 3)
    0.1
    """
    if not 0.0 < stay < 1.0:
        return np.full_like(t, np.nan)
    rate = -np.log(stay) / step
    return exponential_density(t, 1.0 / rate, n, onset=0.5 * step)
