"""Building the package twice, and installing it where nothing else is."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

# A moment for all files of an archive, which would otherwise have those of the disk.
EPOCH = "1700000000"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", "*.egg-info", ".*_cache", "reliability-out", "results"
)


class Built(NamedTuple):
    """Files of a release, whether two builds agree, and that in words."""

    files: list[Path]
    equal: bool
    words: str


def build_twice(root: Path, out: Path) -> Built:
    """Build sdist and wheel in two places, with other times on the files, and compare; the first stays in `out`."""
    out = out.absolute()
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        first, second = Path(one) / "a", Path(other) / "some" / "where" / "else"
        shutil.copytree(root, first, ignore=_LEFT_OUT)
        shutil.copytree(first, second)
        for path in second.rglob("*"):
            os.utime(path, (1e9, 1e9))
        # By default the wheel is built from the sdist; the third one comes from the tree.
        _build(first, out / "first")
        _build(second, out / "second")
        _build(second, out / "tree", "--wheel")
    files = sorted((out / "first").iterdir())
    differ = [p.name for p in files if not filecmp.cmp(p, out / "second" / p.name, shallow=False)]
    differ += [p.name for p in (out / "tree").iterdir() if not filecmp.cmp(p, out / "first" / p.name, shallow=False)]
    return Built(files, not differ, f"{len(differ)} of 3 comparisons differ ({', '.join(p.name for p in files)})")


def interpreters() -> dict[str, str]:
    """Return the Pythons that can be had here, by their version, this one among them."""
    found = {f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable}
    places = [Path(p) for p in os.environ.get("PATH", "").split(os.pathsep)]
    places += sorted((Path.home() / ".pyenv" / "versions").glob("*/bin"))
    for version in VERSIONS:
        for place in places:
            python = place / f"python{version}"
            asked = [str(python), "-c", "import sys; print(*sys.version_info[:2], sep='.')"]
            if version not in found and python.exists():
                done = subprocess.run(asked, capture_output=True, text=True)
                if done.returncode == 0 and done.stdout.strip() == version:
                    found[version] = str(python)
    return dict(sorted(found.items(), key=lambda item: VERSIONS.index(item[0])))


def runs_in_empty_environment(python: str, package: Path, *, demo: bool = True) -> str | None:
    """Install a package where there is nothing else, fit and demonstrate there; return what went wrong, or None."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        binaries = folder / "empty" / "bin"
        told = [
            [python, "-m", "venv", str(folder / "empty")],
            [str(binaries / "python"), "-m", "pip", "install", "--quiet", str(package)],
            [str(binaries / "python"), "-m", "pip", "check"],
            [str(binaries / "python"), "-I", "-W", "error::RuntimeWarning", "-c", _FIT],
            [str(binaries / "stepsmooth"), "signal", "trace.csv", "--levels", "2", "--solver", "altmin", "--quiet"],
            *([[str(binaries / "stepsmooth"), "demo", "--out", "demo"]] if demo else []),
        ]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        for command in told:
            done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)
            if done.returncode:
                last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
                return f"{' '.join(Path(command[0]).name.split() + command[1:3])} ended with {done.returncode}: {last}"
        if not (folder / "trace_stepsmooth" / "report.html").exists():
            return "there is no report"
    return None


def _build(source: Path, out: Path, *options: str) -> None:
    command = [sys.executable, "-m", "build", "--outdir", str(out), *options, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"SOURCE_DATE_EPOCH": EPOCH})
    if done.returncode:
        raise RuntimeError(f"the build failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")


_FIT = """
import numpy as np
from stepsmooth import decompose
y = np.tile([0.0, 0.1, 5.0, 5.1], 12) + 0.05 * np.arange(48)
m = decompose(y, n_levels=2, solver="altmin")
assert m.n_levels_ == 2 and np.ptp(m.levels_) > 4, m.levels_
with open("trace.csv", "w") as file:
    file.write("x,y\\n" + "".join(f"{i},{v}\\n" for i, v in enumerate(y)))
"""
