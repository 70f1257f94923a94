"""Tests of the tests: which lines and branches they run.

The loops that numba compiles are invisible to coverage.py, so that all tests run with `NUMBA_DISABLE_JIT=1`, as plain
Python, a hundred times slower. Each is given a few seconds, and what it ran by then counts: it is the same test that
passes, to its end, under `make test`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from .promise import Profile, Promise

ROOT = Path(__file__).parents[1]
LEAST_LINES, LEAST_BRANCHES = 95.0, 90.0
# Seconds for each test without compiled loops.
LIMIT = 3.0
# A part of the tests, for --quick.
FEW = ("tests/model", "tests/spectral", "tests/altmin")

SETTINGS = """[run]
branch = True
source = {source}
parallel = True
patch = subprocess
data_file = {data}
"""


def run(profile: Profile) -> list[Promise]:
    """Trace all tests without compiled loops."""
    tests = FEW if profile.quick else ("tests", "src")
    totals = _traced(profile, tests)
    lines = 100.0 * totals["covered_lines"] / totals["num_statements"]
    branches = 100.0 * totals["covered_branches"] / totals["num_branches"]
    of = " (of a part of the tests)" if profile.quick else ""
    return [
        Promise(
            "tests run at least 95 % of the lines",
            profile.quick or lines >= LEAST_LINES,
            f"{lines:.1f} % of {totals['num_statements']:,}{of}",
        ),
        Promise(
            "tests run at least 90 % of the branches",
            profile.quick or branches >= LEAST_BRANCHES,
            f"{branches:.1f} % of {totals['num_branches']:,}{of}",
        ),
    ]


def _traced(profile: Profile, tests: tuple[str, ...]) -> dict[str, int]:
    """Return the totals of coverage.py; the whole report goes to the folder for logs."""
    out = profile.out.resolve()
    settings, data = out / "coverage.ini", out / "coverage.data"
    for old in out.glob("coverage.data*"):
        old.unlink()
    settings.write_text(SETTINGS.format(source=ROOT / "src" / "stepsmooth", data=data))
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "STEPSMOOTH_LIMIT": str(LIMIT)}
    command = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-q"]
    logged([*command, *plugins(profile), *tests], out / "coverage.log", environment)
    for step in (
        ["combine", "-q"],
        ["json", "-q", "-o", str(out / "coverage.json")],
        ["report", "--skip-covered", "-m"],
    ):
        logged([sys.executable, "-m", "coverage", step[0], f"--rcfile={settings}", *step[1:]], out / f"{step[0]}.txt")
    totals: dict[str, int] = json.loads((out / "coverage.json").read_text())["totals"]
    return totals


def plugins(profile: Profile) -> list[str]:
    """Return options of pytest; modules stay together, so that loops are compiled, and fixtures made, once."""
    return ["-p", "no:cacheprovider", "-p", "reliability.tracing", "-n", str(profile.jobs), "--dist", "loadscope"]


def logged(command: list[str], log: Path, environment: dict[str, str] | None = None) -> int:
    """Run a command, and return how it ended; what it says goes to a file."""
    with log.open("w") as file:
        return subprocess.run(command, cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT).returncode
