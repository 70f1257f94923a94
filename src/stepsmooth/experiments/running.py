"""How experiments run their many small fits: side by side in processes, with progress, the same result either way."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from types import TracebackType
from typing import Protocol, Self, TypeVar

from stepsmooth.experiments.outcome import Row, Settings

Item = TypeVar("Item")
Result = TypeVar("Result")

SEED = 600_000  # seeds of the experiments begin here; none of them was used to tune anything


class Progress(Protocol):
    """What is told while an experiment works."""

    def begin(self, words: str, total: int) -> None:
        """Begin a part of so many steps."""

    def step(self) -> None:
        """One step is done."""


class Silence:
    """Progress that nobody watches.

    Examples
    --------
    >>> Silence().begin("anything", 3)
    """

    def begin(self, words: str, total: int) -> None:
        """Say nothing."""

    def step(self) -> None:
        """Say nothing."""


class Runner:
    """What an experiment runs in: its settings, workers and progress.

    Parameters
    ----------
    settings : Settings
    jobs : int, default 1
        Processes; 1 stays in this one. Results do not depend on it.
    progress : Progress, optional

    Examples
    --------
    >>> with Runner(Settings()) as runner:
    ...     runner.each("squares", pow, [(2, 2), (3, 2)])
    [4, 9]
    """

    def __init__(self, settings: Settings, *, jobs: int = 1, progress: Progress | None = None) -> None:
        self.settings = settings
        self.jobs = jobs
        self.progress: Progress = Silence() if progress is None else progress
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=error is None, cancel_futures=True)
            self._pool = None

    def each(self, words: str, call: Callable[..., Result], arguments: Sequence[Sequence[object]]) -> list[Result]:
        """Call a function with each of the arguments, in any order, and return what it gave in theirs.

        The function and its arguments must be picklable when there is more than one process.
        """
        self.progress.begin(words, len(arguments))
        if self.jobs == 1 or len(arguments) < 2:
            out = []
            for each in arguments:
                out.append(call(*each))
                self.progress.step()
            return out
        pool = self._workers()
        futures: dict[Future[Result], int] = {pool.submit(call, *each): i for i, each in enumerate(arguments)}
        found: dict[int, Result] = {}
        try:
            for future in as_completed(futures):
                found[futures[future]] = future.result()
                self.progress.step()
        except BaseException:
            for future in futures:
                future.cancel()
            raise
        return [found[i] for i in range(len(arguments))]

    def _workers(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # Fresh processes: threads of numba and BLAS do not survive a fork.
            self._pool = ProcessPoolExecutor(self.jobs, mp_context=get_context("spawn"), initializer=_one_thread_each)
        return self._pool


def _one_thread_each() -> None:
    """Leave the other cores to the other workers."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"


def attempt(row: Row, measure: Callable[[], Row]) -> Row:
    """Measure one row; a failure becomes the row's `error`, so that no method is dropped in silence.

    Examples
    --------
    >>> attempt({"method": "division"}, lambda: {"value": 1 / 0})
    {'method': 'division', 'error': 'ZeroDivisionError: division by zero'}
    """
    try:
        return {**row, **measure()}
    except Exception as error:
        return {**row, "error": f"{type(error).__name__}: {error}"}


def number(row: Row, column: str) -> float:
    """Return a figure of a row, NaN where it was not measured.

    Examples
    --------
    >>> number({"accuracy": 1}, "accuracy"), number({}, "accuracy")
    (1.0, nan)
    """
    value = row.get(column)
    return float(value) if isinstance(value, (int, float)) else float("nan")


def where(rows: Iterable[Row], **keys: object) -> list[Row]:
    """Return the rows that have these values.

    Examples
    --------
    >>> where([{"n": 1, "m": 2}, {"n": 2, "m": 2}], n=2)
    [{'n': 2, 'm': 2}]
    """
    return [row for row in rows if all(row.get(key) == value for key, value in keys.items())]


def mean_of(rows: Iterable[Row], column: str) -> float:
    """Return the mean of a column over the rows that have it, NaN where none has.

    Examples
    --------
    >>> mean_of([{"a": 1.0}, {"a": 3.0}, {"error": "none"}], "a")
    2.0
    """
    import numpy as np

    values = [v for v in (number(row, column) for row in rows) if np.isfinite(v)]
    return float(np.mean(values)) if values else float("nan")
