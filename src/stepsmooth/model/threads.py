"""Independent pieces of work on several threads; what they return does not depend on how many there are."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from numba import get_num_threads

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
