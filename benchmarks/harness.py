"""How times are taken: the same threads for all, a warm-up apart, best of k, failures kept as rows."""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, object]

SEED = 900_000  # seeds of the benchmarks begin here; none of them was used to tune anything
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def _silent(_: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Settings:
    """What a run was asked to do; every benchmark gets the same."""

    quick: bool = False
    threads: int = 1
    repeat: int = 5
    jobs: int = 1  # processes for accuracy rows, never for timed ones
    say: Callable[[str], None] = _silent
    cases: tuple[str, ...] = ()  # of a benchmark made of cases: which to run; none named means all
    datasets: int | None = None  # datasets a cell of accuracy rows; None means the benchmark's own number
    methods: tuple[str, ...] = ()  # parts of the names of the methods to run; none named means all
    journal: Path | None = None  # where scores of single datasets are kept as they come


@dataclass(frozen=True)
class Timing:
    """Seconds per call."""

    seconds: float  # best repetition
    median: float
    first: float | None  # the warm-up call: compiling, loading compiled code, filling caches
    repeats: int
    calls: int  # calls per repetition, so that a repetition is long enough for the clock
    last: Any  # what the last call returned, so that a slow call need not be made again

    def columns(self) -> Row:
        """Give the figures as columns of a table."""
        return {
            "seconds": self.seconds,
            "median_s": self.median,
            "first_call_s": self.first,
            "best_of": self.repeats,
        }


def best_of(
    call: Callable[[int], object],
    *,
    repeat: int = 5,
    warm: bool = True,
    least: float = 0.02,
    budget: float = 20.0,
) -> Timing:
    """Time a call: a warm-up, then the best of `repeat` repetitions.

    The call gets a number that never repeats, so that it can avoid what an earlier call has cached.
    Repetitions end early when `budget` seconds are spent; one at least is taken, and their number is kept.
    """
    number, last = 0, None

    def once(calls: int) -> float:
        nonlocal number, last
        start = time.perf_counter()
        for _ in range(calls):
            last = call(number)
            number += 1
        return (time.perf_counter() - start) / calls

    begin = time.perf_counter()
    first = once(1) if warm else None
    taken = [once(1)]
    calls = max(1, math.ceil(least / max(taken[0], 1e-9))) if taken[0] < least else 1
    if calls > 1:
        taken = [once(calls)]
    while len(taken) < repeat and time.perf_counter() - begin < budget:
        taken.append(once(calls))
    return Timing(min(taken), statistics.median(taken), first, len(taken), calls, last)


@contextmanager
def same_threads(threads: int) -> Iterator[None]:
    """Limit linear algebra, OpenMP and numba to the same number of threads, for us and for peers alike."""
    import numba
    import numpy  # noqa: F401  # a library that is not loaded yet cannot be limited
    import scipy.linalg  # noqa: F401
    import sklearn.cluster  # noqa: F401
    from threadpoolctl import threadpool_limits

    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    try:
        with threadpool_limits(threads):
            yield
    finally:
        numba.set_num_threads(before)


def thread_environment(threads: int) -> dict[str, str]:
    """Give the environment of a fresh process with the same limits."""
    return {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}


def attempt(row: Mapping[str, object], measure: Callable[[], Mapping[str, object]]) -> Row:
    """Measure one row; a failure becomes the row's `error`, so that no method is dropped in silence."""
    try:
        return {**row, **measure()}
    except Exception as error:
        return {**row, "error": f"{type(error).__name__}: {error}"}


def find(rows: Sequence[Row], column: str, **keys: object) -> float | None:
    """Give one figure of a table, or None when it was not measured."""
    for row in rows:
        if all(row.get(k) == v for k, v in keys.items()):
            value = row.get(column)
            if isinstance(value, (int, float)) and math.isfinite(value):
                return float(value)
    return None


def quotient(numerator: float | None, denominator: float | None) -> float | None:
    """Divide, or give None when either is missing."""
    return None if numerator is None or not denominator else numerator / denominator


def growth_exponent(sizes: Sequence[float], values: Sequence[float | None]) -> float | None:
    """Slope of log(value) against log(size) by least squares; None with fewer than two values."""
    pairs = [(math.log(s), math.log(v)) for s, v in zip(sizes, values) if v is not None and v > 0]
    if len(pairs) < 2:
        return None
    return statistics.linear_regression([p[0] for p in pairs], [p[1] for p in pairs]).slope
