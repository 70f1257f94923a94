"""A call in a fresh process: import, first call and peak memory, each apart.

A *case* is a function ``case(**arguments) -> work`` that makes the data and returns the call to be measured.
The child imports the package, runs the case once on small data (which compiles), makes the real data, and
only then starts to watch its memory: the peak is what the call adds to imports, compiled code and data.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Fresh:
    """What the child measured."""

    import_seconds: float  # `import_name` in an empty interpreter
    first_seconds: float  # the small case: compiling or loading compiled code
    seconds: float  # the real case, once
    peak_mb: float  # added by the real case


def run(
    case: str,
    arguments: Mapping[str, object],
    *,
    small: Mapping[str, object],
    threads: int = 1,
    import_name: str = "stepsmooth.estimators",  # the package itself loads its parts when asked for
    compile_anew: bool = False,
) -> Fresh:
    """Run ``module:function`` in a fresh interpreter; `compile_anew` hides the code compiled earlier."""
    from .harness import thread_environment

    request = {"case": case, "arguments": dict(arguments), "small": dict(small), "import": import_name}
    environment = thread_environment(threads)
    paths = [str(ROOT), *([environment["PYTHONPATH"]] if environment.get("PYTHONPATH") else [])]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    with tempfile.TemporaryDirectory() as empty:
        if compile_anew:
            environment["NUMBA_CACHE_DIR"] = empty
        child = subprocess.run(
            [sys.executable, "-m", "benchmarks.fresh"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
    if child.returncode:
        reason = (child.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"the fresh process for {case} failed: {reason}")
    return Fresh(**json.loads(child.stdout.splitlines()[-1]))


def measure(request: Mapping[str, Any]) -> Fresh:
    """Do in this process what `run` asks of the child."""
    start = time.perf_counter()
    import_module(request["import"])
    imported = time.perf_counter()
    module, _, name = request["case"].partition(":")
    case = getattr(import_module(module), name)
    warm = case(**request["small"])
    warm_start = time.perf_counter()
    warm()
    warmed = time.perf_counter()
    work = case(**request["arguments"])
    seconds: list[float] = []

    def timed() -> None:
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)

    from stepsmooth.experiments.resident import peak_of

    peak = peak_of(timed)
    return Fresh(imported - start, warmed - warm_start, seconds[0], float("nan") if peak is None else peak)


if __name__ == "__main__":
    result = measure(json.loads(sys.stdin.read()))
    print(json.dumps(asdict(result)))
