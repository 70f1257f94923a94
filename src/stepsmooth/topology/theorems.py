"""The paper's identifiability results, as functions of what they speak about.

They say what is guaranteed when the truth is known; `certify` turns them round, for data whose truth is not.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.topology.arguments import level_columns, positive
from stepsmooth.topology.modulus import as_modulus, channel_factor, level_gap, size


@dataclass(frozen=True)
class Recovery:
    """Whether the condition of Theorem 1 holds: `variation` < `allowed`.

    Attributes
    ----------
    variation : float
        omega(rho_min).
    allowed : float
        gap / (2 M).
    """

    variation: float
    allowed: float

    @property
    def holds(self) -> bool:
        """Whether every label is recovered."""
        return self.variation < self.allowed

    @property
    def margin(self) -> float:
        """What is left, as a share of what is allowed; negative if the condition fails."""
        return 1.0 - self.variation / self.allowed if self.allowed > 0.0 else -np.inf


def cluster_recovery(
    rho_min: float, levels: Anything, modulus: Anything, *, norm: Anything = 2, shared: bool = True
) -> Recovery:
    """Theorem 1: labels are recovered without error if omega(rho_min) < gap / (2 M).

    Parameters
    ----------
    rho_min : float
        The connectivity of the points, in the metric of the modulus.
    levels : (M,) or (M, p) array
        The true levels; for multiplicative data, their logs.
    modulus : float, callable, (norm of f, kernel) or Modulus
        As in :func:`as_modulus`.
    norm : 1, 2, inf or callable, default=2
        The norm of vector outputs.
    shared : bool, default=True
        For vector levels: the modulus is that of a scalar f, shared by all p channels; it counts |(1, ..., 1)| times.
        If False, it is that of a vector-valued f, in this norm.

    Returns
    -------
    Recovery

    Examples
    --------
    The paper's signal with M = 2 and beta = 1, in the metric of the min kernel: |f| = 3 pi sqrt(2) / 4.

    >>> R = 0.75 * np.sqrt(2) * np.pi
    >>> cluster_recovery(200**-0.5, [-0.5, 0.5], R).holds, cluster_recovery(150**-0.5, [-0.5, 0.5], R).holds
    (True, False)
    """
    mu = level_columns(levels)
    factor = channel_factor(mu.shape[1], norm) if shared else 1.0
    variation = factor * float(as_modulus(modulus)(positive("rho_min", rho_min, zero=True))[0])
    return Recovery(variation, level_gap(mu, norm=norm) / (2 * len(mu)))


def level_bound(
    label_distance: float,
    n_levels: int,
    modulus: Anything,
    *,
    mean: Anything = 0.0,
    prescribed: Anything = 0.0,
    norm: Anything = 2,
) -> float:
    """Proposition 2: levels are recovered to within 2 (M - 1) omega(delta_lbl) + |mean of f - prescribed mean|.

    It holds where Theorem 1 does.

    Parameters
    ----------
    label_distance : float
        delta_lbl, in the metric of the modulus.
    n_levels : int
        M.
    modulus : float, callable, (norm of f, kernel) or Modulus
        As in :func:`as_modulus`; that of the vector-valued f in `norm`, if `mean` is a vector.
    mean : float or (p,) array, default=0.0
        Mean of the true f over the points.
    prescribed : float or (p,) array, default=0.0
        The mean that the fit was given; 0 is the zero-mean version.
    norm : 1, 2, inf or callable, default=2

    Returns
    -------
    float

    Examples
    --------
    >>> level_bound(0.01, 3, modulus=2.0, mean=0.5, prescribed=0.25)
    0.33
    """
    if n_levels < 1:
        raise ValueError(f"n_levels must be at least 1; found {n_levels!r}.")
    remainder = np.atleast_1d(np.asarray(mean, dtype=np.float64) - np.asarray(prescribed, dtype=np.float64))
    variation = float(as_modulus(modulus)(positive("label_distance", label_distance, zero=True))[0])
    return 2.0 * (n_levels - 1) * variation + float(size(remainder[None, :], norm)[0])


@dataclass(frozen=True)
class Limit:
    """What Corollary 1 asks of a sequence of samples, at each of them.

    Attributes
    ----------
    recovered : (N,) array of bool
        Whether Theorem 1 holds.
    recovered_from : int or None
        The first sample from which on it holds at all that were given.
    products : (N,) array
        M_n omega(delta_n), which must go to 0.
    bounds : (N,) array
        The bound of Proposition 2, which then goes to 0 too.
    rate : float
        Slope of log(products) over log(n): the condition asks for a sequence that falls for ever, of which finitely
        many terms show only the rate.
    """

    recovered: Anything
    recovered_from: int | None
    products: Floats
    bounds: Floats
    rate: float


def limit_of_recovery(
    n: Anything,
    rho_min: Anything,
    label_distance: Anything,
    gap: Anything,
    n_levels: Anything,
    modulus: Anything,
    *,
    mean: Anything = 0.0,
) -> Limit:
    """Corollary 1: levels converge if Theorem 1 holds eventually, M_n omega(delta_n) -> 0 and the mean of f -> 0.

    Parameters
    ----------
    n : (N,) array
        Sizes of the samples, ascending.
    rho_min, label_distance, gap, mean : (N,) arrays or numbers
        Connectivity, label distance, least distance of levels and mean of f of each sample.
    n_levels : (N,) array or int
        M_n: bounded, or growing with n.
    modulus : float, callable, (norm of f, kernel) or Modulus

    Returns
    -------
    Limit

    Examples
    --------
    A Lipschitz f at n equispaced points, with M_n growing like the cube root of n:

    >>> n = np.array([100, 1000, 10000, 100000])
    >>> found = limit_of_recovery(n, 1 / n, 1 / n, 1.0, np.ceil(n ** (1 / 3)), 5.0)
    >>> found.recovered.tolist(), round(found.rate, 2)
    ([True, True, True, True], -0.67)
    """
    sizes = np.asarray(n, dtype=np.float64)
    if sizes.ndim != 1 or len(sizes) < 2 or np.any(np.diff(sizes) <= 0.0):
        raise ValueError("n must hold at least two sizes in ascending order.")
    rho, delta, gaps, levels, means = (
        np.broadcast_to(np.asarray(v, dtype=np.float64), sizes.shape)
        for v in (rho_min, label_distance, gap, n_levels, mean)
    )
    omega = as_modulus(modulus)
    recovered = omega(rho) < gaps / (2.0 * levels)
    missed = np.flatnonzero(~recovered)
    start = 0 if len(missed) == 0 else int(missed[-1]) + 1
    products = levels * omega(delta)
    with np.errstate(divide="ignore"):
        rate = float(np.polyfit(np.log(sizes), np.log(products), 1)[0]) if np.all(products > 0) else -np.inf
    return Limit(
        recovered=recovered,
        recovered_from=start if start < len(sizes) else None,
        products=products,
        bounds=2.0 * (levels - 1.0) * omega(delta) + np.abs(means),
        rate=rate,
    )


def sample_size(rho_of: Callable[[int], float], levels: Anything, modulus: Anything, *, norm: Anything = 2) -> int:
    """Return the least n at which Theorem 1 holds, for a connectivity that falls with n.

    Parameters
    ----------
    rho_of : callable
        The connectivity of n points, in the metric of the modulus.
    levels, modulus, norm
        As in :func:`cluster_recovery`.

    Examples
    --------
    The paper's four signals with its bound on the modulus, 3 sqrt(2) pi beta / (4 sqrt(n)):

    >>> for M, beta in ((2, 1), (2, 2), (3, 2), (3, 3)):
    ...     R = 0.75 * np.sqrt(2) * np.pi * beta
    ...     print(sample_size(lambda n: n**-0.5, np.arange(M), R), end=" ")
    178 711 1599 3598
    """
    high = 2
    while not cluster_recovery(rho_of(high), levels, modulus, norm=norm).holds:
        high *= 2
        if high > 2**60:
            raise ValueError("rho_of must fall so far that Theorem 1 holds; it does not within 2^60 points.")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if cluster_recovery(rho_of(middle), levels, modulus, norm=norm).holds:
            high = middle
        else:
            low = middle
    return high
