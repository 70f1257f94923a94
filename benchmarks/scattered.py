"""Scattered points in three dimensions: the low-rank smoother at 100,000 points, and its error against dense.

f is a Matern smoother (nu = 3/2) on uniform points of the unit cube. Seconds are of making the smoother,
which chooses the landmarks, and of one solve; peak memory is taken in a fresh process. The last of the large
rows is a whole AltMin fit with three levels at a given tau.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from . import fresh
from .harness import SEED, Row, Settings, attempt, best_of, find, growth_exponent, quotient
from .tables import Claim, Result

TAU = 1e-3
RANK = 500
SMALL = 1_500  # points of the comparison with dense
CASE = "benchmarks.scattered:case"


def kernel() -> Any:
    """Give the kernel of every row."""
    from sklearn.gaussian_process.kernels import Matern

    return Matern(0.5, nu=1.5)


def problem(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and a residual: a wave in space and noise."""
    rng = np.random.default_rng(SEED + 3)
    X = rng.uniform(size=(n, 3))
    return X, np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1] + X[:, 2]) + 0.3 * rng.normal(size=n)


def case(n: int, rank: int) -> Callable[[], np.ndarray]:
    """Make the data; the call makes the smoother and solves once."""
    from stepsmooth.points import NystroemSmoother

    X, r = problem(n)
    return lambda: NystroemSmoother(X, kernel=kernel(), rank=rank).solve(r, TAU)


def large(n: int, settings: Settings) -> Row:
    """Time one size and take its memory."""
    from stepsmooth.points import NystroemSmoother

    X, r = problem(n)
    made = best_of(lambda _: NystroemSmoother(X, kernel=kernel(), rank=RANK), repeat=1, warm=False)
    smoother = made.last
    solved = best_of(lambda k: smoother.solve(r, TAU * (1 + 1e-4 * k)), repeat=settings.repeat, budget=5.0)
    arguments = {"n": n, "rank": RANK}
    apart = fresh.run(CASE, arguments, small={"n": 1_000, "rank": 20}, threads=settings.threads)
    return {
        "seconds": made.seconds + solved.seconds,
        "solve_s": solved.seconds,
        "trace_missed": smoother.missed,
        "peak_mb": apart.peak_mb,
        "bytes_per_point": apart.peak_mb * 2**20 / n,
    }


def altmin(n: int) -> Row:
    """Fit three levels and the same kernel, once."""
    from stepsmooth import StepSmooth
    from stepsmooth.metrics import label_accuracy

    X, wave = problem(n)
    labels = np.random.default_rng(SEED + 4).integers(3, size=n)
    model = StepSmooth(3, kernel=kernel(), tau=TAU, solver="altmin", start="smooth", rank=RANK)
    fitted = best_of(lambda _: model.fit(X, 2.0 * labels + wave), repeat=1, warm=False)
    return {
        "seconds": fitted.seconds,
        "iterations": model.n_iter_,
        "converged": model.converged_,
        "accuracy": label_accuracy(labels, model.labels_),
    }


def against_dense(rank: int, reference: np.ndarray) -> Row:
    """Error of one rank relative to the size of the dense answer."""
    f = case(SMALL, rank)()
    return {"relative_error": float(np.linalg.norm(f - reference) / np.linalg.norm(reference))}


def run(settings: Settings) -> Result:
    """Time the large sets, then compare ranks on a small one."""
    from stepsmooth.points import DenseSmoother

    sizes = (2_000, 8_000) if settings.quick else (25_000, 100_000)
    rows: list[Row] = []
    for n in sizes:
        settings.say(f"n={n:,}, rank {RANK}")
        rows.append(attempt({"what": "smoother", "n": n, "rank": RANK}, partial(large, n, settings)))
    settings.say(f"n={sizes[-1]:,}, rank {RANK}: AltMin")
    rows.append(attempt({"what": "AltMin", "n": sizes[-1], "rank": RANK}, partial(altmin, sizes[-1])))
    memory = growth_exponent(sizes, [find(rows, "peak_mb", n=n) for n in sizes])
    X, r = problem(SMALL)
    settings.say(f"n={SMALL:,}: dense, then by rank")
    reference = DenseSmoother(X, kernel=kernel()).solve(r, TAU)
    ranks = (25, 50, 100, 200, 400, 800, SMALL)
    for rank in ranks:
        rows.append(attempt({"what": "smoother", "n": SMALL, "rank": rank}, partial(against_dense, rank, reference)))
    errors = [find(rows, "relative_error", n=SMALL, rank=rank) for rank in ranks]
    steps = [quotient(later, earlier) for earlier, later in pairwise(errors)]
    worst = None if None in steps else max(s for s in steps if s is not None)
    claims = [
        *(
            Claim(
                f"{sizes[-1]:,} points in 3-D, {what}: seconds",
                find(rows, "seconds", what=what, n=sizes[-1]),
                180.0,
                "at most",
            )
            for what in ("smoother", "AltMin")
        ),
        Claim(f"growth exponent of memory, {sizes[0]:,} to {sizes[-1]:,}", memory, 1.1, "at most"),
        Claim("error at full rank, relative to dense", errors[-1], 1e-8, "at most"),
        Claim("error at a rank over the error at the rank before, largest", worst, 1.0, "at most"),
    ]
    return Result(rows, claims)
