"""Scoring labels: every method on the same datasets, one row a method."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from joblib import Parallel, delayed, parallel_config

from .harness import Row, Settings, attempt

if TYPE_CHECKING:
    from stepsmooth.datasets import StepSignal

LabelsOf = Callable[["StepSignal"], np.ndarray]
COLUMNS = ("cell", "method", "accuracy", "se", "in_order", "all_right", "datasets", "cpu_s")


def score(data: StepSignal, methods: Mapping[str, LabelsOf]) -> dict[str, Row]:
    """Run every method, a function of the dataset that gives labels in level order, on one dataset."""
    from stepsmooth.metrics import label_accuracy, ordered_accuracy

    def one(labels_of: LabelsOf) -> Row:
        start = time.process_time()
        labels = labels_of(data)
        return {
            "matched": label_accuracy(data.labels, labels),
            "in_order": ordered_accuracy(data.labels, labels),
            "cpu_s": time.process_time() - start,
        }

    return {name: attempt({}, partial(one, labels_of)) for name, labels_of in methods.items()}


def score_all(task: Callable[[int], dict[str, Row]], count: int, settings: Settings) -> list[dict[str, Row]]:
    """Score datasets 0..count-1 side by side: accuracy does not mind, times are CPU seconds."""
    with parallel_config(backend="loky", inner_max_num_threads=1):
        return list(Parallel(n_jobs=settings.jobs)(delayed(task)(i) for i in range(count)))


def summary(keys: Row, scores: list[dict[str, Row]]) -> list[Row]:
    """One row per method; a method that failed on any dataset says how often and why."""
    rows: list[Row] = []
    for name in scores[0]:
        own = [s[name] for s in scores]
        failed = [r for r in own if "error" in r]
        row: Row = {**keys, "method": name, "datasets": len(own)}
        if failed:
            row["error"] = f"{len(failed)} of {len(own)} failed, first: {failed[0]['error']}"
        else:
            matched = np.array([r["matched"] for r in own], dtype=float)
            row |= {
                "accuracy": matched.mean(),
                "se": matched.std(ddof=1) / math.sqrt(len(matched)),
                "in_order": np.mean([r["in_order"] for r in own]),
                "all_right": np.mean(matched == 1.0),
                "cpu_s": np.median([r["cpu_s"] for r in own]),
            }
        rows.append(row)
    return rows


def paired(scores: list[dict[str, Row]], one: str, other: str) -> float | None:
    """Mean difference between two methods on the same datasets, over its standard error."""
    if any("error" in s[m] for s in scores for m in (one, other)):
        return None
    gaps = np.array([float(str(s[one]["matched"])) - float(str(s[other]["matched"])) for s in scores])
    return float(gaps.mean() / max(gaps.std(ddof=1) / math.sqrt(len(gaps)), 1e-12))
