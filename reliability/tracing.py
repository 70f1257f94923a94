"""A pytest plugin: name each test to coverage.py, give up a test that takes too long, run tests in a random order.

Loaded with `-p reliability.tracing`; the environment says what it does. `STEPSMOOTH_LIMIT`: the CPU seconds of a test,
at which it is skipped (what it ran so far still counts as run). `STEPSMOOTH_SHUFFLE`: a seed. `STEPSMOOTH_DURATIONS`: a
file for the CPU seconds of each test that passed, as JSON lines.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Generator
from pathlib import Path

import pytest

LIMIT = float(os.environ.get("STEPSMOOTH_LIMIT", "0"))
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

    def stop(*_: object) -> None:
        pytest.skip(f"given up after {LIMIT:g} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)  # 0 is never
    began = time.process_time()
    try:
        result = yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
    if DURATIONS:
        with Path(DURATIONS).open("a") as file:
            file.write(json.dumps([item.nodeid, time.process_time() - began]) + "\n")
    return result
