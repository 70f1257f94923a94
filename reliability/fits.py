"""Fits whose bits are compared, and their fingerprints; run as a script, it prints those of repeated fits."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

COMMON = ("labels_", "levels_", "smooth_", "noise_variance_", "proportions_", "tau_", "objective_", "n_iter_")
SIGNAL = (*COMMON, "probabilities_", "levels_se_", "smooth_se_", "effective_dof_")
IMAGE = (*COMMON, "corrected_", "field_", "margin_")


def fingerprint(values: Iterable[Any]) -> str:
    """Return a hash of arrays, numbers and bytes: of every bit, the type and the shape."""
    found = hashlib.sha256()
    for value in values:
        array = np.frombuffer(value, dtype=np.uint8) if isinstance(value, bytes) else np.asarray(value)
        found.update(f"{array.dtype} {array.shape} ".encode() + np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _signal(n: int, seed: int = 0, lasting: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0.0, 1.0, n))
    labels = np.repeat(rng.integers(3, size=-(-n // lasting)), lasting)[:n]
    return x[:, None], np.sin(9.0 * x) + 2.0 * labels + 0.3 * rng.normal(size=n)


def _image(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=tuple(-(-n // 6) for n in shape))
    for axis in range(len(shape)):
        labels = np.repeat(labels, 6, axis=axis)
    axes = np.meshgrid(*(np.linspace(-1.0, 1.0, n) for n in shape), indexing="ij")
    clean = np.array([1.0, 1.6, 2.4])[labels[tuple(slice(n) for n in shape)]]
    return np.abs(clean * np.exp(0.4 * np.sin(1.5 * axes[0]) + 0.3 * axes[-1] ** 2) + 0.05 * rng.normal(size=shape))


def _of_signal(X: np.ndarray, y: np.ndarray, **params: Any) -> list[Any]:
    from stepsmooth import StepSmooth

    m = StepSmooth(3, random_state=0, **params).fit(X, y)
    return [*(getattr(m, name) for name in SIGNAL), m.predict(X + 0.01), m.assign(X, y), m.score(X, y)]


def _of_image(image: np.ndarray, **params: Any) -> list[Any]:
    from stepsmooth import GridStepSmooth

    g = GridStepSmooth(3, random_state=0, **params).fit(image)
    return [*(getattr(g, name) for name in IMAGE), g.probabilities()]


def line_altmin() -> list[Any]:
    return _of_signal(*_signal(1000), solver="altmin")


def line_joint() -> list[Any]:
    return _of_signal(*_signal(80, lasting=5), solver="joint")


def points() -> list[Any]:
    rng = np.random.default_rng(0)
    X, labels = rng.uniform(0.0, 1.0, (400, 3)), rng.integers(3, size=400)
    Y = np.sin(3.0 * X[:, :1]) + np.array([[0.0, 0.0], [3.0, 1.0], [6.0, -1.0]])[labels]
    return _of_signal(X, Y + 0.1 * rng.normal(size=Y.shape), tau=1e-3, kernel="matern", rank=60)


def grid_altmin() -> list[Any]:
    image = _image((24, 22))
    image[:4, :6] = np.nan
    return _of_image(image, solver="altmin")


def grid_joint() -> list[Any]:
    return _of_image(_image((36, 32, 18)), knots=60.0)


def certificate() -> list[Any]:
    from stepsmooth import GridStepSmooth, StepSmooth

    on_line = StepSmooth(3, solver="altmin", tau=1e-4).fit(*_signal(500)).certificate()
    on_grid = GridStepSmooth(3, knots=60.0).fit(_image((60, 56))).certificate()
    return [part for found in (on_line, on_grid) for part in (repr(found).encode(), found.margin, found.parts)]


def command_line() -> list[Any]:
    """Run `stepsmooth signal` and `stepsmooth image`: every byte of every file but the date and the stopwatch."""
    import nibabel
    from typer.testing import CliRunner

    from stepsmooth.cli import app

    X, y = _signal(60)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savetxt(folder / "a.csv", np.c_[X, y], delimiter=",", header="x,y", comments="", fmt="%.17g")
        nibabel.save(nibabel.Nifti1Image(_image((24, 20))[..., None], np.diag([2.0, 2.0, 2.0, 1.0])), folder / "b.nii")
        for command in (["signal", "a.csv", "--solver", "altmin"], ["image", "b.nii", "--force", "--probabilities"]):
            out = folder / command[0]
            arguments = [command[0], str(folder / command[1]), *command[2:], "--levels", "3", "--seed", "0"]
            done = CliRunner().invoke(app, [*arguments, "--out", str(out), "--quiet"])
            assert done.exit_code in (0, 5), done.stderr
        written = sorted(path for path in folder.rglob("*") if path.is_file())
        return [part for path in written for part in (path.name.encode(), without_time(path))]


def without_time(path: Path) -> bytes:
    """Return a file less when it was written, and how many seconds that took."""
    content = path.read_bytes()
    if path.suffix not in (".json", ".html"):
        return content
    content = re.sub(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\+00:00|Z| UTC)?", b"", content)
    return re.sub(rb'("seconds": |\b)[\d.]+( s\b|,\n)', b"", content)


FITS: dict[str, Callable[[], list[Any]]] = {
    "line, AltMin": line_altmin,
    "line, joint": line_joint,
    "points": points,
    "grid, AltMin": grid_altmin,
    "grid, joint": grid_joint,
    "certificate": certificate,
    "files of the command line": command_line,
}


if __name__ == "__main__":
    repeats, *names = sys.argv[1:]
    print(json.dumps({name: [fingerprint(FITS[name]()) for _ in range(int(repeats))] for name in names}))
