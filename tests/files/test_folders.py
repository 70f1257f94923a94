"""Results appear whole or not at all; inputs and what is not ours are never touched."""

import errno
import json
import os
import shutil
import subprocess
import sys

import pytest

import stepsmooth.files.folders as folders
import stepsmooth.files.renaming as renaming
from stepsmooth.files import OutputError, ResultFolder
from stepsmooth.files.record import write_record
from stepsmooth.files.renaming import lock, write_file


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def write_result(out, text="first", overwrite=False, inputs=()):
    with ResultFolder(out, overwrite=overwrite, inputs=inputs) as results:
        (results.path / "labels.tsv").write_text(text)
        write_record(results.path, {"stepsmooth": {"format": 1, "kind": "image"}})
        results.commit()


def test_a_folder_appears_with_its_first_commit_only(tmp_path):
    out = tmp_path / "deep" / "out"
    with ResultFolder(out) as results:
        (results.path / "labels.tsv").write_text("x")
        assert not out.exists()
        results.commit()
        assert names(out) == ["labels.tsv"]
    assert names(out.parent) == ["out"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
def test_a_failure_leaves_nothing_not_even_parents(tmp_path, error):
    def fail():
        with ResultFolder(tmp_path / "deep" / "out") as results:
            (results.path / "labels.tsv").write_text("half")
            raise error

    with pytest.raises((error, OutputError)):
        fail()
    assert names(tmp_path) == []


def test_a_failure_leaves_the_earlier_result(tmp_path):
    write_result(tmp_path / "out")
    with pytest.raises(RuntimeError), ResultFolder(tmp_path / "out", overwrite=True):
        raise RuntimeError
    assert (tmp_path / "out" / "labels.tsv").read_text() == "first"
    assert names(tmp_path) == ["out"]


def test_an_earlier_result_is_replaced_only_when_asked(tmp_path):
    write_result(tmp_path / "out")
    with pytest.raises(OutputError, match="holds an earlier result: add --overwrite"):
        write_result(tmp_path / "out", "second")
    write_result(tmp_path / "out", "second", overwrite=True)
    assert (tmp_path / "out" / "labels.tsv").read_text() == "second"
    assert names(tmp_path) == ["out"]


def test_an_earlier_result_is_replaced_where_names_cannot_be_traded(tmp_path, monkeypatch):
    class Library:
        def __init__(self, *args, **options):
            pass

    monkeypatch.setattr(renaming.ctypes, "CDLL", Library)
    write_result(tmp_path / "out")
    write_result(tmp_path / "out", "second", overwrite=True)
    assert (tmp_path / "out" / "labels.tsv").read_text() == "second"
    assert names(tmp_path) == ["out"]


def test_what_is_not_ours_is_never_replaced(tmp_path):
    write_result(tmp_path / "out")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"holds notes\.txt, which is not a result"):
        write_result(tmp_path / "out", overwrite=True)
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_what_came_while_a_run_was_busy_is_not_replaced(tmp_path):
    with ResultFolder(tmp_path / "out") as results:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "notes.txt").write_text("mine")
        with pytest.raises(OutputError, match="holds notes"):
            results.commit()
    assert names(tmp_path / "out") == ["notes.txt"]


def test_a_folder_that_holds_an_input_is_refused(tmp_path):
    write_result(tmp_path / "out")
    with pytest.raises(OutputError, match=r"holds the input labels\.tsv"):
        write_result(tmp_path / "out", overwrite=True, inputs=[tmp_path / "out" / "labels.tsv"])


