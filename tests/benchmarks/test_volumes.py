"""The volume benchmark: cases by name, answers scored against the truth, absent data and failures as rows."""

import numpy as np
import pytest
from benchmarks.harness import Settings
from benchmarks.volume_cases import CASES, OURS
from benchmarks.volume_methods import Answer, methods
from benchmarks.volume_scores import dice, score, summary

from benchmarks import volume_cases, volumes

BY_NAME = {case.name: case for case in CASES}
EMBEDDED = [case for case in CASES if not case.name.startswith(("genuine", "icbm152"))]


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.delenv("STEPSMOOTH_DATA", raising=False)
    monkeypatch.setattr(volume_cases, "SMALL", (30, 36, 30))


def truth(task):
    return Answer(task.scan.labels, task.scan.smooth, task.scan.levels, 1.0)


@pytest.mark.parametrize("case", EMBEDDED, ids=lambda case: case.name)
def test_the_truth_scores_full_marks_in_every_case(case):
    task = case.make(0, True)
    row = score(task, truth(task))
    assert row["accuracy"] == row["in_order"] == row["dice_min"] == 1.0
    assert row["field_rmse"] == pytest.approx(0, abs=1e-6)
    assert row["level_deviation"] == pytest.approx(0, abs=1e-6)


def test_datasets_of_a_case_differ_and_the_same_number_gives_the_same():
    make = BY_NAME["slice-coil-9"].make
    first, again, other = make(0, True), make(0, True), make(1, True)
    np.testing.assert_array_equal(first.scan.image, again.scan.image)
    assert not np.array_equal(first.scan.image, other.scan.image)


def test_dice_is_of_matched_classes_and_a_lost_class_has_none():
    true = np.array([0, 0, 1, 1, 2, 2])
    assert dice(true, np.array([5, 5, 3, 3, 4, 4]), 3) == [1.0, 1.0, 1.0]
    assert min(dice(true, np.array([0, 0, 1, 1, 1, 1]), 3)) == 0.0


def test_air_counts_where_no_mask_is_told():
    task = BY_NAME["air-3"].make(0, True)
    nothing = Answer(np.full(task.scan.mask.shape, -1), None, None, 1.0)
    row = score(task, nothing)
    assert row["accuracy"] == pytest.approx(1 - task.scan.mask.mean())
    assert row["tissue_accuracy"] == 0.0
    assert set(row["dice"]) == {"air", "CSF", "GM", "WM"}


def test_bayes_beats_clusters_and_is_beaten_by_the_truth_alone():
    task = BY_NAME["slice-coil-9"].make(0, True)
    bayes = volumes.best(task, volumes.bayes)["accuracy"]
    plain = volumes.best(task, methods(1, slow=True)["N4 + kmeans raw"])["accuracy"]
    assert plain < bayes < 1.0


def test_a_run_of_one_case_has_a_row_per_method_and_failures_are_rows(monkeypatch):
    def fails(task, **parameters):
        raise RuntimeError("not built")

    real = volumes.methods
    monkeypatch.setattr(volumes, "methods", lambda threads, *, slow: {**real(threads, slow=True), OURS: fails})
    monkeypatch.setattr(volume_cases, "SMALL_SLICE", (45, 54))
    result = volumes.run(Settings(quick=True, cases=("slice-coil-9",), methods=("N4 + kmeans raw", "kmeans log", OURS)))
    rows = {row["method"]: row for row in result.rows}
    assert {"pixelwise Bayes", "kmeans log", "N4 + kmeans raw", OURS} <= set(rows)
    assert "mixture raw" not in rows
    assert rows[OURS]["error"].startswith("1 of 1 failed, first: RuntimeError: not built")
    assert rows["N4 + kmeans raw"]["field_rmse"] < rows["kmeans log"]["field_rmse"]
    assert rows["kmeans log"]["bayes_gap"] < 0


def test_a_target_is_a_figure_or_another_method_and_only_of_what_was_asked():
    figures = {("inconsistent", OURS): 0.01, ("inconsistent", "N4, to 1e-6"): 0.02}
    case = BY_NAME["icbm152"]
    claims = case.claims(lambda column, case, method: figures.get((column, method)), lambda method: True)
    assert [(c.value, c.target, c.met) for c in claims] == [(0.01, 0.02, True)]
    assert case.claims(lambda *a, **k: 1.0, lambda method: False) == []


def test_an_unknown_case_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown case 'brain': choose from volume-coil-3, "):
        volumes.run(Settings(quick=True, cases=("brain",)))


def test_absent_data_are_a_row_that_says_so():
    result = volumes.run(Settings(quick=True, cases=("genuine-t1",)))
    assert "set STEPSMOOTH_DATA" in result.rows[0]["error"]


def test_a_summary_takes_the_worst_loss_and_the_mean_of_the_rest():
    rows = [{"accuracy": 0.9, "loss": 0.0, "seconds": 1.0}, {"accuracy": 1.0, "loss": 0.2, "seconds": 3.0}]
    (row,) = summary({"case": "c"}, [{"m": r} for r in rows])
    assert (row["accuracy"], row["loss"], row["seconds"], row["datasets"]) == (0.95, 0.2, 2.0, 2)


def test_a_field_is_estimated_once_for_all_clusterers(monkeypatch):
    task = BY_NAME["slice-coil-9"].make(0, True)
    calls = []

    def flat(image, **settings):
        calls.append(settings["shrink"])
        return np.zeros(image.shape, dtype=np.float32)

    monkeypatch.setattr("stepsmooth.peers.n4_field", flat)
    for name, method in methods(1, slow=True).items():
        if name.startswith("N4 +"):
            list(method(task))
    assert calls == [1]
