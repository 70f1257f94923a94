"""How residuals at neighbouring points hang together."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2

from stepsmooth.model.arrays import Floats


def autocorrelation(residuals: Floats, n_lags: int) -> Floats:
    """Return the autocorrelation at lags 1, 2, ... in the order of the rows, channels pooled.

    Parameters
    ----------
    residuals : (n, p) array
    n_lags : int
        At most a quarter of n is used: beyond that too few pairs are left.

    Returns
    -------
    (k,) array
        Empty if there are too few residuals, or if they are all equal.

    Examples
    --------
    >>> alternating = np.tile([1.0, -1.0], 50)[:, None]
    >>> autocorrelation(alternating, 2)
    array([-0.99,  0.98])
    """
    centred = residuals - residuals.mean(axis=0)
    total = float(np.sum(centred**2))
    if total == 0.0:
        return np.empty(0)
    lags = range(1, min(n_lags, len(centred) // 4) + 1)
    return np.array([np.sum(centred[lag:] * centred[:-lag]) / total for lag in lags])


def left_by_smoothing(n: int, dof: float, sharing: int, n_lags: int) -> Floats:
    """Return the autocorrelation of white noise from which a cubic spline has taken its slow part.

    At frequency w the spline passes h = 1 / (1 + (w / w0)^4), w0 such that the mean of h is dof / n. In each of
    `sharing` channels under one smooth part this leaves the power 1 - 2 h / p + h^2 / p.

    Parameters
    ----------
    n : int
        Samples.
    dof : float
        Effective degrees of freedom of the smooth part.
    sharing : int
        Channels that share it.
    n_lags : int

    Returns
    -------
    (n_lags,) array

    Examples
    --------
    >>> left_by_smoothing(1000, 200.0, 1, 3).round(2)
    array([-0.28, -0.18, -0.09])
    """
    w = np.linspace(0.0, 1.0, 4 * max(n_lags, 256) + 1)  # in units of the highest frequency there is
    # Less than the grid resolves leaves nothing to be seen.
    wanted = min(max(dof / n, 2.0 / len(w)), 0.95)

    def passed(log_w0: float) -> Floats:
        return np.asarray(1.0 / (1.0 + (w / np.exp(log_w0)) ** 4))

    log_w0 = brentq(lambda log_w0: float(np.mean(passed(log_w0))) - wanted, -30.0, 10.0)
    h = passed(log_w0)
    # irfft turns the spectrum on its half circle into autocovariances.
    covariance = np.fft.irfft(1.0 - (2.0 * h - h**2) / sharing)
    return np.asarray(covariance[1 : n_lags + 1] / covariance[0])


def ljung_box(correlations: Floats, n: int) -> float:
    """Return the probability of correlations so large in n independent observations, NaN if there are none.

    Q = n (n + 2) sum_k r_k^2 / (n - k) is chi-squared with as many degrees of freedom as lags (Ljung & Box 1978).

    Examples
    --------
    >>> white = np.random.default_rng(0).normal(size=(500, 1))
    >>> bool(ljung_box(autocorrelation(white, 10), 500) > 0.05)
    True
    >>> bool(ljung_box(autocorrelation(white.cumsum(axis=0), 10), 500) < 1e-6)
    True
    """
    if not len(correlations):
        return float("nan")
    lags = np.arange(1, len(correlations) + 1)
    statistic = n * (n + 2) * np.sum(correlations**2 / (n - lags))
    return float(chi2.sf(statistic, len(correlations)))
