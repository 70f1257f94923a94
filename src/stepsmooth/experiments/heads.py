"""The heads of items 8 and 9: a slice of BrainWeb, or of our own phantom, under a strong bias field.

The paper does not say which slice or volume, which field and how much noise it used. Here: the axial slice z = 90,
surface coils whose field varies twelvefold over the tissue (or others of :func:`stepsmooth.datasets.make_field`), 1 %
Rician noise. Every method is told the mask.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stepsmooth.experiments.running import SEED
from stepsmooth.model.arrays import Ints

if TYPE_CHECKING:
    from stepsmooth.datasets import LabelVolume, StepImage

BRAIN = ("CSF", "GM", "WM")
SEQUENCES = ("T1w", "T2w", "PDw")
SLICE = 90  # of the phantom, mm above its lowest plane
RATIO, NOISE = 12.0, 1.0


@dataclass(frozen=True)
class HeadCase:
    """Which head to scan.

    Attributes
    ----------
    classes : {4, 10}
        The paper's counts, background included: background and three tissues, or all labels of the phantom.
    sequences : {1, 3}
        T1w alone, or T1w, T2w and PDw.
    field : str
        A kind of :func:`stepsmooth.datasets.make_field`.
    seed : int
    step : int
        Keep every so many pixels: 2 in quick runs.
    data : pathlib.Path or None
        The folder of BrainWeb; None takes the embedded head.
    """

    classes: int = 4
    sequences: int = 1
    field: str = "coil"
    seed: int = 0
    step: int = 1
    data: Path | None = None

    @property
    def name(self) -> str:
        """The case in words, without field and seed."""
        return f"{self.classes} classes, {self.sequences} sequence{'s' if self.sequences > 1 else ''}"

    def scan(self) -> StepImage:
        """Scan the head."""
        from stepsmooth.datasets import simulate_scan

        few = self.classes == 4
        return simulate_scan(
            head_slice(self.data, self.step),
            contrasts=SEQUENCES[: self.sequences],
            classes=BRAIN if few else None,
            strip=few,
            field=self.field,
            ratio=RATIO,
            noise=NOISE,
            random_state=SEED + self.seed,
        )

    def true_labels(self, scan: StepImage) -> Ints:
        """Return the labels that the paper scores against: of ten classes, all of the phantom's own."""
        if self.classes == 4:
            return scan.labels.astype(np.int64)
        return head_slice(self.data, self.step).labels.astype(np.int64)


def source(data: Path | None) -> str:
    """Say which head it is.

    Examples
    --------
    >>> source(None)
    'the embedded head'
    """
    return "BrainWeb's normal phantom" if data is not None else "the embedded head"


@lru_cache(maxsize=4)
def head_slice(data: Path | None, step: int) -> LabelVolume:
    """Return the slice of the phantom."""
    from stepsmooth.datasets import LabelVolume, load_brainweb, make_head_labels

    if data is None:
        return make_head_labels((181 // step, 217 // step), random_state=SEED)
    volume = load_brainweb(data)
    flat = np.ascontiguousarray(volume.labels[::step, ::step, SLICE])
    return LabelVolume(flat, volume.names, tuple(step * s for s in volume.spacing[:2]))


def brainweb_folder(data: Path | None) -> Path | None:
    """Return the data folder if it holds BrainWeb.

    Examples
    --------
    >>> brainweb_folder(None) is None
    True
    """
    from stepsmooth.datasets.brainweb import load_brainweb

    if data is None:
        return None
    try:
        load_brainweb(data)
    except FileNotFoundError:
        return None
    return data


def accuracy_cap(labels: Ints, groups: Ints) -> float:
    """Return the accuracy against `labels` of one who knows the group of every place, and no more.

    A method may score above it by chance: a wrong field splits equal intensities by place.

    Parameters
    ----------
    labels : array of ints
        The labels to score against.
    groups : array of ints
        What can be told apart: one number for each place.

    Examples
    --------
    >>> accuracy_cap(np.array([0, 0, 1, 2]), np.array([5, 5, 5, 6]))
    0.75
    """
    kept = sum(int(np.unique(labels[groups == g], return_counts=True)[1].max()) for g in np.unique(groups))
    return kept / labels.size
