"""Scoring images: labels, Dice, field, levels, seconds."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linear_sum_assignment

from stepsmooth.metrics import field_rmse, label_accuracy, level_deviation, ordered_accuracy

from .harness import Row
from .labels import summarise
from .volume_cases import Task
from .volume_methods import Answer

# What is printed; the JSON keeps more: Dice of each class, standard errors, convergence.
COLUMNS = (
    "case",
    "method",
    "accuracy",
    "in_order",
    "bayes_gap",
    "dice_min",
    "field_rmse",
    "field_sd",
    "inconsistent",
    "loss",
    "seconds",
    "times_n4",
    "limit_s",
    "times_limit",
    "peak_mb",
)


def dice(true: np.ndarray, found: np.ndarray, n_classes: int) -> list[float]:
    """Overlap of each true class with the found class that the best matching gives it."""
    codes = np.unique(found, return_inverse=True)[1].ravel()
    n_found = int(codes.max()) + 1
    counts = np.bincount(true * n_found + codes, minlength=n_classes * n_found).reshape(n_classes, n_found)
    out = [0.0] * n_classes
    for k, j in zip(*linear_sum_assignment(counts, maximize=True)):
        out[k] = float(2 * counts[k, j] / max(counts[k].sum() + counts[:, j].sum(), 1))
    return out


def score(task: Task, answer: Answer) -> Row:
    """Compare an answer with the truth."""
    scan = task.scan
    inside = scan.mask
    where = inside if task.masked else np.ones(inside.shape, dtype=bool)
    air = 0 if task.masked else 1
    true, found = scan.labels[where].astype(np.int64) + air, answer.labels[where].astype(np.int64) + air
    each = dice(true, found, task.n_levels + air)
    row: Row = {
        "accuracy": label_accuracy(true, found),
        "in_order": ordered_accuracy(true, found),
        "dice": {name: round(d, 4) for name, d in zip((*["air"] * air, *scan.names), each)},
        "dice_min": min(each),
        "seconds": answer.seconds,
        "converged": answer.converged,
    }
    if answer.field_seconds:
        row["field_seconds"] = answer.field_seconds
    if not task.masked:
        row["tissue_accuracy"] = ordered_accuracy(scan.labels[inside], answer.labels[inside])
    smooth = np.zeros(inside.shape) if answer.smooth is None else np.asarray(answer.smooth, dtype=np.float64)
    row["field_sd"] = float(smooth[inside].std())
    if task.field_known:
        row["field_rmse"] = field_rmse(scan.smooth[inside], smooth[inside])
    if answer.levels is not None and np.all(np.isfinite(answer.levels)):
        shift = 1.0 if answer.smooth is None else np.exp(smooth[inside].mean())  # both fields zero-mean in the mask
        row["level_deviation"] = level_deviation(scan.levels, np.asarray(answer.levels) * shift)
    return row


def summary(keys: Row, scores: list[dict[str, Row]]) -> list[Row]:
    """One row per method: means over the images."""

    def figures(_: str, own: list[Row]) -> Row:
        row: Row = {}
        for column in dict.fromkeys(c for r in own for c in r):
            values = [r[column] for r in own if column in r]
            if column == "dice":
                row["dice"] = {k: float(np.mean([v[k] for v in values])) for k in values[0]}
            elif column == "loss":
                row["loss"] = float(np.max(values))  # "never below": the worst image counts
            elif column in ("seconds", "field_seconds", "times_n4"):  # the first fit compiles
                row[column] = float(np.median(values))
            elif column == "converged":
                row["converged"] = bool(all(values))
            else:
                row[column] = float(np.mean(values))
        if len(own) > 1 and "accuracy" in own[0]:
            row["se"] = float(np.std([float(str(r["accuracy"])) for r in own], ddof=1) / math.sqrt(len(own)))
        return row

    return summarise(keys, scores, figures)
