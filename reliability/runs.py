"""Runs of the command line that can be watched and ended: copies of a process that has everything loaded."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import nibabel
import numpy as np

OUT = "out"
COMMANDS = {
    "signal": ["signal", "trace.csv", "--levels", "2", "--solver", "altmin"],
    "image": [
        "image",
        "T1w.nii.gz",
        "--mask",
        "brain.nii.gz",
        "--levels",
        "3",
        "--solver",
        "altmin",
        "--probabilities",
    ],
}
# How a copy ends that was interrupted before its command began, or after that had ended.
OUTSIDE = 200
INPUTS = ("trace.csv", "T1w.nii.gz", "brain.nii.gz")
# What differs from run to run: times stand in it.
_OF_ITS_OWN = ("result.json", "report.html")


@dataclass
class Run:
    """A run in a process of its own.

    Attributes
    ----------
    pid : int
    folder : Path
        Where it works.
    code : int or None
        How it ended: the exit code, or minus the signal.
    """

    pid: int
    folder: Path
    code: int | None = None

    def ended(self) -> bool:
        """Whether it has ended by now."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code is not None

    def wait(self, until: str | None = None, timeout: float = 120.0) -> float:
        """Wait for its end, or until files that match a pattern are there; return when that was."""
        begun = time.perf_counter()
        while not self.ended() and not (until and any(self.folder.glob(until))):
            if time.perf_counter() - begun > timeout:
                self.send(signal.SIGKILL)
                raise TimeoutError(f"the run in {self.folder} did not end")
            time.sleep(0.0005)
        return time.perf_counter()

    def send(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if not self.ended():
            os.kill(self.pid, number)

    @property
    def said(self) -> str:
        """What it wrote to the error stream."""
        return self.folder.with_suffix(".err").read_text()


def draw_once() -> None:
    """Save every figure as the first of its format: they take most of a run's time, and are not what is tested."""
    from matplotlib.figure import Figure

    draw, made = Figure.savefig, {}

    def save(figure: Any, stream: Any, **options: Any) -> None:
        form = options["format"]
        if form not in made:
            buffer = io.BytesIO()
            draw(figure, buffer, **options)
            made[form] = buffer.getvalue()
        stream.write(made[form])

    Figure.savefig = save


def begin(folder: Path, name: str) -> Run:
    """Copy this process, and let the copy run a command."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return Run(pid, folder)
    code: object = 1
    try:
        code = _exit_code(folder, name)
    except BaseException:
        traceback.print_exc()  # as the interpreter would
    finally:
        _end(code)


def _exit_code(folder: Path, name: str) -> object:
    """Run a command in this process, and return how it ended."""
    from stepsmooth.cli import app

    try:
        try:
            # Whoever works in the background ignores interruptions, and so would its copies.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, lambda number, frame: os._exit(OUTSIDE))
            os.chdir(folder)
            for stream, ending in ((1, ".log"), (2, ".err")):
                os.dup2(os.open(folder.with_suffix(ending), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            app([*COMMANDS[name], "--seed", "0", "--quiet", "--out", OUT, "--overwrite"], prog_name="stepsmooth")
        except SystemExit as stop:
            return stop.code
    except KeyboardInterrupt:
        return OUTSIDE
    return 1


def _end(code: object) -> NoReturn:
    """End this process without going on with what its original had still to do."""
    try:
        sys.stderr.flush()
    finally:
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def furnish(folder: Path) -> None:
    """Write the inputs of both commands."""
    from stepsmooth.datasets import make_head_phantom, make_markov_steps

    folder.mkdir(parents=True)
    options = {"classes": ("CSF", "GM", "WM"), "contrasts": ("T1w",), "strip": True, "ratio": 3.0, "noise": 3.0}
    head = make_head_phantom((16, 18), random_state=0, **options)
    scan = np.where(head.mask, 1000.0 * head.image.reshape(head.mask.shape), 0.0).astype(np.int16)
    for name, values in (("T1w", scan), ("brain", head.mask.astype(np.uint8))):
        nibabel.save(nibabel.Nifti1Image(values[..., None], np.eye(4)), folder / f"{name}.nii.gz")
    trace = make_markov_steps(80, 2, 2, switching=0.05, noise_variance=0.01, random_state=1)
    np.savetxt(folder / "trace.csv", np.c_[trace.x, trace.y], delimiter=",", header="time,current", comments="")


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def is_whole(found: dict[str, bytes], reference: dict[str, bytes]) -> bool:
    """Whether a result has all its files, each complete: equal to the reference but for the times that stand in it."""
    if found.keys() != reference.keys():
        return False
    if any(found[name] != reference[name] for name in reference if name not in _OF_ITS_OWN):
        return False
    try:
        record = json.loads(found["result.json"])
    except ValueError:
        return False
    ends = all(found[name][-8:] == reference[name][-8:] for name in _OF_ITS_OWN)
    return ends and sorted(record["outputs"]) == sorted(reference)


@contextlib.contextmanager
def small_disk(place: Path, size: int) -> Iterator[bool]:
    """Mount a disk of so many bytes at a place, where that is allowed; yields whether it is."""
    import subprocess

    place.mkdir(parents=True, exist_ok=True)
    try:
        told = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", place], capture_output=True)
        mounted = told.returncode == 0
    except OSError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", place], check=True)
