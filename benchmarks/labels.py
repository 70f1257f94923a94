"""Scoring labels: every method on the same datasets, one row a method."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from joblib import Parallel, delayed, parallel_config

from .harness import Row, Settings, attempt
from .journal import Journal, name_of

if TYPE_CHECKING:
    from stepsmooth.datasets import StepSignal

# Labels in level order, or an object with more: `Answer`, or what a peer returns.
LabelsOf = Callable[["StepSignal"], Any]
COLUMNS = (
    "cell", "method", "accuracy", "se", "in_order", "all_right", "level_dev", "ece", "vs_altmin", "datasets", "cpu_s",
)  # fmt: skip
BOTH = {"accuracy": "accuracy", "in_order": "accuracy in level order"}  # columns that claims about accuracy are made of


@dataclass(frozen=True)
class Answer:
    """What a method says of a signal: labels in level order and, if it has them, the rest."""

    labels: np.ndarray
    probabilities: np.ndarray | None = None
    levels: np.ndarray | None = None
    smooth: np.ndarray | None = None

    @classmethod
    def of(cls, model: Any) -> Self:
        """Give the answer of a fitted `StepSmooth`."""
        return cls(model.labels_, model.probabilities_, model.levels_, model.smooth_)


def score(data: StepSignal, methods: Mapping[str, LabelsOf]) -> dict[str, Row]:
    """Run every method, a function of the dataset that gives labels in level order or an answer, on one dataset."""
    return {name: attempt({}, partial(_score_one, data, labels_of)) for name, labels_of in methods.items()}


def _score_one(data: StepSignal, labels_of: LabelsOf) -> Row:
    from stepsmooth.metrics import label_accuracy, level_deviation, ordered_accuracy
    from stepsmooth.metrics.calibration import calibration_bins

    start = time.process_time()
    found = labels_of(data)
    spent = time.process_time() - start
    answer = Answer(found) if isinstance(found, np.ndarray) else found
    row: Row = {
        "matched": label_accuracy(data.labels, answer.labels),
        "in_order": ordered_accuracy(data.labels, answer.labels),
        "cpu_s": spent,
    }
    if answer.levels is not None:
        row["level_deviation"] = level_deviation(data.levels, answer.levels, data.smooth, answer.smooth)
    if answer.probabilities is not None:
        row["bins"] = calibration_bins(data.labels, answer.probabilities)
    return row


def asked_for(name: str, settings: Settings) -> bool:
    """Whether a cell is to be run: all are, unless parts of their names were given."""
    return not settings.cases or any(part in name for part in settings.cases)


def score_all(task: Callable[[int], dict[str, Row]], count: int, settings: Settings) -> list[dict[str, Row]]:
    """Score datasets 0..count-1 side by side: accuracy does not mind, times are CPU seconds."""
    journal = Journal(settings.journal, name_of(task))
    scores = journal.read()
    missing = [number for number in range(count) if number not in scores]
    with parallel_config(backend="loky", inner_max_num_threads=1):
        found = Parallel(n_jobs=settings.jobs, return_as="generator")(delayed(task)(number) for number in missing)
        for number, rows in zip(missing, found, strict=True):
            scores[number] = rows
            journal.add(number, rows)
    return [scores[number] for number in range(count)]


def summarise(keys: Row, scores: list[dict[str, Row]], figures: Callable[[str, list[Row]], Row]) -> list[Row]:
    """One row per method, with these figures; a method that failed on any dataset says how often and why."""
    rows: list[Row] = []
    for name in scores[0]:
        own = [s[name] for s in scores]
        failed = [r for r in own if "error" in r]
        row: Row = {**keys, "method": name, "datasets": len(own)}
        if failed:
            row["error"] = f"{len(failed)} of {len(own)} failed, first: {failed[0]['error']}"
        else:
            row |= figures(name, own)
        rows.append(row)
    return rows


def summary(keys: Row, scores: list[dict[str, Row]]) -> list[Row]:
    """One row per method, with its accuracy and what else its answers allow to say."""

    def figures(name: str, own: list[Row]) -> Row:
        matched = np.array([r["matched"] for r in own], dtype=float)
        row: Row = {
            "accuracy": matched.mean(),
            "se": matched.std(ddof=1) / math.sqrt(len(matched)),
            "in_order": np.mean([r["in_order"] for r in own]),
            "all_right": np.mean(matched == 1.0),
            "cpu_s": np.median([r["cpu_s"] for r in own]),
        }
        if "level_deviation" in own[0]:
            row["level_dev"] = np.mean([r["level_deviation"] for r in own])
        if "bins" in own[0]:
            row["ece"] = calibration(scores, name)
        return row

    return summarise(keys, scores, figures)


def calibration(scores: list[dict[str, Row]], method: str) -> float | None:
    """Expected calibration error over all points of all datasets; None where the method failed or has none."""
    from stepsmooth.metrics.calibration import pooled_error

    if not scores or any("bins" not in s[method] for s in scores):
        return None
    return pooled_error(np.sum([s[method]["bins"] for s in scores], axis=0))


def differences(scores: list[dict[str, Row]], one: str, other: str, column: str = "matched") -> np.ndarray | None:
    """Differences between two methods on the same datasets; None if either failed on any."""
    if any("error" in s[m] for s in scores for m in (one, other)):
        return None
    return np.array([float(str(s[one][column])) - float(str(s[other][column])) for s in scores])


def paired(scores: list[dict[str, Row]], one: str, other: str, column: str = "matched") -> float | None:
    """Mean difference between two methods on the same datasets, over its standard error."""
    gaps = differences(scores, one, other, column)
    if gaps is None:
        return None
    return float(gaps.mean() / max(gaps.std(ddof=1) / math.sqrt(len(gaps)), 1e-12))


def minus(one: float | None, other: float | None) -> float | None:
    """Subtract, or give None when either is missing."""
    return None if one is None or other is None else one - other