def test_a_file_and_a_link_are_no_folders(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    for name, words in (("file", "is a file"), ("link", "is a link"), ("file/below", "cannot be written")):
        with pytest.raises(OutputError, match=words):
            write_result(tmp_path / name)
    assert (tmp_path / "file").read_text() == "mine"


def test_an_empty_folder_may_be_filled(tmp_path):
    (tmp_path / "out").mkdir()
    write_result(tmp_path / "out")
    assert names(tmp_path / "out") == ["labels.tsv", "result.json"]


def test_leftovers_of_killed_runs_go_and_those_of_running_ones_stay(tmp_path):
    dead, busy = tmp_path / ".out.0123abcd.part", tmp_path / ".out.4567abcd.part"
    for folder in (dead, busy):
        folder.mkdir()
        (folder / "half").write_text("half")
    held = lock(busy, wait=True)
    write_result(tmp_path / "out")
    assert names(tmp_path) == [busy.name, "out"]
    os.close(held)


def test_two_runs_at_once_do_not_disturb_each_other(tmp_path):
    with ResultFolder(tmp_path / "out") as one, ResultFolder(tmp_path / "out") as two:
        (one.path / "labels.tsv").write_text("one")
        (two.path / "labels.tsv").write_text("two")
        one.commit()
        with pytest.raises(OutputError, match="holds labels"):
            two.commit()
    assert (tmp_path / "out" / "labels.tsv").read_text() == "one"


def test_results_are_readable_by_whom_the_user_lets(tmp_path):
    write_result(tmp_path / "out")
    (tmp_path / "plain").mkdir()
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 256 kB; without the right to mount one, the test says so."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", "size=256k", "none", place]).returncode:
        pytest.skip("no right to mount a small disk here")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_is_told_and_leaves_nothing(small_disk):
    with pytest.raises(OutputError, match="no space left on device"), ResultFolder(small_disk / "out") as results:
        (results.path / "big").write_bytes(bytes(1_000_000))
    assert names(small_disk) == []
    with pytest.raises(OutputError, match=r"a\.bin cannot be written: no space left"):
        write_file(small_disk / "a.bin", lambda p: p.write_bytes(bytes(1_000_000)))
    assert names(small_disk) == []


def test_a_limit_on_the_size_of_files_is_told_and_leaves_nothing(tmp_path):
    code = f"""
import resource
from pathlib import Path
from stepsmooth.files import ResultFolder
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
with ResultFolder(Path({str(tmp_path)!r}) / "out") as results:
    (results.path / "big").write_bytes(bytes(1_000_000))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stderr.splitlines()[-1].endswith("out cannot be written: file too large.")
    assert names(tmp_path) == []


def test_one_file_is_replaced_only_when_asked_and_in_one_step(tmp_path):
    target = tmp_path / "a.txt"
    write_file(target, lambda p: p.write_text("one"))
    with pytest.raises(OutputError, match="exists already"):
        write_file(target, lambda p: p.write_text("two"))

    def fail(path):
        path.write_text("half")
        raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(OutputError, match="cannot be written: input/output error"):
        write_file(target, fail, overwrite=True)
    assert (target.read_text(), names(tmp_path)) == ("one", ["a.txt"])
    write_file(target, lambda p: p.write_text("two"), overwrite=True)
    assert (target.read_text(), names(tmp_path)) == ("two", ["a.txt"])


def test_a_file_that_came_meanwhile_is_not_replaced(tmp_path):
    target = tmp_path / "a.txt"

    def slow(path):
        path.write_text("ours")
        target.write_text("theirs")

    with pytest.raises(OutputError, match="exists already"):
        write_file(target, slow)
    assert (target.read_text(), names(tmp_path)) == ("theirs", ["a.txt"])


def test_the_record_names_every_file_of_the_folder(tmp_path):
    write_result(tmp_path / "out")
    told = json.loads((tmp_path / "out" / "result.json").read_text())
    assert told["outputs"] == names(tmp_path / "out")


def test_an_interruption_while_the_hidden_folder_is_made_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(folders, "lock", interrupted)
    with pytest.raises(KeyboardInterrupt), ResultFolder(tmp_path / "deep" / "out"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_while_an_earlier_result_is_removed_leaves_the_new_one_alone(tmp_path, monkeypatch):
    out, remove, asked = tmp_path / "out", shutil.rmtree, []

    def interrupted(path, **options):
        asked.append(path)
        if len(asked) == 1:
            (path / "labels.tsv").unlink()
            raise KeyboardInterrupt
        remove(path, **options)

    write_result(out)
    monkeypatch.setattr(folders.shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_result(out, "second", overwrite=True)
    assert names(tmp_path) == ["out"]
    assert (out / "labels.tsv").read_text() == "second"
