"""The limit: how long it takes to read what a method must read and to write what it must give, at memory speed.

No method can be faster than that, so that it says how much is left to win. Measured in the same run: machines differ,
and so do their good days.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from .harness import Row, find

BYTES = 1 << 27  # larger than any cache
REPEAT = 7


@cache
def memory_speed(threads: int) -> float:
    """Bytes read and written a second, by copying with so many threads: the best of a few copies."""
    source = np.ones(BYTES // 8)
    target = np.zeros_like(source)
    parts = [(a, b) for a, b in zip(np.array_split(source, threads), np.array_split(target, threads))]
    seconds = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(REPEAT):
            start = time.perf_counter()
            list(pool.map(lambda part: np.copyto(part[1], part[0]), parts))
            seconds.append(time.perf_counter() - start)
    return 2.0 * BYTES / min(seconds)


def beside_limit(row: Row, moved: float, threads: int) -> Row:
    """Give a row with the limit for so many bytes beside its seconds."""
    limit = moved / memory_speed(threads)
    seconds = find([row], "seconds")
    return {**row, "limit_s": limit, "times_limit": None if seconds is None else seconds / limit}


def speed_note(threads: int) -> str:
    """Say what the limit is made of."""
    return (
        f"limit_s: what must be read and written, once, at {memory_speed(threads) / 1e9:.1f} GB/s "
        f"(copying with {threads} thread(s), this run); times_limit: seconds in units of it."
    )
