"""One smoother solve: the O(n) paths against dense Cholesky, KernelRidge, SciPy's spline and csaps.

Every repetition has a tau of its own, so no method reuses a factorisation; what ours saves when tau stays (as
in AltMin) is a row of its own. Dense methods are given their Gram matrix, so that only factorisation and
solve are timed, and the better of one thread and all of them: on a busy machine more threads can be slower.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from .harness import SEED, Row, Settings, attempt, best_of, find, quotient
from .limit import beside_limit, speed_note
from .tables import Claim, Result

Solve = Callable[[float], np.ndarray]

TAU = {1: 1e-4, 2: 1e-8}  # about 50 and 35 effective degrees of freedom, whatever n
SPACE = {1: "min kernel", 2: "cubic spline"}
OURS, SAME_TAU = "stepsmooth", "stepsmooth, tau as before"
CHOLESKY, RIDGE, CHOLESKY_SPLINE = "dense Cholesky", "sklearn KernelRidge", "dense Cholesky, spline"
SCIPY, CSAPS = "scipy make_smoothing_spline", "csaps"
DENSE = (CHOLESKY, RIDGE, CHOLESKY_SPLINE)
DENSE_LIMIT = 10_000  # a Gram matrix of 0.8 GB
TARGETS = {1_000: 500.0, 10_000: 2e4}


def problem(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and a residual: a wave and noise."""
    x = np.arange(1, n + 1) / n
    noise = np.random.default_rng(SEED + n).normal(size=n)
    return x, 0.75 * np.sin(6 * np.pi * x) + 0.3 * noise


def methods(n: int, order: int) -> dict[str, Callable[[], Solve]]:
    """Name each way to solve the same problem; calling it prepares what is not timed."""
    from stepsmooth import peers

    x, r = problem(n)

    def ours() -> Solve:
        from stepsmooth.line import LineSmoother

        smoother = LineSmoother(x, order=order)
        return lambda tau: smoother.solve(r, tau)

    def with_gram(solve: Callable[..., np.ndarray]) -> Callable[[], Solve]:
        def prepare() -> Solve:
            gram = peers.min_gram(x)
            return lambda tau: solve(gram, r, tau)

        return prepare

    out: dict[str, Callable[[], Solve]] = {OURS: ours}
    if order == 1 and n <= DENSE_LIMIT:
        out[CHOLESKY] = with_gram(peers.ridge_cholesky)
        out[RIDGE] = with_gram(peers.ridge_sklearn)
    if order == 2:
        out[SCIPY] = lambda: lambda tau: peers.spline_scipy(x, r, tau)
        out[CSAPS] = lambda: lambda tau: peers.spline_csaps(x, r, tau)
        if n <= 1_000:
            out[CHOLESKY_SPLINE] = lambda: lambda tau: peers.spline_dense(x, r, tau)
    return out


def timed(name: str, n: int, order: int, settings: Settings) -> Row:
    """Time one method and compare its last answer with ours at the same tau."""
    prepared = methods(n, order)
    solve = prepared[name]()

    def call(k: int) -> tuple[float, np.ndarray]:
        tau = TAU[order] * (1 + 1e-4 * k)
        return tau, solve(tau)

    warm = name not in DENSE or n < DENSE_LIMIT  # a large dense solve has been warmed by the small one
    timings = {}
    for threads in sorted({1, settings.threads}) if name in DENSE else [settings.threads]:
        with threadpool_limits(threads):
            timings[threads] = best_of(call, repeat=settings.repeat, budget=6.0, warm=warm)
    threads = min(timings, key=lambda t: timings[t].seconds)
    tau, answer = timings[threads].last
    differences: Row = {"max_difference": np.abs(answer - prepared[OURS]()(tau)).max()}
    if order == 2 and n > DENSE_LIMIT:
        centers, means = binned(n, tau)
        differences["from_bins"] = np.abs(np.interp(centers, problem(n)[0], answer) - means).max()
    return {**timings[threads].columns(), "threads": threads, **differences}


def binned(n: int, tau: float, bins: int = 1_000) -> tuple[np.ndarray, np.ndarray]:
    """Smooth means of bins much shorter than the spline's reach: a referee where long splines lose digits."""
    from stepsmooth import peers

    x, r = (v.reshape(bins, -1).mean(axis=1) for v in problem(n))
    return x, peers.spline_dense(x, r, tau, weights=np.full(bins, n / bins))


def same_tau(n: int, order: int, settings: Settings) -> Row:
    """Time ours when tau stays as it was."""
    solve = methods(n, order)[OURS]()
    return best_of(lambda _: solve(TAU[order]), repeat=settings.repeat).columns()


def gram_time(n: int) -> float:
    """Seconds to fill the Gram matrix that dense methods are given."""
    from stepsmooth import peers

    x, _ = problem(n)
    return best_of(lambda _: peers.min_gram(x), repeat=2, budget=2.0, warm=False).seconds


def at_size(n: int, order: int, settings: Settings) -> list[Row]:
    """Rows of one size and space; ratios are to ours in this run."""
    rows: list[Row] = []
    for name in methods(n, order):
        settings.say(f"{SPACE[order]}, n={n:,}: {name}")
        keys: Row = {"space": SPACE[order], "n": n, "method": name}
        rows.append(attempt(keys, partial(timed, name, n, order, settings)))
        if name == OURS:
            rows.append(attempt({**keys, "method": SAME_TAU}, partial(same_tau, n, order, settings)))
    ours = find(rows, "seconds", method=OURS)
    gram = gram_time(n) if any(r["method"] in (CHOLESKY, RIDGE) for r in rows) else None
    for row in rows:
        row["ratio"] = quotient(find([row], "seconds"), ours)
        row["gram_s"] = gram if row["method"] in (CHOLESKY, RIDGE) else None  # not part of `seconds`
    return [beside_limit(row, 24.0 * n, settings.threads) for row in rows]  # points and residual in, f out


def run(settings: Settings) -> Result:
    """Time every method at every size."""
    rows: list[Row] = []
    sizes = (1_000, 4_000) if settings.quick else (1_000, 10_000, 1_000_000)
    for n in sizes:
        for order in (1, 2):
            rows += at_size(n, order, settings)
    claims = [
        Claim(f"{CHOLESKY} / ours, min kernel, n={n:,}", find(rows, "ratio", n=n, method=CHOLESKY), target)
        for n, target in TARGETS.items()
    ]
    claims += [
        Claim(f"{peer} / ours, n={n:,}", find(rows, "ratio", n=n, method=peer), 1.0)
        for peer in (RIDGE, SCIPY, CSAPS)
        for n in sizes
        if any(r["n"] == n and r["method"] == peer for r in rows)
    ]
    columns = (
        "space",
        "n",
        "method",
        "seconds",
        "ratio",
        "limit_s",
        "times_limit",
        "first_call_s",
        "best_of",
        "threads",
        "max_difference",
        "from_bins",
        "gram_s",
    )
    notes = [
        "max_difference: from ours at the same tau. from_bins: from a dense spline on 1,000 bin means, "
        "which approximates the same smooth part: where it is large, that method has lost digits.",
        speed_note(settings.threads),
    ]
    return Result(rows, claims, notes, columns)
