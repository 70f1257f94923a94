"""Results are judged by their figures, printed with their failures, and come back from JSON as they were."""

import io
import json
import math

import numpy as np
import pytest
from benchmarks.tables import Claim, Record, Result, cell, plain, read, show, write
from rich.console import Console


def record(**changes):
    rows = [
        {"method": "ours", "n": 1_000, "seconds": 0.5},
        {"method": "peer", "n": 1_000, "error": "it broke"},
    ]
    claims = [Claim("peer / ours", None, 1.0), Claim("seconds", 0.5, 1.0, "at most")]
    base = {
        "name": "example",
        "title": "An example",
        "result": Result(rows, claims, ["a note"], ["method", "seconds"]),
        "machine": {"cpu": "some"},
        "settings": {"quick": True},
        "load": {"before": [0.1, 0.2, 0.3]},
        "seconds": 1.5,
    }
    return Record(**{**base, **changes})


def printed(value):
    out = io.StringIO()
    show(value, Console(width=120, file=out))
    return out.getvalue()


@pytest.mark.parametrize(
    ("value", "sense", "met"),
    [
        (2.0, "at least", True),
        (0.5, "at least", False),
        (1.0, "at least", True),
        (2.0, "at most", False),
        (0.5, "at most", True),
        (None, "at least", False),
        (math.nan, "at most", False),
        (math.inf, "at least", False),
    ],
)
def test_a_claim_is_met_by_its_figure_and_never_without_one(value, sense, met):
    assert Claim("x", value, 1.0, sense).met is met


def test_a_record_round_trips(tmp_path):
    kept = record()
    assert read(write(kept, tmp_path / "new")) == kept


def test_the_json_says_whether_each_claim_is_met(tmp_path):
    content = json.loads(write(record(), tmp_path).read_text())
    assert [c["met"] for c in content["result"]["claims"]] == [False, True]


def test_numpy_values_and_missing_numbers_become_plain():
    assert plain({"a": np.float64(1.5), "b": (np.int64(2), math.nan), "c": np.array([1, 2])}) == {
        "a": 1.5,
        "b": [2, None],
        "c": [1, 2],
    }


def test_what_failed_is_printed_with_its_reason_even_in_chosen_columns():
    text = printed(record())
    assert "it broke" in text
    assert "NOT met" in text
    assert "a note" in text


def test_a_benchmark_that_could_not_run_says_why():
    assert "failed: ValueError: no" in printed(record(result=Result([]), error="ValueError: no"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (True, "yes"),
        (1_000_000, "1,000,000"),
        (0.00123456, "0.001235"),
        (54321.9, "54,322"),
        ("a", "a"),
    ],
)
def test_values_are_written_as_people_read_them(value, text):
    assert cell(value) == text
