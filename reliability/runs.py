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


class Drawings:
    """Drawings of a report, made once: alike in every run, they take most of its time, and are not what is tested."""

    def __init__(self) -> None:
        from matplotlib.figure import Figure

        self._draw, self._made, self._next = Figure.savefig, {}, ("", 0)
        Figure.savefig = lambda figure, stream, **options: self._save(figure, stream, options)

    def begin(self, name: str) -> None:
        """Let the next drawings be the first of a command, and so on."""
        self._next = (name, 0)

    def _save(self, figure: Any, stream: Any, options: dict[str, Any]) -> None:
        if self._next not in self._made:
            buffer = io.BytesIO()
            self._draw(figure, buffer, **options)
            self._made[self._next] = buffer.getvalue()
        stream.write(self._made[self._next])
        self._next = (self._next[0], self._next[1] + 1)


def begin(folder: Path, name: str, drawings: Drawings) -> Run:
    """Copy this process, and let the copy run a command."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return Run(pid, folder)
    code: object = 1
    try:
        code = _exit_code(folder, name, drawings)
    except BaseException:
        traceback.print_exc()  # as the interpreter would
    finally:
        _end(code)


def _exit_code(folder: Path, name: str, drawings: Drawings) -> object:
    """Run a command in this process, and return how it ended."""
    from stepsmooth.cli import app

    try:
        try:
            drawings.begin(name)
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
