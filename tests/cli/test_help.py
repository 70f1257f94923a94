"""Help explains itself with examples that run, lists the exit codes, and completes in the shell."""

import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from stepsmooth.cli.exits import MEANINGS
from stepsmooth.cli.presets import PRESETS

COMMANDS = ("signal", "image", "apply", "certify")


def examples(run, command):
    lines = run(command, "--help").stdout.splitlines()
    return [shlex.split(line)[1:] for line in lines if re.match(r"\s+stepsmooth \w+ \S", line)]


def test_every_example_of_the_help_runs(run, write_scans, write_trace, tmp_path, monkeypatch, short_report):
    write_scans(tmp_path)
    write_trace(tmp_path)
    page = np.full((24, 30), 180.0) * np.linspace(0.7, 1.3, 30)
    page[4:8, 5:25] = page[14:18, 5:25] = 20.0
    page += 2.0 * np.random.default_rng(0).normal(size=page.shape)
    Image.fromarray(page.astype(np.uint8)).save(tmp_path / "page.png")
    monkeypatch.chdir(tmp_path)
    ran = 0
    # The order is that of a user: apply and certify need what image wrote.
    for command in ("image", "signal", "apply", "certify"):
        found = examples(run, command)
        assert found
        for arguments in found:
            if "ion-channel" in arguments or "both" in arguments:
                arguments = [*arguments, "--levels", "3"]  # choosing the number takes longer than a test may
            done = run(*arguments)
            assert done.exit_code in ((0, 6) if command == "certify" else (0,)), (arguments, done.output)
            ran += 1
    assert ran >= 8


@pytest.mark.parametrize("command", [(), *((c,) for c in COMMANDS)])
def test_every_help_lists_the_exit_codes(run, command):
    told = run(*command, "--help").stdout
    for code, words in MEANINGS.items():
        assert re.search(rf"^\s+{int(code)}  {re.escape(words)}$", told, re.MULTILINE)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_explained(run, name):
    told = run("signal" if name == "ion-channel" else "image", "--help").stdout
    assert re.search(rf"^\s+{name}\s+\w+", told, re.MULTILINE)


def test_the_shell_completes_commands_and_presets(run_apart, tmp_path, monkeypatch):
    monkeypatch.setenv("_STEPSMOOTH_COMPLETE", "complete_bash")
    for words, cword, expected in (("stepsmooth im", "1", "image"), ("stepsmooth image --preset t1", "3", "t1w-brain")):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", cword)
        assert expected in run_apart(cwd=tmp_path).stdout.split()


def test_help_loads_no_numerics_and_the_package_no_files(tmp_path):
    for module, heavy in (
        ("stepsmooth.cli", {"numpy", "numba", "sklearn", "nibabel", "matplotlib", "pandas", "jinja2", "tifffile"}),
        ("stepsmooth", {"nibabel", "pandas", "matplotlib", "tifffile", "PIL", "typer"}),
    ):
        code = f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))"
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.stdout.strip() == "[]", (module, done)
