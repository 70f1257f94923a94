"""Tests of the tests: of errors put into the numerics at random, how many some test notices.

Each mutant is one small error (see `mutation`) in a copy of the project. The tests that run the line it is in, by a
traced run of all, are run on it in a fresh process, short ones first, until one fails; for a line that numba compiles,
those of its folder. A mutant that makes tests take three times as long as they should counts as noticed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from coverage import CoverageData

from .coverage import SETTINGS
from .mutation import Mutant, mutants_of
from .promise import Profile, Promise

ROOT = Path(__file__).parents[1]
FOLDERS = ("model", "altmin", "line", "points", "grid", "topology", "spectral")
# Tests that are asked besides those of the folders and the examples in docstrings: fits from end to end.
ALSO = tuple(
    f"estimators/test_{name}.py"
    for name in ("joint", "fitting", "weights", "prediction", "uncertainty", "certificate", "grid_step_smooth")
)
# Compiles what most tests need, so that none of them seems long for that.
WARMING = """
import numpy as np
from stepsmooth import GridStepSmooth, StepSmooth
x, z = np.arange(60.0), np.arange(60) % 2
for kernel in ("spline", "min"):
    StepSmooth(2, kernel=kernel).fit(x[:, None], np.sin(x / 9.0) + 3.0 * z).certificate()
