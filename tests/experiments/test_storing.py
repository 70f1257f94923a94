"""What is kept on disk: finished results are not run again, half-written ones are, and the page shows all."""

import csv
import json
import re

import pytest
from matplotlib.figure import Figure

from stepsmooth.experiments import EXPERIMENTS, Claim, Experiment, Outcome, Settings, reproduce
from stepsmooth.experiments.page import claims_table, write_page
from stepsmooth.experiments.storing import RECORD, finished, store, stored

NASTY = "<script>alert('x')</script> & | more"


@pytest.fixture
def counted(monkeypatch):
    """Experiments that only count how often they run; one of them fails."""
    ran = []

    def run(self, runner):
        ran.append(self.name)
        if self.name == "noisy":
            raise RuntimeError(NASTY)
        return Outcome(
            figures={"picture": Figure()},
            captions={"picture": NASTY},
            tables={"numbers": [{"n": 1, "error": NASTY}, {"n": float("nan")}]},
            shown={"numbers": ("n", "error")},
            claims=[Claim("Figure 1", NASTY, "so it is", "holds", "picture")],
            missing=[NASTY],
            settings={"seed": 3},
        )

    monkeypatch.setattr(Experiment, "run", run)
    return ran


def test_a_finished_experiment_is_kept_unless_asked_again_or_asked_otherwise(counted, tmp_path):
    quick = Settings(quick=True)
    assert [d.state for d in reproduce(["signals"], tmp_path, quick)] == ["run"]
    assert [d.state for d in reproduce(["signals"], tmp_path, quick)] == ["kept"]
    assert [d.state for d in reproduce(["signals"], tmp_path, quick, again=True)] == ["run"]
    assert [d.state for d in reproduce(["signals"], tmp_path, Settings(quick=True, seeds=5))] == ["run"]
    assert len(counted) == 3


def test_a_run_that_was_cut_short_is_run_again(counted, tmp_path):
    settings = Settings(quick=True)
    reproduce(["signals"], tmp_path, settings)
    record = tmp_path / "signals" / RECORD
    record.write_text(record.read_text()[:50])
    assert not finished("signals", settings, tmp_path)
    reproduce(["signals"], tmp_path, settings)
    assert counted == ["signals", "signals"]


def test_everything_is_written_and_nothing_half_written_is_left(counted, tmp_path):
    reproduce(["signals"], tmp_path, Settings(quick=True))
    names = {path.name for path in (tmp_path / "signals").iterdir()}
    assert names == {"picture.png", "picture.svg", "numbers.csv", RECORD}
    record = json.loads((tmp_path / "signals" / RECORD).read_text())
    assert record["settings"] == {"seed": 3}
    assert record["versions"]["numpy"]
    assert record["seconds"] >= 0
    with (tmp_path / "signals" / "numbers.csv").open(newline="") as file:
        assert next(csv.DictReader(file))["error"] == NASTY


def test_a_failure_is_shown_and_does_not_stop_the_others(counted, tmp_path):
    found = reproduce(["noisy", "mri"], tmp_path, Settings(quick=True))
    assert [d.state for d in found] == ["failed", "run"]
    assert NASTY in found[0].error
    page = (tmp_path / "index.html").read_text()
    assert "RuntimeError" in page
    assert stored("noisy", tmp_path) is None


def test_the_page_is_escaped_and_asks_for_nothing(counted, tmp_path):
    reproduce(["signals", "noisy"], tmp_path, Settings(quick=True))
    page = (tmp_path / "index.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "data:image/png;base64," in page
    links = re.findall(r'(?:href|src)="([^"]+)"', page)
    assert all(link.startswith(("#", "data:", "signals/", "noisy/")) for link in links)
    assert "holds" in page
    assert "Not run" in page


def test_the_page_names_experiments_that_were_not_run(tmp_path):
    page = write_page(tmp_path, Settings()).read_text()
    assert all(experiment.name in page for experiment in EXPERIMENTS)


def test_claims_become_a_table_of_markdown(counted, tmp_path):
    reproduce(["signals"], tmp_path, Settings(quick=True))
    lines = claims_table(tmp_path).splitlines()
    assert len(lines) == 3
    assert lines[2].count(" | ") == 4  # bars within cells are escaped
    assert (tmp_path / "claims.md").read_text().splitlines() == lines


def test_an_error_while_writing_leaves_no_record(tmp_path):
    def page(path):
        raise OSError("disk full")

    outcome = Outcome(pages={"space": page})
    with pytest.raises(OSError, match="disk full"):
        store(outcome, EXPERIMENTS[0], Settings(), tmp_path, 1.0)
    assert stored(EXPERIMENTS[0].name, tmp_path) is None
