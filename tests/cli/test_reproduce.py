"""The command that runs the paper again."""

import pytest
from typer.testing import CliRunner

from stepsmooth.cli import app


def call(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)], prog_name="stepsmooth")


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.delenv("STEPSMOOTH_DATA", raising=False)


def test_a_named_experiment_runs_once_and_is_kept(tmp_path):
    first = call("signals", "--quick", "--jobs", 1, "--out", tmp_path / "new")
    assert first.exit_code == 0, first.output
    assert (tmp_path / "new" / "index.html").exists()
    assert (tmp_path / "new" / "signals" / "signals.svg").exists()
    again = call("5", "--quick", "--jobs", 1, "--out", tmp_path / "new")
    assert "kept from before" in again.stdout


def test_unknown_names_are_refused_with_those_that_are_known(tmp_path):
    refused = call("figure-7", "--out", tmp_path)
    assert refused.exit_code == 2
    assert "figure-7" in refused.stderr
    assert "noiseless" in refused.stderr


def test_a_data_folder_that_is_not_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("STEPSMOOTH_DATA", str(tmp_path / "nowhere"))
    refused = call("signals", "--quick", "--out", tmp_path)
    assert refused.exit_code == 2
    assert "STEPSMOOTH_DATA" in refused.stderr


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    assert call("signals", "--out", tmp_path / "file").exit_code == 2


def test_the_list_names_every_experiment():
    from stepsmooth.experiments import EXPERIMENTS

    told = call("--list").stdout
    assert all(experiment.name in told for experiment in EXPERIMENTS)


def test_a_failed_experiment_ends_with_an_error_but_leaves_a_page(tmp_path, monkeypatch):
    from stepsmooth.experiments import signals

    monkeypatch.setattr(signals, "draw", lambda data: 1 / 0)
    failed = call("signals", "--quick", "--jobs", 1, "--out", tmp_path)
    assert failed.exit_code == 1
    assert "ZeroDivisionError" in failed.stdout
    assert "ZeroDivisionError" in (tmp_path / "index.html").read_text()
