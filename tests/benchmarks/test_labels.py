"""Methods are scored on the same datasets: labels, levels and probabilities, failures as rows."""

import numpy as np
import pytest
from benchmarks.harness import Settings
from benchmarks.labels import Answer, asked_for, calibration, differences, minus, paired, score, summary

from stepsmooth.datasets import make_sine_steps

DATA = make_sine_steps(60, 3, 2, noise_variance=0.05, random_state=0)


def truth(data):
    return Answer(data.labels, np.eye(3)[data.labels], data.levels, data.smooth)


def upside_down(data):
    return 2 - data.labels


def fails(data):
    raise RuntimeError("not built")


def test_the_truth_has_no_error_and_labels_alone_are_an_answer():
    rows = score(DATA, {"truth": truth, "upside down": upside_down})
    best, turned = rows["truth"], rows["upside down"]
    assert best["matched"] == best["in_order"] == turned["matched"] == 1.0
    assert best["level_deviation"] == pytest.approx(0)
    assert turned["in_order"] < 1.0
    assert not {"level_deviation", "bins"} & set(turned)


def test_a_constant_may_move_between_levels_and_smooth_part():
    moved = score(DATA, {"m": lambda d: Answer(d.labels, None, d.levels - 5.0, d.smooth + 5.0)})["m"]
    assert moved["level_deviation"] == pytest.approx(0)


def test_a_summary_averages_and_pools_and_keeps_failures():
    half = {"m": lambda d: Answer(d.labels, np.full((60, 3), [1.0, 0.0, 0.0]), d.levels + 0.1, d.smooth)}
    scores = [score(DATA, {"m": truth, "f": fails}), score(DATA, {**half, "f": fails})]
    fine, failed = summary({"cell": "c"}, scores)
    assert fine["level_dev"] == pytest.approx(0.05)
    assert fine["ece"] == pytest.approx(np.mean(DATA.labels != 0) / 2)
    assert failed["error"] == "2 of 2 failed, first: RuntimeError: not built"
    assert calibration(scores, "f") is None
    assert differences(scores, "m", "f") is paired(scores, "m", "f") is None


def test_a_paired_difference_is_in_standard_errors_of_its_mean():
    scores = [{"a": {"matched": 0.9, "in_order": g}, "b": {"matched": 0.9, "in_order": 0.0}} for g in (0.1, 0.3)]
    assert paired(scores, "a", "b") == 0.0
    assert paired(scores, "a", "b", "in_order") == pytest.approx(0.2 / 0.1)


def test_cells_are_run_by_a_part_of_their_name():
    assert asked_for("noise 0.1, n=50", Settings())
    assert asked_for("noise 0.1, n=50", Settings(cases=("n=50", "n=60")))
    assert not asked_for("noise 0.1, n=50", Settings(cases=("n=60",)))


def test_what_is_missing_has_no_difference():
    assert minus(None, 1.0) is minus(1.0, None) is None
    assert minus(3.0, 1.0) == 2.0
