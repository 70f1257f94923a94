"""Start-up: what importing, `--help`, the first fit and the next ones take, each in a fresh process.

Seconds are wall time of whole processes, best of k, less those of an empty interpreter where it says so. *First fit
after install* compiles every loop; afterwards compiled loops are read from the cache.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from .harness import Row, Settings, attempt, find, thread_environment
from .tables import Claim, Result

EMPTY, SKLEARN, OURS = "empty interpreter", "import sklearn.cluster", "import stepsmooth"
AFTER = "import sklearn.cluster, stepsmooth"
BOTH = "import sklearn.cluster, then both estimators of stepsmooth"
HELP = "stepsmooth --help"
IMPORTS = {
    EMPTY: "pass",
    SKLEARN: "import sklearn.cluster",
    OURS: "import stepsmooth",
    AFTER: "import sklearn.cluster; import stepsmooth",
    BOTH: "import sklearn.cluster; from stepsmooth import GridStepSmooth, StepSmooth",
    "import hmmlearn.hmm": "import hmmlearn.hmm",
    "import SimpleITK": "import SimpleITK",
    "import csaps": "import csaps",
    "import lapgm": "import lapgm",
}
FIT = """
import time
import numpy as np
from stepsmooth import GridStepSmooth, StepSmooth
x = np.arange(400.0)
z = np.arange(400) // 40 % 3
y = np.sin(x / 60.0) + 2.0 * z + 0.1 * np.random.default_rng(0).normal(size=400)
image = np.exp(0.2 * np.sin(x[:64] / 20.0))[:, None] * np.kron(1.0 + np.eye(8), np.ones((8, 8)))
image += 0.05 * np.random.default_rng(1).normal(size=image.shape)
for fit in (lambda: StepSmooth(3).fit(x[:, None], y), lambda: GridStepSmooth(2).fit(image)):
    for _ in range(2):
        start = time.perf_counter()
        fit()
        print(time.perf_counter() - start)
"""
FITS = ("signal, first fit", "signal, second fit", "image, first fit", "image, second fit")


def seconds_of(command: list[str], environment: dict[str, str], repeat: int) -> float:
    """Time a whole process, best of a few."""
    taken = []
    for _ in range(repeat):
        start = time.perf_counter()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        taken.append(time.perf_counter() - start)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return min(taken)


def fits(environment: dict[str, str]) -> list[float]:
    """Seconds of the first and the second fit of a signal and of an image, in one fresh process."""
    done = subprocess.run([sys.executable, "-c", FIT], env=environment, capture_output=True, text=True, check=True)
    return [float(line) for line in done.stdout.split()]


def run(settings: Settings) -> Result:
    """Time imports, the command line and the first fits."""
    environment = thread_environment(settings.threads)
    repeat = 1 if settings.quick else settings.repeat
    rows: list[Row] = []

    def timed(command: list[str]) -> Row:
        return {"seconds": seconds_of(command, environment, repeat)}

    for name, line in IMPORTS.items():
        settings.say(name)
        rows.append(attempt({"what": name}, partial(timed, [sys.executable, "-c", line])))
    settings.say(HELP)
    rows.append(attempt({"what": HELP}, partial(timed, [str(Path(sys.executable).with_name("stepsmooth")), "--help"])))
    for row in rows:
        own, empty = find([row], "seconds"), find(rows, "seconds", what=EMPTY)
        row["beyond_empty_s"] = None if own is None or empty is None else own - empty
    # A cache of compiled loops that is empty at first, and full later.
    with tempfile.TemporaryDirectory() as compiled:
        for when in ("after install", "later"):
            settings.say(f"fits {when}")
            try:
                measured: list[Row] = [{"seconds": s} for s in fits({**environment, "NUMBA_CACHE_DIR": compiled})]
            except subprocess.CalledProcessError as error:
                measured = [{"error": (error.stderr.strip().splitlines() or ["no message"])[-1]}] * len(FITS)
            rows += [{"what": f"{name}, {when}", **found} for name, found in zip(FITS, measured)]
    return Result(rows, claims_of(rows), columns=("what", "seconds", "beyond_empty_s"))


def claims_of(rows: list[Row]) -> list[Claim]:
    """Say what was reached."""
    sklearn = find(rows, "seconds", what=SKLEARN)

    def added(what: str) -> float | None:
        own = find(rows, "seconds", what=what)
        return None if own is None or sklearn is None else own - sklearn

    return [
        Claim("import stepsmooth beyond scikit-learn's import, seconds", added(AFTER), 0.3, "at most"),
        Claim("import of both estimators beyond it (numba's own included), seconds", added(BOTH), 0.3, "at most"),
        Claim("stepsmooth --help, seconds", find(rows, "seconds", what=HELP), 0.5, "at most"),
    ]
