"""The paper's one-step analysis, computable: spectra, survival functions, errors of one step, rates."""

from stepsmooth.spectral.chains import ChainSpectra, chain_spectra, markov_chains
from stepsmooth.spectral.one_step import (
    OneStep,
    leakage_bound,
    one_step_mse,
    proposition_3,
    residual_norm,
    spectral_filter,
)
from stepsmooth.spectral.rates import SobolevRates, minimax_tau, sobolev_rates
from stepsmooth.spectral.spectrum import Spectrum, dense_spectrum, min_kernel_spectrum, min_kernel_vectors
from stepsmooth.spectral.survival import last_component, noise_ratio, step_energy, survival, tail_exponent

__all__ = [
    "ChainSpectra",
    "OneStep",
    "SobolevRates",
    "Spectrum",
    "chain_spectra",
    "dense_spectrum",
    "last_component",
    "leakage_bound",
    "markov_chains",
    "min_kernel_spectrum",
    "min_kernel_vectors",
    "minimax_tau",
    "noise_ratio",
    "one_step_mse",
    "proposition_3",
    "residual_norm",
    "sobolev_rates",
    "spectral_filter",
    "step_energy",
    "survival",
    "tail_exponent",
]
