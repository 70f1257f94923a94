"""Fresh processes without the wait: libraries are imported once, each run of tests is a fork that has not seen ours.

Run as `python -m reliability.nursery` in the folder of the tests: each line of JSON that it reads, [CPU seconds, tests]
(a list), runs those tests in a child of its own, and one line comes back: "passed", "failed" or "late".
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time

import numba  # noqa: F401
import pytest
import scipy.linalg
import scipy.optimize
import scipy.sparse
import scipy.stats  # noqa: F401
import sklearn.cluster
import sklearn.gaussian_process
import sklearn.utils.estimator_checks  # noqa: F401

# A test that waits takes no CPU time: in all, a run may take so many times as long as its CPU time.
PATIENCE = 20.0
# An error may ask for an array of any size: here that is a MemoryError, and leaves the machine alone.
MEMORY = 8 << 30


def main() -> None:
    """Answer every line until there are no more."""
    for line in sys.stdin:
        seconds, tests = json.loads(line)
        child = os.fork()
        if child == 0:
            # CPU time does not depend on what else the machine does.
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            _run(tests)
        print(_wait(child, PATIENCE * seconds), flush=True)


def _run(tests: list[str]) -> None:
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    code = 3
    try:
        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests]))
    finally:
        os._exit(code)


def _wait(child: int, seconds: float) -> str:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            # A module that cannot be imported any more ends the collection, which is no less a failure.
            known = {0: "passed", 1: "failed", 2: "failed"}
            return "failed" if code < 0 else known.get(code, f"ended with code {code}")
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "late"


if __name__ == "__main__":
    main()
