"""Every error has its sentence, its exit code, and leaves nothing behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nibabel
import numpy as np
import pytest
import typer

import stepsmooth
from stepsmooth.cli.exits import sentences


def scan(folder, name="T1w.nii.gz", shape=(8, 9, 3), affine=None, fill=1.0):
    values = np.full(shape, fill, np.float32)
    nibabel.save(nibabel.Nifti1Image(values, np.eye(4) if affine is None else affine), folder / name)
    return folder / name


def truncated(folder):
    path = scan(folder)
    path.write_bytes(path.read_bytes()[:-20])


def not_an_image(folder):
    (folder / "T1w.nii.gz").write_text("Dear diary")


def too_large(folder):
    header = nibabel.Nifti1Header()
    header.set_data_shape((32000, 32000, 32000))
    header["vox_offset"], header["magic"] = 352, b"n+1"
    (folder / "T1w.nii").write_bytes(header.binaryblock + bytes(4))


def with_mask(**options):
    def make(folder):
        scan(folder)
        scan(folder, "mask.nii.gz", **options)

    return make


def two(folder):
    scan(folder)
    scan(folder, "T2w.nii.gz", shape=(8, 9, 4))


def table(text):
    return lambda folder: (folder / "trace.csv").write_text(text)


MASKED = ["image", "T1w.nii.gz", "--mask", "mask.nii.gz"]
CASES = {
    "missing image": (lambda folder: None, ["image", "T1w.nii.gz"], "T1w.nii.gz does not exist."),
    "missing mask": (scan, MASKED, "mask.nii.gz does not exist."),
    "missing table": (lambda folder: None, ["signal", "trace.csv"], "trace.csv does not exist."),
    "folder": (lambda folder: (folder / "T1w.nii.gz").mkdir(), ["image", "T1w.nii.gz"], "is a folder: name a file."),
    "truncated": (truncated, ["image", "T1w.nii.gz"], "T1w.nii.gz is cut short or damaged"),
    "not an image": (not_an_image, ["image", "T1w.nii.gz"], "T1w.nii.gz "),
    "too large": (too_large, ["image", "T1w.nii"], "T1w.nii has 32000 x 32000 x 32000 values by its header"),
    "shapes": (two, ["image", "T1w.nii.gz", "T2w.nii.gz"], "differ in shape: 8 x 9 x 4 and 8 x 9 x 3 voxels"),
    "mask's shape": (with_mask(shape=(8, 8, 3)), MASKED, "mask.nii.gz and T1w.nii.gz differ in shape"),
    "mask's space": (with_mask(affine=np.diag([2, 2, 2, 1])), MASKED, "mask.nii.gz lies elsewhere than T1w.nii.gz"),
    "empty mask": (with_mask(fill=0.0), MASKED, "--mask mask.nii.gz is empty: no voxel is inside."),
    "text": (table("t,y\n0,1\n1,high\n"), ["signal", "trace.csv"], "trace.csv, line 3: the column 'y' holds 'high'"),
    "no column": (table("t,y\n0,1\n1,2\n"), ["signal", "trace.csv", "--y", "z"], "has no such column"),
    "too few": (table("t,y\n0,1\n1,2\n"), ["signal", "trace.csv", "--levels", "5"], "--levels 5"),
}


@pytest.mark.parametrize("case", CASES)
def test_an_input_that_cannot_be_used_is_told_in_one_sentence(run, case, tmp_path, monkeypatch):
    make, command, words = CASES[case]
    make(tmp_path)
    before = sorted(p.name for p in tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    done = run(*command)
    assert done.exit_code == 3, done.output
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_an_output_that_exists_is_told_before_anything_is_read(run, corrected, tmp_path):
    source = corrected.folder / "T1w.nii.gz"
    before = (corrected.out / "result.json").read_bytes()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    for out, options, words in (
        (corrected.out, [], "holds an earlier result: add --overwrite"),
        (tmp_path / "mine", [], "holds notes.txt, which is not a result of stepsmooth"),
        (tmp_path / "mine", ["--overwrite"], "holds notes.txt, which is not a result of stepsmooth"),
        (tmp_path / "mine" / "notes.txt", ["--overwrite"], "is a file: name a folder"),
        (corrected.folder, ["--overwrite"], "holds the input T1w.nii.gz: name another folder"),
    ):
        done = run("image", source, "--out", out, *options)
        assert done.exit_code == 4
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
    assert (corrected.out / "result.json").read_bytes() == before


def test_without_the_right_to_write_that_is_told(run, write_trace, decomposed, tmp_path):
    source = write_trace(tmp_path)
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    somebody = os.geteuid()
    if somebody == 0:  # who may do everything becomes somebody else meanwhile
        for parent in (tmp_path, *tmp_path.parents):
            parent.chmod(parent.stat().st_mode | 0o055)
        os.seteuid(65534)
    try:
        done = run("signal", source, "--out", locked / "out")
    finally:
        os.seteuid(somebody)
    assert done.exit_code == 4, done.output
    assert done.stderr == f"--out {locked / 'out'} cannot be written: permission denied.\n"


@pytest.mark.parametrize("kind", ["signal", "image"])
def test_a_full_disk_is_told_and_leaves_nothing(run, write_trace, tmp_path, short_report, kind):
    if kind == "signal":
        command = ["signal", write_trace(tmp_path), "--solver", "altmin"]
    else:  # files of images are written while the fit is judged
        command = ["image", tmp_path / "a.npy"]
        np.save(tmp_path / "a.npy", 1.0 + np.random.default_rng(0).integers(0, 3, (60, 60)))
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", "size=16k", "none", place]).returncode:
        pytest.skip("no right to mount a small disk here")
    try:
        done = run(*command, "--levels", 3, "--out", place / "out")
        left = list(place.iterdir())
    finally:
        subprocess.run(["umount", place], check=True)
    assert done.exit_code == 4
    assert done.stderr == f"--out {place / 'out'} cannot be written: no space left on device.\n"
    assert left == []


def begin(folder, out="out"):
    """Begin a run in a process of its own, and wait until it works in its hidden folder."""
    environment = os.environ | {"PYTHONPATH": str(Path(stepsmooth.__file__).parents[1])}
    command = [sys.executable, "-m", "stepsmooth.cli", "signal", "trace.csv", "--levels", "3", "--out", out]
    process = subprocess.Popen(
        [*command, "--solver", "altmin", "--overwrite"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in the background, interruptions are ignored, and would be here.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    for _ in range(6000):
        if any(folder.glob(f".{out}.*.part")) or process.poll() is not None:
            return process
        time.sleep(0.005)
    raise AssertionError("the run did not begin")


def test_a_killed_run_leaves_nothing_half_written_and_can_be_repeated(
    run, write_trace, decomposed, tmp_path, short_report
):
    write_trace(tmp_path)
    shutil.copytree(decomposed.out, tmp_path / "out")
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    for delay in (0.0, 0.4, 1.0):
        process = begin(tmp_path)
        time.sleep(delay)
        process.kill()
        process.communicate()
        # The folder is the old result or the new one, whole; never a mixture.
        now = {p.name for p in (tmp_path / "out").iterdir()}
        assert now == set(before)
        if process.returncode == -signal.SIGKILL and any(tmp_path.glob(".out.*.part")):
            assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == before
    options = ["--levels", 3, "--solver", "altmin", "--out", tmp_path / "out", "--overwrite"]
    assert run("signal", tmp_path / "trace.csv", *options).exit_code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "trace.csv"]
    assert json.loads((tmp_path / "out" / "result.json").read_text())["settings"]["solver"] == "altmin"


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_says_so_and_leaves_nothing(write_trace, tmp_path, number, code):
    write_trace(tmp_path)
    process = begin(tmp_path)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == code, stderr
    assert stderr.endswith("nothing half-written is left.\n")
    assert stdout == ""
    assert [p.name for p in tmp_path.iterdir()] == ["trace.csv"]


@pytest.fixture
def interruptible():
    """SIGINT interrupts, also where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Deaf:
    """An object whose end, where Python drops what is raised, is when the signal comes."""

    def __init__(self, number):
        self.number = number

    def __del__(self):
        signal.raise_signal(self.number)


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_request_to_end_that_python_itself_drops_is_heeded(number, code, interruptible):
    hook = sys.unraisablehook

    @sentences()
    def work():
        Deaf(number)
        time.sleep(60.0)

    with pytest.raises(typer.Exit) as stop:
        work()
    assert stop.value.exit_code == code
    assert sys.unraisablehook is hook


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_request_to_end_that_compiled_code_turns_into_its_own_error_is_heeded(number, code, interruptible, capsys):
    before = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]

    @sentences()
    def work():
        try:
            signal.raise_signal(number)
        except BaseException as error:
            raise SystemError("a function returned a result with an exception set") from error

    with pytest.raises(typer.Exit) as stop:
        work()
    assert stop.value.exit_code == code
    assert capsys.readouterr().err.endswith("nothing half-written is left.\n")
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == before


def test_an_interruption_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with sentences():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_error_that_nobody_asked_for_stays_itself():
    with pytest.raises(SystemError, match="broken"), sentences():
        raise SystemError("broken")
