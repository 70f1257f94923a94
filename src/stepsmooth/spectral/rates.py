"""Rates for the Sobolev-alpha kernels, whose eigenvalues fall like i^(-2 alpha)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SobolevRates:
    """Exponents of n: of the minimax tau, of the mean squared error that it gives, and of xi_n = lambda_n / tau_n."""

    tau: float
    mse: float
    xi: float


def sobolev_rates(alpha: float) -> SobolevRates:
    """Return the paper's rates: tau and MSE like n^(-2 alpha / (2 alpha + 1)), xi like n^(-4 alpha^2 / (2 alpha + 1)).

    Examples
    --------
    >>> sobolev_rates(1)
    SobolevRates(tau=-0.6666666666666666, mse=-0.6666666666666666, xi=-1.3333333333333333)
    """
    if not alpha > 0.0:
        raise ValueError(f"alpha must be above 0; found {alpha!r}.")
    rate = -2.0 * alpha / (2.0 * alpha + 1.0)
    return SobolevRates(tau=rate, mse=rate, xi=2.0 * alpha * rate)


def minimax_tau(n: int, alpha: float) -> float:
    """Return n^(-2 alpha / (2 alpha + 1)), for the matrix K/n.

    Examples
    --------
    >>> minimax_tau(1000, 1)  # n^(-2/3)
    0.010000000000000002
    """
    if n < 1:
        raise ValueError(f"n must be at least 1; found {n!r}.")
    return float(n ** sobolev_rates(alpha).tau)
