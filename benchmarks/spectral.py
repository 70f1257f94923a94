"""Survival functions and residual norms of Markov chains: the fast transform against the dense one, time and memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from . import fresh
from .harness import SEED, Row, Settings, attempt, best_of, find, quotient
from .tables import Claim, Result

OURS, DENSE = "closed form", "dense"
SWITCHING = tuple(k / 10 for k in range(1, 11))
SECONDS = 30.0  # for the paper's figure


@lru_cache
def spectrum(method: str, n: int):  # type: ignore[no-untyped-def]
    """Give the spectrum of the min kernel at n equispaced points; kept, so that chains alone are timed."""
    from stepsmooth.model import MinKernel
    from stepsmooth.spectral import dense_spectrum, min_kernel_spectrum

    return min_kernel_spectrum(n) if method == OURS else dense_spectrum(MinKernel(), np.arange(1, n + 1)[:, None] / n)


def curves(method: str, n: int, chains: int, seed: int = SEED) -> np.ndarray:
    """Give median survival functions at all switching probabilities, and residual norms at tau = sqrt(lambda_n)."""
    from stepsmooth.spectral import chain_spectra

    own = spectrum(method, n)
    tau = float(np.sqrt(own.eigenvalues[-1]))
    found = [chain_spectra(own, p, tau, chains=chains, random_state=seed) for p in SWITCHING]
    return np.array([np.append(one.survival[1], one.residual[1]) for one in found])


def memory_case(method: str, n: int, chains: int) -> Callable[[], object]:
    """Give the call whose memory is measured."""
    return lambda: curves(method, n, chains)


def run(settings: Settings) -> Result:
    """Time the paper's figure, and the dense way on fewer chains."""
    n, many, few = (200, 200, 100) if settings.quick else (1000, 10_000, 1000)
    rows = [measured(method, n, chains, settings) for method, chains in ((OURS, many), (OURS, few), (DENSE, few))]
    fast, slow = (curves(method, n, few) for method in (OURS, DENSE))
    rows[2]["difference"] = float(np.abs(fast - slow).max())
    rows[2]["ratio"] = quotient(find([rows[2]], "seconds"), find([rows[1]], "seconds"))
    claims = [
        Claim(f"{len(SWITCHING)} x {many:,} chains at n={n:,}, seconds", find(rows, "seconds"), SECONDS, "at most"),
        Claim("fast and dense curves, largest difference", find([rows[2]], "difference"), 1e-6, "at most"),
    ]
    return Result(rows, claims, columns=("method", "n", "chains", "seconds", "ratio", "difference", "peak_mb"))


def measured(method: str, n: int, chains: int, settings: Settings) -> Row:
    """Time all switching probabilities once or more, and weigh them."""
    settings.say(f"{method}, {len(SWITCHING)} x {chains:,} chains, n={n:,}")
    spectrum(method, n)

    def measure() -> Row:
        timing = best_of(lambda i: curves(method, n, chains, SEED + i), repeat=min(settings.repeat, 3), warm=False)
        peak = fresh.run(
            "benchmarks.spectral:memory_case",
            {"method": method, "n": n, "chains": chains},
            small={"method": method, "n": 20, "chains": 10},
            threads=settings.threads,
            import_name="stepsmooth.spectral",
        ).peak_mb
        return {**timing.columns(), "peak_mb": peak}

    return attempt({"method": method, "n": n, "chains": len(SWITCHING) * chains}, measure)
