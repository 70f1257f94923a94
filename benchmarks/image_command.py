"""`stepsmooth image` on a whole head in gz files: what reading, fitting, judging, writing and the report take.

The embedded head at 181 x 217 x 181 voxels, brain mask, three tissues under a coil's field, 3 % noise, 16-bit NIfTI.
Each run is a process of its own, everything compiled before; a step lasts until the next is shown. The best of a few.
Images are written while the fit is judged; nibabel, reading and writing the same gz files alone, stands beside.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from .harness import SEED, Row, Settings, thread_environment
from .tables import Claim, Result

SHAPE, SMALL = (181, 217, 181), (61, 73, 61)
# Runs the command with a clock at each step of its progress bar.
CLOCKED = """
import json, sys, time
began = time.perf_counter()
from stepsmooth.cli import app
from stepsmooth.cli.terminal import Steps
marks = [("loading", began)]
begin = Steps.begin
def clocked(self, name):
    marks.append((name, time.perf_counter()))
    begin(self, name)
Steps.begin = clocked
app(sys.argv[1:], standalone_mode=False)
ends = [at for _, at in marks[1:]] + [time.perf_counter()]
print(json.dumps([[name, end - at] for (name, at), end in zip(marks, ends)]))
"""
FIT, FILES = "Fitting", "the same gz files read and written by nibabel alone"


def write_head(folder: Path, shape: tuple[int, ...]) -> list[str]:
    """Write an image and a mask; give the arguments of the command."""
    import nibabel

    from stepsmooth.datasets import make_head_phantom

    head = make_head_phantom(shape, classes=("CSF", "GM", "WM"), random_state=SEED + 30)
    mask = head.labels >= 0
    scaled = np.rint(1000.0 * head.image / head.image[mask].max()).astype(np.int16)
    for name, values in (("T1w", scaled), ("mask", mask.astype(np.uint8))):
        image: object = nibabel.Nifti1Image(values, np.diag([*head.spacing, 1.0]))
        nibabel.save(image, folder / f"{name}.nii.gz")
    return ["image", str(folder / "T1w.nii.gz"), "--mask", str(folder / "mask.nii.gz"), "--levels", "3", "--quiet"]


def steps_of(arguments: list[str], out: Path, environment: dict[str, str]) -> dict[str, float]:
    """Run the command once, and give the seconds of each step."""
    command = [sys.executable, "-c", CLOCKED, *arguments, "--overwrite", "--out", str(out)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def files_alone(folder: Path) -> float:
    """Give the seconds in which nibabel reads the inputs, and writes what the command wrote."""
    import nibabel

    outputs: list[Any] = []
    for path in sorted((folder / "out").glob("*.nii.gz")):
        image: Any = nibabel.load(path)
        outputs.append(nibabel.Nifti1Image(np.asanyarray(image.dataobj), image.affine))
    began = time.perf_counter()
    for path in sorted(folder.glob("*.nii.gz")):
        np.asanyarray(nibabel.load(path).dataobj)
    for number, image in enumerate(outputs):
        nibabel.save(image, folder / f"alone_{number}.nii.gz")
    return time.perf_counter() - began


def run(settings: Settings) -> Result:
    """Time the steps."""
    with tempfile.TemporaryDirectory() as name:
        folder, environment = Path(name), thread_environment(settings.threads)
        arguments = write_head(folder, SMALL if settings.quick else SHAPE)
        runs = []
        for number in range(1 if settings.quick else 1 + min(settings.repeat, 3)):
            settings.say(f"run {number}")
            runs.append(steps_of(arguments, folder / "out", environment))
        files = files_alone(folder)
    best = min(runs[1:] or runs, key=lambda steps: sum(steps.values()))
    whole = sum(best.values())
    rows: list[Row] = [{"step": step, "seconds": s, "share": s / whole} for step, s in best.items()]
    rows.append({"step": "whole", "seconds": whole, "share": 1.0})
    rows.append({"step": FILES, "seconds": files, "share": files / whole})
    claims = [Claim("seconds of reading and writing gz files, over those of the fit", files / best[FIT], 1.0)]
    return Result(rows, claims)
