"""A run that is cut off goes on where it was, and never with scores of other code."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.harness import Settings
from benchmarks.labels import score_all

from benchmarks import journal, volumes


def task(cell, number):
    if (cell, number) == ("stops", 2):
        raise KeyboardInterrupt
    if cell == "fails":
        return {"m": {"error": f"{number} is not built"}}
    return {"m": {"matched": np.float64(number), "bins": np.array([[1, 2], [3, 4]]), "cpu_s": next(CLOCK)}}


CLOCK = iter(range(1_000_000))


@pytest.fixture
def settings(tmp_path):
    return Settings(journal=tmp_path)


def test_what_was_scored_is_not_scored_again(settings):
    first = score_all(partial(task, "a"), 3, settings)
    more = score_all(partial(task, "a"), 5, settings)
    assert [s["m"]["matched"] for s in more] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert [s["m"]["cpu_s"] for s in more[:3]] == [s["m"]["cpu_s"] for s in first]
    assert np.array_equal(more[0]["m"]["bins"], first[0]["m"]["bins"])


def test_a_run_that_is_cut_off_keeps_what_it_had(settings):
    with pytest.raises(KeyboardInterrupt):
        score_all(partial(task, "stops"), 4, settings)
    kept = journal.Journal(settings.journal, journal.name_of(partial(task, "stops")))
    assert sorted(kept.read()) == [0, 1]
    with kept.path.open("a") as file:
        file.write('\n[2, {"m": {"mat')
    assert sorted(kept.read()) == [0, 1]
    kept.add(3, {"m": {"matched": 1.0}})
    assert sorted(kept.read()) == [0, 1, 3]


def test_another_cell_or_other_code_begins_anew(settings, monkeypatch):
    first = score_all(partial(task, "a"), 1, settings)
    other = score_all(partial(task, "b"), 1, settings)
    assert other[0]["m"]["cpu_s"] != first[0]["m"]["cpu_s"]
    monkeypatch.setattr(journal, "digest_of_sources", lambda: "changed")
    assert score_all(partial(task, "a"), 1, settings)[0]["m"]["cpu_s"] != first[0]["m"]["cpu_s"]


def test_failures_are_tried_again(settings):
    score_all(partial(task, "fails"), 2, settings)
    assert journal.Journal(settings.journal, journal.name_of(partial(task, "fails"))).read() == {}


def test_without_a_folder_nothing_is_kept():
    first, again = (score_all(partial(task, "a"), 1, Settings()) for _ in range(2))
    assert first[0]["m"]["cpu_s"] != again[0]["m"]["cpu_s"]


def test_the_digest_is_of_the_sources(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x = 1")
    monkeypatch.setattr(journal, "ROOT", tmp_path)
    digest = journal.digest_of_sources.__wrapped__
    before = digest()
    (tmp_path / "src" / "a.py").write_text("x = 2")
    assert digest() != before


def test_an_image_is_scored_once(settings, monkeypatch):
    monkeypatch.setattr(volumes, "dataset", lambda case, number, settings: task(case.name, number))
    warmed = []
    monkeypatch.setattr(volumes, "ours", warmed.append)
    case = SimpleNamespace(name="a", make=lambda number, quick: (number, quick))
    first = volumes.scored(case, 2, settings)
    assert volumes.scored(case, 2, settings) == [{"m": s["m"] | {"bins": s["m"]["bins"].tolist()}} for s in first]
    assert warmed == [(0, True)]  # compiled before anything is timed, and not where nothing is left to time
    timed_otherwise = volumes.scored(case, 1, Settings(journal=settings.journal, threads=2))
    assert timed_otherwise[0]["m"]["cpu_s"] != first[0]["m"]["cpu_s"]
