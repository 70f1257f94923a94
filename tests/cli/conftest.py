"""Files as users have them, and one run of each command that several tests look at."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nibabel
import numpy as np
import pytest
from typer.testing import CliRunner

import stepsmooth
from stepsmooth.cli import app
from stepsmooth.datasets import make_head_phantom, make_markov_steps

SHAPE = (32, 38)


@pytest.fixture(scope="session")
def run():
    """Run a command within this process."""

    def call(*arguments):
        return CliRunner().invoke(app, [str(a) for a in arguments], prog_name="stepsmooth")

    return call


@pytest.fixture(scope="session")
def run_apart():
    """Run a command in a process of its own, as a user would."""

    def call(*arguments, cwd, **options):
        source = os.path.dirname(os.path.dirname(stepsmooth.__file__))
        environment = os.environ | {"PYTHONPATH": source, "COLUMNS": "100"}
        command = [sys.executable, "-m", "stepsmooth.cli", *(str(a) for a in arguments)]
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, **options)

    return call


@pytest.fixture(scope="session")
def head():
    """A slice of a brain in two sequences under a field of three to one."""
    return make_head_phantom(
        SHAPE, classes=("CSF", "GM", "WM"), contrasts=("T1w", "T2w"), strip=True, ratio=3.0, noise=3.0, random_state=0
    )


@pytest.fixture(scope="session")
def write_scans(head):
    """Write T1w.nii.gz, T2w.nii.gz and brain.nii.gz, as scanners and their software do."""

    def write(folder: Path) -> Path:
        affine = np.diag([*head.spacing, 3.0, 1.0])
        affine[:3, 3] = [-90.0, -110.0, 12.0]
        # Something outside the brain, that must stay as it is.
        outside = np.random.default_rng(0).integers(0, 30, SHAPE)
        for channel, name in enumerate(("T1w", "T2w")):
            scan = np.where(head.mask, 1000.0 * head.image[..., channel], outside)
            image = nibabel.Nifti1Image(scan.astype(np.int16)[..., None], affine)
            image.set_qform(affine, 1)
            image.set_sform(affine, 2)
            nibabel.save(image, folder / f"{name}.nii.gz")
        nibabel.save(nibabel.Nifti1Image(head.mask.astype(np.uint8)[..., None], affine), folder / "brain.nii.gz")
        return folder

    return write


@pytest.fixture(scope="session")
def trace():
    """A recording with three levels that last."""
    return make_markov_steps(200, 3, 2, switching=0.05, noise_variance=0.01, random_state=1)


@pytest.fixture(scope="session")
def write_trace(trace):
    """Write trace.csv."""

    def write(folder: Path) -> Path:
        np.savetxt(
            folder / "trace.csv",
            np.c_[trace.x, trace.y],
            delimiter=",",
            header="time,current",
            comments="",
            fmt="%.17g",
        )
        return folder / "trace.csv"

    return write


@pytest.fixture(scope="session")
def corrected(run, write_scans, tmp_path_factory):
    """The result of a run on T1w with the brain's mask."""
    folder = write_scans(tmp_path_factory.mktemp("image"))
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    out = folder / "out"
    done = run(
        *("image", folder / "T1w.nii.gz", "--mask", folder / "brain.nii.gz", "--levels", 3),
        *("--out", out, "--seed", 0, "--probabilities"),
    )
    return SimpleNamespace(done=done, folder=folder, out=out, before=before)


@pytest.fixture(scope="session")
def decomposed(run, write_trace, tmp_path_factory):
    """The result of a run on the trace."""
    folder = tmp_path_factory.mktemp("signal")
    write_trace(folder)
    out = folder / "out"
    done = run("signal", folder / "trace.csv", "--levels", 3, "--out", out, "--json")
    return SimpleNamespace(done=done, folder=folder, out=out)


@pytest.fixture
def worse(monkeypatch):
    """Let every fit count as having made it worse."""
    import stepsmooth.report

    measured = stepsmooth.report.quality

    class Worse:
        verdict = "made worse"

        def __init__(self, m):
            self._found = measured(m)

        def as_dict(self):
            return self._found.as_dict() | {"verdict": "made worse"}

        def words(self):
            return self._found.words()

        def __getattr__(self, name):
            return getattr(self._found, name)

    monkeypatch.setattr(stepsmooth.report, "quality", Worse)


@pytest.fixture
def short_report(monkeypatch):
    """Let reports be short where they are not what is tested: pictures take seconds."""
    import stepsmooth.report

    monkeypatch.setattr(stepsmooth.report, "write", lambda m, path, **options: path.write_text("<html></html>"))
