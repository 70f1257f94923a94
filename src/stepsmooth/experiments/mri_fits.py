"""AltMin on a head, looked at after every iteration."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stepsmooth.experiments.heads import HeadCase
from stepsmooth.model.arrays import Floats, Ints

if TYPE_CHECKING:
    from stepsmooth.datasets import StepImage


@dataclass(frozen=True, eq=False)
class Fit:
    """AltMin's answer on one head, and its labels and levels after each iteration."""

    scan: StepImage
    tau: float
    labels: Ints
    field: Floats
    corrected: Floats
    accuracy: Floats
    deviation: Floats
    changed: Floats

    @property
    def settled(self) -> int:
        """Iterations until the accuracy stays within a thousandth of the last."""
        off = np.flatnonzero(np.abs(self.accuracy - self.accuracy[-1]) > 1e-3)
        return int(off[-1]) + 2 if len(off) else 1


def fit(case: HeadCase, tau: float) -> Fit:
    """Run AltMin at one tau, and look at every iteration through `callback`."""
    from stepsmooth import GridStepSmooth
    from stepsmooth.metrics import label_accuracy, level_deviation

    scan = case.scan()
    true = scan.labels[scan.mask].astype(np.int64)
    seen: list[tuple[float, float, float]] = []
    before: list[Ints] = []

    def look(state: Any) -> None:
        shift = float(np.mean(state.smooth))
        levels = np.exp(state.levels + shift).reshape(scan.levels.shape)
        right = label_accuracy(true, state.labels)
        off = level_deviation(scan.levels, levels, labels_true=true, labels=state.labels)
        changed = float(np.mean(state.labels != before[-1])) if before else float("nan")
        before.append(np.array(state.labels))
        seen.append((right, off, changed))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options: dict[str, Any] = {"channel_axis": scan.channel_axis, "spacing": scan.spacing, "callback": look}
        model = GridStepSmooth(
            len(scan.levels), solver="altmin", start="smooth", tau=tau * case.sequences, **options
        ).fit(scan.image, mask=scan.mask)
    history = np.array(seen)
    return Fit(
        scan, tau, np.asarray(model.labels_), np.asarray(model.field_), np.asarray(model.corrected_),
        history[:, 0], history[:, 1], history[:, 2],
    )  # fmt: skip


def wrong_of(fit_: Fit) -> np.ndarray:
    """Return where labels within the mask are wrong; labels are in the order of the levels."""
    return np.asarray(fit_.scan.mask & (fit_.labels != fit_.scan.labels))
