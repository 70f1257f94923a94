"""How many threads work: several on independent pieces, one where sums would depend on their number."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from numba import get_num_threads
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Done = TypeVar("Done")

# Below so many points a piece is too small: handing it to a thread takes longer.
N_THREADED = 4_000


def spread(work: Callable[[Item], Done], items: Iterable[Item], size: int) -> list[Done]:
    """Return [work(item) for item in items], each about `size` points of work.

    Examples
    --------
    >>> spread(abs, [-1, 2, -3], size=10_000)
    [1, 2, 3]
    """
    todo = list(items)
    n_threads = min(get_num_threads(), len(todo))
    if size < N_THREADED or n_threads < 2:
        return [work(item) for item in todo]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, todo))


def one_thread() -> Any:
    """Return a context with one thread: sums in BLAS depend on how many there are, and results must not."""
    return _thread_pools().limit(limits=1)


@cache
def _thread_pools() -> Any:
    return ThreadpoolController()  # finding the libraries takes milliseconds
