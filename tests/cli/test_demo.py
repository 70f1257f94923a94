"""The command line: help at once, the demo in words and pictures, errors in one sentence."""

import os
import re
import subprocess
import sys

import matplotlib as mpl
import pytest
from typer.testing import CliRunner

import stepsmooth
from stepsmooth.cli import app

mpl.use("Agg")
PICTURES = ("decomposition.png", "lasting.png", "scattered.png", "head.png")
REPORT = "head.html"


def run(*arguments):
    return CliRunner().invoke(app, list(arguments), prog_name="stepsmooth")


def run_apart(code_or_module, *arguments, cwd):
    """Run in a process of its own, as a user would."""
    source = os.path.dirname(os.path.dirname(stepsmooth.__file__))
    environment = os.environ | {"PYTHONPATH": source, "COLUMNS": "100"}
    command = [sys.executable, *code_or_module, *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The demo, run once as a process in an empty folder."""
    folder = tmp_path_factory.mktemp("demo")
    return run_apart(["-m", "stepsmooth.cli"], "demo", "--out", "new/pictures", cwd=folder), folder


def test_the_demo_ends_well_and_writes_its_pictures_and_report_only(told):
    done, folder = told
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(p.name for p in (folder / "new/pictures").iterdir()) == sorted([*PICTURES, REPORT])


def test_the_demo_says_where_the_pictures_are(told):
    done, _ = told
    assert all(os.path.join("new/pictures", name) in done.stdout for name in PICTURES)


def test_the_demo_ends_with_a_report_and_says_where_it_is(told):
    done, folder = told
    assert done.stdout.splitlines()[-1].endswith(os.path.join("new/pictures", REPORT))
    page = (folder / "new/pictures" / REPORT).read_bytes()
    assert page.startswith(b"<!DOCTYPE html>")
    assert b"It helped" in page
    assert len(page) < 20_000_000


def test_the_pictures_are_png_files_small_enough_for_a_readme(told):
    _, folder = told
    for name in PICTURES:
        content = (folder / "new/pictures" / name).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) <= 250_000


def test_the_demo_beats_its_rivals_and_comes_near_the_best_possible(told):
    done, _ = told
    shares = [[float(s) for s in re.findall(r"([\d.]+)%", line)] for line in done.stdout.splitlines()]
    lines = done.stdout.splitlines()
    found = [s for s, line in zip(shares, lines) if "labels right" in line]
    (ours, rival), (joint, altmin), (scattered,), (head, clusters) = found
    best_line, best_chain, best_plane = (s[0] for s, line in zip(shares, lines) if "Whoever" in line)
    assert rival < 75 < ours
    assert ours > best_line - 1.5
    assert altmin < 75 < joint
    assert joint > best_chain - 1.5
    assert scattered > best_plane - 2
    assert clusters < 75 < head
    assert head > 99


def test_help_explains_itself_with_an_example():
    for arguments in (["--help"], ["demo", "--help"]):
        done = run(*arguments)
        assert done.exit_code == 0
        assert "stepsmooth demo" in done.stdout


def test_help_loads_neither_numerics_nor_pictures(tmp_path):
    heavy = "{'matplotlib', 'numba', 'sklearn', 'scipy'}"
    code = f"import sys, stepsmooth.cli; print(sorted({heavy} & set(sys.modules)))"
    assert run_apart(["-c", code], cwd=tmp_path).stdout.strip() == "[]"


def test_version_is_that_of_the_package():
    assert run("--version").stdout == f"stepsmooth {stepsmooth.__version__}\n"


@pytest.mark.parametrize("out", ["notes.txt", "notes.txt/below"])
def test_an_out_that_is_no_folder_is_refused_in_one_sentence(tmp_path, out):
    (tmp_path / "notes.txt").write_text("mine")
    done = run("demo", "--out", str(tmp_path / out))
    assert done.exit_code == 2
    assert done.stderr.startswith("--out ")
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_wrong_option_is_named_with_exit_code_two():
    done = run("demo", "--nonsense")
    assert done.exit_code == 2
    assert "--nonsense" in done.stderr
    assert "Traceback" not in done.stderr