image = 1.0 + np.kron(np.eye(6), np.ones((4, 4))) + 0.05 * np.random.default_rng(0).normal(size=(24, 24))
GridStepSmooth(2, label_prior="potts").fit(image).certificate()
"""
N_MUTANTS = 300
LEAST_SCORE = 0.8
# So many times the tests of a mutant are run without it.
N_CONTROLS = 12
# Longest test that is asked, and time for all tests of a mutant, in CPU seconds.
LONGEST, BUDGET = 3.0, 25.0
# Importing and compiling take a while before the first test.
GRACE = 60.0


def run(profile: Profile) -> list[Promise]:
    """Draw mutants, run their tests, list the survivors in the folder for logs."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        first = _copy(Path(folder) / "0")
        durations, lines = _traced(first, profile)
        copies = [Path(shutil.copytree(first, Path(folder) / str(job))) for job in range(1, profile.jobs)]
        nests: Queue[Nest] = Queue()
        for tree in (first, *copies):
            nests.put(Nest.at(tree))
        everything = [m for path in _modules(first) for m in mutants_of(path, (first / path).read_text())]
        drawn = random.Random(profile.seed).sample(everything, profile.cases(N_MUTANTS))

        def one(mutant: Mutant) -> bool:
            nest = nests.get()
            try:
                noticed = _noticed(mutant, nest, _tests_for(mutant, durations, lines), durations)
            finally:
                nests.put(nest)
            with (profile.out / "mutants.log").open("a") as log:
                log.write(f"{'killed' if noticed else 'SURVIVED'}  {mutant}\n")
            return noticed

        def control(mutant: Mutant) -> list[str]:
            """Return the tests of a mutant that fail without it."""
            nest, tests = nests.get(), _tests_for(mutant, durations, lines)
            try:
                if not tests or nest.passes(tests, _patience(tests, durations)):
                    return []
                alone = [test for test in tests if not nest.passes([test], _patience([test], durations))]
                return alone or ["only together"]
            finally:
                nests.put(nest)

        (profile.out / "mutants.log").write_text("")
        with ThreadPoolExecutor(profile.jobs) as pool:
            failing = list(pool.map(control, drawn[:: max(len(drawn) // N_CONTROLS, 1)]))
            noticed = list(pool.map(one, drawn))
        while not nests.empty():
            nests.get().nursery.communicate()
    survivors = [str(mutant) for mutant, seen in zip(drawn, noticed) if not seen]
    (profile.out / "survivors.txt").write_text("\n".join([*survivors, ""]))
    share, names = sum(noticed) / len(drawn), " ".join(sorted(set().union(*failing)))
    count = f"{sum(noticed)} of {len(drawn)} noticed, {100 * share:.0f} % (seed {profile.seed}, of {len(everything):,})"
    return [
        Promise(
            "the same tests pass where there is no error",
            not any(failing),
            f"{sum(map(bool, failing))} of {len(failing)} controls fail {names}".strip(),
        ),
        Promise("tests notice at least 80 % of small errors in the numerics", share >= LEAST_SCORE, count),
    ]


def _copy(target: Path) -> Path:
    """Copy what the tests need, compiled loops among it; mutants never touch the project itself."""
    for name in ("src", "tests", "docs"):
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("*.pyc"))
    shutil.copy2(ROOT / "pyproject.toml", target)
    (target / "reliability").mkdir()
    for name in ("__init__.py", "tracing.py", "nursery.py"):
        shutil.copy2(ROOT / "reliability" / name, target / "reliability")
    return target


def _modules(tree: Path) -> list[str]:
    found = (path for name in FOLDERS for path in sorted((tree / "src/stepsmooth" / name).glob("*.py")))
    return [str(path.relative_to(tree)) for path in found]


def _environment(tree: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": f"{tree / 'src'}:{tree}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        **more,
    }


def _traced(tree: Path, profile: Profile) -> tuple[dict[str, float], dict[str, dict[int, list[str]]]]:
    """Return how long each test takes, and which tests run each line of each module; compile the loops on the way."""
    settings, data, times = tree / "coverage.ini", tree / "coverage.data", tree / "durations.jsonl"
    settings.write_text(SETTINGS.format(source=tree / "src", data=data))
    folders = [f"tests/{name}" for name in (*FOLDERS, *ALSO) if (tree / "tests" / name).exists()]
    tool = [sys.executable, "-m", "coverage"]
    tests = [
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "reliability.tracing", "-n", str(profile.jobs),
        "--dist", "loadscope", *folders, *(f"src/stepsmooth/{name}" for name in FOLDERS),
    ]  # fmt: skip
    subprocess.run([sys.executable, "-c", WARMING], cwd=tree, env=_environment(tree), check=True)
    # Tests that are too long to be asked need no tracing to their end.
    environment = _environment(tree, STEPSMOOTH_DURATIONS=str(times), STEPSMOOTH_LIMIT=str(2.0 * LONGEST))
    with (profile.out / "mutants-trace.log").open("w") as log:
        for command in ([*tool, "run", f"--rcfile={settings}", *tests], [*tool, "combine", f"--rcfile={settings}"]):
            subprocess.run(command, cwd=tree, env=environment, stdout=log, stderr=subprocess.STDOUT)
    durations = dict(json.loads(line) for line in times.read_text().splitlines())
    traced = CoverageData(str(data))
    traced.read()
    lines: dict[str, dict[int, list[str]]] = {}
    for path in traced.measured_files():
        lines[str(Path(path).relative_to(tree))] = traced.contexts_by_lineno(path)
    return durations, lines


def _tests_for(mutant: Mutant, durations: dict[str, float], lines: dict[str, dict[int, list[str]]]) -> list[str]:
    """Return the tests to ask: those that run the line, or for compiled code those of the folder, short ones first."""
    here = lines.get(mutant.path, {})
    folder, module = Path(mutant.path).parts[2], Path(mutant.path).stem
    if mutant.compiled:
        able = [test for test in durations if f"/{folder}/" in test]
    else:
        able = [test for line in range(mutant.line, mutant.end_line + 1) for test in here.get(line, []) if test]
    able = [test for test in dict.fromkeys(able) if durations.get(test, LONGEST + 1.0) <= LONGEST]
    # A test that is named after the module knows it best.
    able.sort(key=lambda test: (mutant.compiled and module not in test, durations[test], test))
    chosen: list[str] = []
    left = BUDGET
    for test in able:
        left -= durations[test]
        if left < 0.0:
            break
        chosen.append(test)
    return chosen


def _patience(tests: list[str], durations: dict[str, float]) -> float:
    """CPU seconds after which tests that should have ended count as failed."""
    return GRACE + 3.0 * sum(durations[test] for test in tests)


def _noticed(mutant: Mutant, nest: Nest, tests: list[str], durations: dict[str, float]) -> bool:
    """Put the error into the copy, run the tests, and take it out again."""
    if not tests:
        return False
    path = nest.tree / mutant.path
    original, stamp = path.read_text(), path.stat()
    # Compiled callers have the code of what they call built in: the folder's are compiled anew.
    cache, kept = path.parent / "__pycache__", path.parent / "__kept__"
    if mutant.compiled and cache.is_dir():
        cache.rename(kept)
    path.write_text(mutant.applied_to(original))
    try:
        return not nest.passes(tests, _patience(tests, durations))
    finally:
        path.write_text(original)
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        if kept.is_dir():
            shutil.rmtree(cache, ignore_errors=True)
            kept.rename(cache)


@dataclass(frozen=True)
class Nest:
    """A copy of the project, and the process that runs tests in it."""

    tree: Path
    nursery: subprocess.Popen[str]

    @classmethod
    def at(cls, tree: Path) -> Nest:
        """Start the process; it lives until its input ends."""
        command = [sys.executable, "-m", "reliability.nursery"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        return cls(tree, subprocess.Popen(command, cwd=tree, env=_environment(tree), **pipes))

    def passes(self, tests: list[str], seconds: float) -> bool:
        """Return whether all tests pass, in time."""
        assert self.nursery.stdin is not None
        assert self.nursery.stdout is not None
        self.nursery.stdin.write(json.dumps([seconds, tests]) + "\n")
        self.nursery.stdin.flush()
        answer = self.nursery.stdout.readline().strip()
        if answer not in ("passed", "failed", "late"):
            raise RuntimeError(f"the nursery in {self.tree} ended: {answer!r}")
        return answer == "passed"
