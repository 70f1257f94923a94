"""Exact k-means on a line: ours against ckwrap (exact too) and scikit-learn (Lloyd, 10 starts)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .harness import SEED, Row, Settings, attempt, best_of, find, quotient
from .limit import beside_limit, speed_note
from .tables import Claim, Result

OURS, CKWRAP, SKLEARN = "stepsmooth", "ckwrap", "sklearn KMeans"


def values(n: int) -> np.ndarray:
    """Observations of the paper's model with noise, in the order of x."""
    from stepsmooth.datasets import make_sine_steps

    return make_sine_steps(n, 3, 3, noise_variance=0.05, random_state=SEED + 1).y


def cost(y: np.ndarray, labels: np.ndarray) -> float:
    """Sum of squares within clusters, computed in one way for all."""
    total = 0.0
    for k in np.unique(labels):
        own = y[labels == k]
        total += float(np.sum((own - own.mean()) ** 2))
    return total


def methods(y: np.ndarray, n_levels: int) -> dict[str, Callable[[], np.ndarray]]:
    """Name each way to the labels."""
    from stepsmooth import peers

    def ours() -> np.ndarray:
        from stepsmooth.model.kmeans import kmeans_1d

        return kmeans_1d(y, n_levels)[1]

    return {
        OURS: ours,
        CKWRAP: lambda: peers.kmeans_ckwrap(y, n_levels)[0],
        SKLEARN: lambda: peers.kmeans_sklearn(y, n_levels)[0],
    }


def timed(y: np.ndarray, labels_of: Callable[[], np.ndarray], settings: Settings) -> Row:
    """Time one method and score its clusters."""
    timing = best_of(lambda _: labels_of(), repeat=settings.repeat, budget=6.0)
    return {**timing.columns(), "cost": cost(y, timing.last)}


def run(settings: Settings) -> Result:
    """Time and score every method at every size."""
    rows: list[Row] = []
    for n in (1_000, 10_000) if settings.quick else (10_000, 100_000, 1_000_000):
        y = values(n)
        for n_levels in (3, 8):
            block = []
            for name, labels_of in methods(y, n_levels).items():
                settings.say(f"n={n:,}, {n_levels} levels: {name}")
                keys = {"n": n, "levels": n_levels, "method": name}
                block.append(attempt(keys, partial(timed, y, labels_of, settings)))
            for row in block:
                row["ratio"] = quotient(find([row], "seconds"), find(block, "seconds", method=OURS))
                lowest = find(block, "cost", method=OURS)
                row["excess_cost"] = None if lowest is None else quotient(find([row], "cost"), lowest)
                if isinstance(row["excess_cost"], float):
                    row["excess_cost"] -= 1.0
            rows += [beside_limit(row, 16.0 * n, settings.threads) for row in block]  # values in, labels out
    excess = [find([r], "excess_cost") for r in rows if r["method"] != OURS]
    ratios = {m: [find([r], "ratio") for r in rows if r["method"] == m] for m in (CKWRAP, SKLEARN)}
    claims = [
        Claim("cost of any peer over ours, least relative excess", least(excess), -1e-9),
        Claim("ckwrap's cost over ours, largest relative excess", most(rows), 1e-9, "at most"),
        Claim("ckwrap / ours, seconds, least over sizes", least(ratios[CKWRAP]), 1.0),
        Claim("sklearn KMeans / ours, seconds, least over sizes", least(ratios[SKLEARN]), 1.0),
    ]
    columns = (
        "n", "levels", "method", "seconds", "ratio", "limit_s", "times_limit", "excess_cost", "first_call_s",
    )  # fmt: skip
    return Result(rows, claims, [speed_note(settings.threads)], columns)


def least(values: list[float | None]) -> float | None:
    """Smallest figure; None if any is missing."""
    return None if not values or None in values else min(v for v in values if v is not None)


def most(rows: list[Row]) -> float | None:
    """Largest excess of ckwrap; None if any is missing."""
    found = [find([r], "excess_cost") for r in rows if r["method"] == CKWRAP]
    return None if not found or None in found else max(v for v in found if v is not None)
