"""One step of AltMin on a signal with steps: what smoothing does to f, to the steps and to noise.

The error of f after smoothing y = f + g + noise is (I - Gamma) V'f - Gamma V'g - Gamma V'noise. (The paper's display
has V'noise in place of Gamma V'noise; its bound uses the latter.)
"""

from dataclasses import dataclass

import numpy as np

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.spectral.spectrum import Spectrum
from stepsmooth.spectral.survival import last_component, noise_ratio, tail_exponent


@dataclass(frozen=True)
class OneStep:
    """The expected mean squared error of f after one step, and its parts.

    Attributes
    ----------
    bias : float
        1/n |(I - Gamma) V'f|^2.
    leakage : float
        1/n |Gamma V'g|^2, the part of the steps that passes the smoother.
    variance : float
        sigma^2 / n tr(Gamma^2).
    mse : float
        The error itself, 1/n |(I - Gamma) V'f - Gamma V'g|^2 + variance.
    """

    bias: float
    leakage: float
    variance: float
    mse: float

    @property
    def bound(self) -> float:
        """The paper's bound, 2 bias + 2 leakage + variance."""
        return 2.0 * self.bias + 2.0 * self.leakage + self.variance


def spectral_filter(eigenvalues: Anything, tau: float) -> Floats:
    """Return h(lambda; tau) = lambda^2 / (lambda + tau)^2, the share of energy that passes.

    Examples
    --------
    >>> spectral_filter([3.0, 1.0, 0.0], tau=1.0)
    array([0.5625, 0.25  , 0.    ])
    """
    if not tau > 0.0:
        raise ValueError(f"tau must be above 0; found {tau!r}.")
    values = np.asarray(eigenvalues, dtype=np.float64)
    return np.asarray((values / (values + tau)) ** 2)


def residual_norm(coefficients: Anything, eigenvalues: Anything, tau: float) -> Floats:
    """Return 1/n |Gamma_tau V'g|^2, what smoothing leaves of a step signal; (...) for coefficients (..., n).

    Examples
    --------
    >>> residual_norm([2.0, 2.0], [3.0, 1.0], tau=1.0).item()
    1.625
    """
    g, passes = np.asarray(coefficients, dtype=np.float64), spectral_filter(eigenvalues, tau)
    return np.asarray(g**2 @ passes / len(passes))


def one_step_mse(smooth: Anything, step: Anything, noise_variance: float, tau: float, spectrum: Spectrum) -> OneStep:
    """Return the expected mean squared error of f after smoothing y = f + g + noise once, with its three terms.

    Parameters
    ----------
    smooth, step : (n,) arrays
        f and g at the points.
    noise_variance, tau : float
        tau belongs to the scaling of the spectrum: the paper's is that of K/n.
    spectrum : Spectrum

    Returns
    -------
    OneStep

    Examples
    --------
    >>> from stepsmooth.spectral import min_kernel_spectrum
    >>> x = np.arange(1, 401) / 400
    >>> g = np.where(np.arange(400) % 2, 1.0, -1.0)
    >>> found = one_step_mse(np.sin(6 * x), g, 0.1, 1e-3, min_kernel_spectrum(400))
    >>> f"{found.bias:.5f} {found.leakage:.5f} {found.variance:.5f}"
    '0.00095 0.00003 0.00198'
    """
    if not noise_variance >= 0.0:
        raise ValueError(f"noise_variance must be at least 0; found {noise_variance!r}.")
    n, gamma = len(spectrum.eigenvalues), np.sqrt(spectral_filter(spectrum.eigenvalues, tau))
    f, g = (1.0 - gamma) * spectrum.coefficients(smooth), gamma * spectrum.coefficients(step)
    variance = float(noise_variance * np.sum(gamma**2) / n)
    return OneStep(
        bias=float(np.sum(f**2) / n),
        leakage=float(np.sum(g**2) / n),
        variance=variance,
        mse=float(np.sum((f - g) ** 2) / n) + variance,
    )


def leakage_bound(xi: float, beta: float, largest: float = 1.0) -> float:
    """Proposition 3 with the appendix's constants: a bound on the residual norm.

    2 |g|_inf^2 max(xi^2, inf over beta' in [0, beta) of 2 / (2 - beta') xi^beta'), with beta' below 2. For xi < 1 the
    infimum lies at beta' = 2 - 1 / log(1 / xi), or at the nearest end of the interval.

    Parameters
    ----------
    xi : float
        lambda_r / tau.
    beta : float
        The exponent of the tail; infinity is allowed.
    largest : float, default=1.0
        |g|_inf.

    Examples
    --------
    >>> round(leakage_bound(0.01, beta=1.0), 6), round(leakage_bound(0.01, beta=3.0), 6)
    (0.04, 0.005007)
    """
    if not (xi > 0.0 and beta >= 0.0):
        raise ValueError(f"xi must be above 0 and beta at least 0; found {xi!r} and {beta!r}.")
    best = 0.0
    if xi < 1.0:
        best = min(max(2.0 - 1.0 / np.log(1.0 / xi), 0.0), beta)
    return float(2.0 * largest**2 * max(xi**2, 2.0 / (2.0 - best) * xi**best))


def proposition_3(step: Anything, tau: float, spectrum: Spectrum) -> tuple[float, float]:
    """Return the residual norm of a step signal and its bound by Proposition 3.

    Examples
    --------
    >>> from stepsmooth.spectral import min_kernel_spectrum
    >>> g = np.where(np.arange(100) % 2, 1.0, -1.0)
    >>> norm, bound = proposition_3(g, 0.01, min_kernel_spectrum(100))
    >>> norm <= bound
    True
    """
    signal = np.asarray(step, dtype=np.float64)
    g, values, largest = spectrum.coefficients(signal), spectrum.eigenvalues, float(np.abs(signal).max())
    if values[last_component(g) - 1] <= 0.0:
        raise ValueError("the kernel must be positive definite at the points for Proposition 3 to say anything.")
    beta = tail_exponent(g, values, largest)
    return float(residual_norm(g, values, tau)), leakage_bound(noise_ratio(g, values, tau), beta, largest)
