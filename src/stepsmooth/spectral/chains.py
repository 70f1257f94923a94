"""The paper's example: two-state Markov chains, their survival functions and what smoothing leaves of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from stepsmooth.model.arrays import Floats
from stepsmooth.spectral.one_step import residual_norm
from stepsmooth.spectral.spectrum import Spectrum
from stepsmooth.spectral.survival import survival

BATCH = 1000  # chains at a time, so that memory does not grow with their number
BAND = (0.025, 0.5, 0.975)


@dataclass(frozen=True)
class ChainSpectra:
    """Median and 95 % band over chains: rows are the quantiles .025, .5, .975.

    Attributes
    ----------
    t : (T,) array
    survival : (3, T) array
        Of S_g(t).
    residual : (3,) array
        Of the residual norm 1/n |Gamma V'g|^2.
    """

    t: Floats
    survival: Floats
    residual: Floats


def markov_chains(n: int, switching: float, chains: int, rng: np.random.Generator) -> Floats:
    """Return chains of -1 and 1 that start at either with equal chance and switch with the given probability.

    Examples
    --------
    >>> markov_chains(4, 1.0, 1, np.random.default_rng(0))
    array([[-1.,  1., -1.,  1.]])
    """
    if not 0.0 <= switching <= 1.0:
        raise ValueError(f"switching must be a probability; found {switching!r}.")
    turns = rng.random((chains, n), dtype=np.float32) < switching
    turns[:, 0] = rng.random(chains) < 0.5
    return np.asarray(1.0 - 2.0 * (np.cumsum(turns, axis=1, dtype=np.int32) % 2))


def chain_spectra(
    spectrum: Spectrum, switching: float, tau: float, *, chains: int = 10_000, points: int = 200, random_state: int = 0
) -> ChainSpectra:
    """Return the survival function and the residual norm of many chains.

    Parameters
    ----------
    spectrum : Spectrum
        Of n points; `min_kernel_spectrum(n)` takes a second per ten thousand chains at n = 1000.
    switching : float
        The probability to switch.
    tau : float
        In the scaling of the spectrum.
    chains : int, default=10_000
    points : int, default=200
        Number of t, evenly spaced in logs over the eigenvalues.
    random_state : int, default=0

    Returns
    -------
    ChainSpectra

    Examples
    --------
    >>> from stepsmooth.spectral import min_kernel_spectrum
    >>> spectrum = min_kernel_spectrum(200)
    >>> rough, calm = (chain_spectra(spectrum, p, 1e-3, chains=50).residual[1] for p in (0.9, 0.1))
    >>> bool(rough < calm)
    True
    """
    rng, values = np.random.default_rng(random_state), spectrum.eigenvalues
    t = np.geomspace(values[-1] * (1 - 1e-9), values[0], points)
    curves, norms = np.empty((chains, points), dtype=np.float32), np.empty(chains)
    for rows in _batches(chains):
        g = spectrum.coefficients(markov_chains(len(values), switching, rows.stop - rows.start, rng))
        curves[rows] = survival(g, values, t)
        norms[rows] = residual_norm(g, values, tau)
    return ChainSpectra(t, np.quantile(curves, BAND, axis=0), np.quantile(norms, BAND))


def _batches(count: int) -> Iterator[slice]:
    for start in range(0, count, BATCH):
        yield slice(start, min(start + BATCH, count))
