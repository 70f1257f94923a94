"""A pytest plugin: name each test to coverage.py, give up a test that takes too long, run tests in a random order.

Loaded with `-p reliability.tracing`; the environment says what it does. `STEPSMOOTH_LIMIT`: the CPU seconds of a test,
at which it is skipped (what it ran so far still counts as run); it may wait twenty times as long for other processes.
`STEPSMOOTH_SHUFFLE`: a seed. `STEPSMOOTH_DURATIONS`: a file for the CPU seconds of each test that passed (JSON lines).
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Generator
from pathlib import Path
from types import FrameType

import pytest

LIMIT = float(os.environ.get("STEPSMOOTH_LIMIT", "0"))
TIMERS = (signal.ITIMER_VIRTUAL, signal.ITIMER_REAL)
WAIT = 20.0  # so many times as long a test may wait for processes that it has started
AGAIN = 0.01  # seconds until a test that could not be given up is tried again
SHUFFLE = os.environ.get("STEPSMOOTH_SHUFFLE")
DURATIONS = os.environ.get("STEPSMOOTH_DURATIONS")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle files, and the tests within each: fixtures of a file are still made once."""
    if SHUFFLE is None:
        return
    order = random.Random(int(SHUFFLE))
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.split("::")[0], []).append(item)
    names = list(files)
    order.shuffle(names)
    for name in names:
        order.shuffle(files[name])
    items[:] = [item for name in names for item in files[name]]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Tell coverage.py which test runs."""
    try:
        import coverage

        running = coverage.Coverage.current()
    except ImportError:
        running = None
    if running is not None:
        running.switch_context(item.nodeid)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Stop a test at its limit, and write down how long it took. A skip is not looked into by hypothesis."""

    def stop(_: int, frame: FrameType | None) -> None:
        if _busy(frame):
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
            return
        pytest.skip(f"given up after {LIMIT:g} s")

    before = [signal.signal(number, stop) for number in (signal.SIGVTALRM, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)  # 0 is never
    signal.setitimer(signal.ITIMER_REAL, WAIT * LIMIT)  # for a test that waits for a process of its own
    began = time.process_time()
    try:
        result = yield
    finally:
        for timer, number, handler in zip(TIMERS, (signal.SIGVTALRM, signal.SIGALRM), before):
            signal.setitimer(timer, 0.0)
            signal.signal(number, handler)
    if DURATIONS:
        with Path(DURATIONS).open("a") as file:
            file.write(json.dumps([item.nodeid, time.process_time() - began]) + "\n")
    return result


def _busy(frame: FrameType | None) -> bool:
    """Whether coverage.py or numba's compiler is at work: an exception would leave a lock or a loop half made."""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.parent.name == "coverage":
            # coverage.py has started pytest: that is far down, and holds no lock.
            return path.stem not in ("cmdline", "execfile", "__main__")
        if "numba" in path.parts:
            return True
        frame = frame.f_back
    return False
