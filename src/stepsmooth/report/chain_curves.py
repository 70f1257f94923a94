"""The curves of the paper's example: survival functions of Markov chains, and what smoothing leaves of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stepsmooth.model.arrays import Floats
from stepsmooth.spectral import chain_spectra, markov_chains, min_kernel_spectrum, residual_norm
from stepsmooth.spectral.chains import BAND
from stepsmooth.spectral.spectrum import SCALINGS

SWITCHING = tuple(k / 10 for k in range(1, 11))
SIZES = (100, 200, 400, 800, 1600)


@dataclass(frozen=True)
class ChainCurves:
    """Median and 95 % band over chains, for each switching probability; bands are the quantiles .025, .5, .975.

    Attributes
    ----------
    switching : (P,) array
    n : int
        Points of the chains in `survival`.
    t : (T,) array
        In the scaling K/n; for K, multiply by n.
    survival : (P, 3, T) array
        Of S_g(t).
    sizes : (N,) array
        Points of the chains in `residual`.
    residual : dict of (P, 3, N) arrays
        Of 1/n |Gamma V'g|^2 at tau = sqrt(lambda_n), by scaling.
    """

    switching: Floats
    n: int
    t: Floats
    survival: Floats
    sizes: Floats
    residual: dict[str, Floats]

    def slopes(self, scaling: str) -> Floats:
        """Return the slope of log(median residual norm) against log(n) by least squares, (P,)."""
        medians = np.log(self.residual[scaling][:, 1])
        return np.asarray(np.polyfit(np.log(self.sizes), medians.T, 1)[0])


def chain_curves(
    switching: Sequence[float] = SWITCHING,
    *,
    n: int = 1000,
    sizes: Sequence[int] = SIZES,
    chains: int = 200,
    random_state: int = 0,
) -> ChainCurves:
    """Simulate chains of -1 and 1 and expand them in the eigenvectors of the min kernel.

    Parameters
    ----------
    switching : sequence of floats
        The probabilities to switch.
    n : int, default=1000
        Points of the chains whose survival functions are computed.
    sizes : sequence of ints
        Points of the chains whose residual norms are computed: at least two.
    chains : int, default=200
        For each probability; the paper has 10,000.
    random_state : int, default=0

    Returns
    -------
    ChainCurves

    Examples
    --------
    >>> curves = chain_curves([0.5, 1.0], n=100, sizes=[100, 400], chains=20)
    >>> {scaling: float(curves.slopes(scaling)[1].round(2)) for scaling in curves.residual}  # no chance at p = 1
    {'K/n': -1.55, 'K': -1.02}
    """
    if len(set(sizes)) < 2:
        raise ValueError(f"sizes must hold at least two different numbers of points; found {list(sizes)}.")
    spectrum = min_kernel_spectrum(n)
    tau = float(np.sqrt(spectrum.eigenvalues[-1]))
    found = [chain_spectra(spectrum, p, tau, chains=chains, random_state=random_state) for p in switching]
    norms: dict[str, Floats] = {scaling: np.empty((len(switching), 3, len(sizes))) for scaling in SCALINGS}
    rng = np.random.default_rng(random_state)
    for column, size in enumerate(sizes):
        spectra = [min_kernel_spectrum(size, scaling=scaling) for scaling in SCALINGS]
        for row, p in enumerate(switching):
            g = spectra[0].coefficients(markov_chains(size, p, chains, rng))  # the eigenvectors are the same in both
            for own in spectra:
                left = residual_norm(g, own.eigenvalues, float(np.sqrt(own.eigenvalues[-1])))
                norms[own.scaling][row, :, column] = np.quantile(left, BAND)
    return ChainCurves(
        switching=np.asarray(switching, dtype=np.float64),
        n=n,
        t=found[0].t,
        survival=np.array([one.survival for one in found]),
        sizes=np.asarray(sizes, dtype=np.float64),
        residual=norms,
    )
