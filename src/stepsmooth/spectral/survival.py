"""Where in the spectrum a step signal has its energy: survival function, r_n, beta_n and the energy that diverges."""

import numpy as np

from stepsmooth.model.arrays import Anything, Floats

ZERO = 1e-20  # energies below this share of the whole are rounding, not signal


def survival(coefficients: Anything, eigenvalues: Anything, t: Anything) -> Floats:
    """Return S_g(t), the energy 1/n sum of g_i^2 over the components with eigenvalue above t.

    Parameters
    ----------
    coefficients : (..., n) array
        V' g, by `Spectrum.coefficients`.
    eigenvalues : (n,) array
        Descending.
    t : (T,) array or float

    Returns
    -------
    (..., T) array, or (...) for a number t

    Examples
    --------
    >>> survival([1.0, 1.0, 2.0], [3.0, 2.0, 1.0], [0.5, 1.0, 2.5, 3.0])
    array([2.        , 0.66666667, 0.33333333, 0.        ])
    """
    g, values = _pair(coefficients, eigenvalues)
    energy = np.cumsum(g**2, axis=-1) / len(values)
    above = np.searchsorted(-values, -np.asarray(t, dtype=np.float64), side="left")  # how many lie above t
    padded = np.concatenate([np.zeros((*energy.shape[:-1], 1)), energy], axis=-1)
    return np.asarray(padded[..., above])


def last_component(coefficients: Anything, *, zero: float = ZERO) -> int:
    """Return r_n, the number of the last component that the signal has (from 1).

    In floating point no coefficient is exactly 0: those with g_i^2 at most `zero` times the sum of squares count as 0.

    Examples
    --------
    >>> last_component([1.0, 2.0, 1e-17])
    2
    """
    squares = np.asarray(coefficients, dtype=np.float64) ** 2
    if not np.any(squares > 0.0):
        raise ValueError("coefficients must not all be 0: a signal of zeros has no last component.")
    return int(np.flatnonzero(squares > zero * squares.sum())[-1]) + 1


def tail_exponent(coefficients: Anything, eigenvalues: Anything, largest: float, *, zero: float = ZERO) -> float:
    """Return beta_n, the largest beta with S_g(t) <= |g|_inf^2 (lambda_r / t)^beta for all t > 0.

    S is constant between eigenvalues and the bound falls, so it is tightest just below each eigenvalue: there it says
    beta <= log(|g|_inf^2 / S) / log(lambda_i / lambda_r).

    Parameters
    ----------
    coefficients, eigenvalues : (n,) arrays
    largest : float
        |g|_inf, the largest absolute value of the signal.
    zero : float
        As in :func:`last_component`.

    Returns
    -------
    float
        Infinite if all energy lies at the last component.

    Examples
    --------
    >>> round(tail_exponent([1.0, 0.0, 2.0], [4.0, 2.0, 1.0], largest=2.0), 4)  # log(4 / (1/3)) / log(4)
    1.7925
    """
    g, values = _pair(coefficients, eigenvalues)
    if g.ndim != 1:
        raise ValueError(f"tail_exponent takes the coefficients of one signal; found shape {g.shape}.")
    r = last_component(g, zero=zero)
    energy = np.cumsum(g**2)[: r - 1] / len(values)
    counts = (energy > zero * energy.max(initial=0.0)) & (values[: r - 1] > values[r - 1])
    if not np.any(counts):
        return float("inf")
    slopes = np.log(largest**2 / energy[counts]) / np.log(values[: r - 1][counts] / values[r - 1])
    return max(0.0, float(slopes.min()))


def noise_ratio(coefficients: Anything, eigenvalues: Anything, tau: float, *, zero: float = ZERO) -> float:
    """Return xi_n = lambda_r / tau, with r = r_n.

    Examples
    --------
    >>> noise_ratio([1.0, 1.0], [4.0, 1.0], tau=2.0)
    0.5
    """
    if not tau > 0.0:
        raise ValueError(f"tau must be above 0; found {tau!r}.")
    g, values = _pair(coefficients, eigenvalues)
    return float(values[last_component(g, zero=zero) - 1] / tau)


def step_energy(coefficients: Anything, eigenvalues: Anything) -> Floats:
    """Return 1/n sum g_i^2 / lambda_i: with K/n, the squared norm of the smallest function that passes through g.

    For a signal with jumps it grows without bound as the points grow dense: the signal is no member of the space.

    Examples
    --------
    >>> from stepsmooth.spectral import min_kernel_spectrum
    >>> for n in (100, 200, 400):  # one jump in the middle, x = i/n: |g'|^2 ~ n
    ...     spectrum, g = min_kernel_spectrum(n), np.r_[np.zeros(n // 2), np.ones(n // 2)]
    ...     print(round(float(step_energy(spectrum.coefficients(g), spectrum.eigenvalues)), 6), end=" ")
    100.0 200.0 400.0
    """
    g, values = _pair(coefficients, eigenvalues)
    if values[-1] <= 0.0:
        raise ValueError("eigenvalues must be above 0: this kernel cannot tell the points apart.")
    return np.asarray(np.sum(g**2 / values, axis=-1) / len(values))


def _pair(coefficients: Anything, eigenvalues: Anything) -> tuple[Floats, Floats]:
    g, values = np.asarray(coefficients, dtype=np.float64), np.asarray(eigenvalues, dtype=np.float64)
    if values.ndim != 1 or g.ndim == 0 or g.shape[-1] != len(values):
        raise ValueError(
            "coefficients must hold one number for each eigenvalue along their last axis; "
            f"found shapes {g.shape} and {values.shape}."
        )
    if np.any(np.diff(values) > 0.0):
        raise ValueError("eigenvalues must be in descending order.")
    return g, values
