"""The command names its benchmarks, runs what is asked, and keeps going when one fails."""

import json
import sys
from types import ModuleType

import pytest
from benchmarks.tables import Claim, Result

from benchmarks import __main__ as command


@pytest.fixture
def two(monkeypatch):
    """Two benchmarks instead of ours: one that runs and one that cannot."""
    good, bad = ModuleType("good", "Runs."), ModuleType("bad", "Fails.")
    good.run = lambda settings: Result([{"threads": settings.threads}], [Claim("always", 1.0, 0.0)])

    def fail(settings):
        raise RuntimeError("no data")

    bad.run = fail
    monkeypatch.setattr(command, "NAMES", ("bad", "good"))
    for module in (good, bad):
        monkeypatch.setitem(sys.modules, f"benchmarks.{module.__name__}", module)


def test_list_names_every_benchmark_with_its_title(capsys):
    assert command.main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(command.NAMES)
    assert all(len(line.split()) > 4 for line in lines)


def test_every_result_is_kept_and_a_failure_does_not_stop_the_rest(two, tmp_path, capsys):
    assert command.main(["--out", str(tmp_path), "--threads", "1", "--quick"]) == 1
    kept = {name: json.loads((tmp_path / f"{name}.json").read_text()) for name in ("good", "bad")}
    assert kept["bad"]["error"] == "RuntimeError: no data"
    assert kept["good"]["result"]["rows"] == [{"threads": 1}]
    assert kept["good"]["settings"] == {"quick": True, "threads": 1, "repeat": 5, "only": []}
    assert kept["good"]["machine"]["cpu"]
    assert "met" in capsys.readouterr().out


def test_only_what_is_named_is_run(two, tmp_path):
    assert command.main(["good", "--out", str(tmp_path), "--threads", "1"]) == 0
    assert [p.name for p in tmp_path.iterdir()] == ["good.json"]


@pytest.mark.parametrize("arguments", [["nothing"], ["--threads", "0"], ["--repeat", "0"]])
def test_bad_arguments_are_refused(arguments, capsys):
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert "error" in capsys.readouterr().err
