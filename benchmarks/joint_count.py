"""The number of levels by `n_levels="auto"`: how often it is right in the paper's four settings by turns.

Four levels, which the paper has not, are a cell of their own. Beside the joint solver: AltMin by evidence and, as in
the paper, by cross-validation; a Gaussian mixture by BIC on y as it is, and on y less the true f, as much as one could
know of f. Few points (n = 100) and four levels are reported, nothing is claimed of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .harness import SEED, Row, Settings, attempt, find
from .joint_accuracy import JOINT, PAPER
from .labels import asked_for, score_all, summarise
from .tables import Claim, Result

if TYPE_CHECKING:
    from stepsmooth.datasets import StepSignal

CountOf = Callable[["StepSignal"], int]
COUNTS = (2, 3, 4)
FOUR = ((4, 3.0),)  # levels, periods
MOST = 8  # as many levels as our own search offers
ORACLE = "mixture, true f known, BIC"


@dataclass(frozen=True)
class Cell:
    """Noise, size, the settings that come by turns and, if that is claimed, the least share of right counts."""

    noise_variance: float
    n: int
    right: float | None = None
    settings: tuple[tuple[int, float], ...] = PAPER

    @property
    def name(self) -> str:
        """Give the cell in words."""
        which = "" if self.settings is PAPER else ", four levels"
        return f"noise {self.noise_variance:g}, n={self.n}{which}"


CELLS = (
    *(Cell(variance, n, 0.98 if n > 100 else None) for variance in (0.0, 0.05) for n in (100, 200, 400)),
    Cell(0.1, 200, 0.90),
    *(Cell(variance, 200, settings=FOUR) for variance in (0.05, 0.1)),
)


def dataset(cell: Cell, number: int) -> StepSignal:
    """Draw a dataset; settings come by turns."""
    from stepsmooth.datasets import make_sine_steps

    seed = SEED + 210_000 + 1_000 * CELLS.index(cell) + number
    levels, periods = cell.settings[number % len(cell.settings)]
    return make_sine_steps(cell.n, levels, periods, noise_variance=cell.noise_variance, random_state=seed)


def mixture_count(values: np.ndarray) -> int:
    """Number of components of one variance by BIC; exact values are counted."""
    from sklearn.mixture import GaussianMixture

    distinct = len(np.unique(values.round(9)))
    if distinct <= MOST:
        return distinct
    column = values[:, None]
    models = [GaussianMixture(m, covariance_type="tied", n_init=3, random_state=0) for m in range(1, MOST + 1)]
    return int(np.argmin([model.fit(column).bic(column) for model in models])) + 1


def methods() -> dict[str, CountOf]:
    """Name every method: a function of the dataset that gives a number of levels."""
    from stepsmooth import StepSmooth

    return {
        JOINT: lambda d: StepSmooth("auto").fit(d.X, d.y).n_levels_,
        "AltMin, evidence": lambda d: StepSmooth("auto", solver="altmin", kernel="min").fit(d.X, d.y).n_levels_,
        "AltMin, cross-validation": lambda d: StepSmooth("cv", solver="altmin", kernel="min").fit(d.X, d.y).n_levels_,
        "mixture, BIC": lambda d: mixture_count(d.y),
        ORACLE: lambda d: mixture_count(d.y - d.smooth),
    }


def task(cell: Cell, number: int) -> dict[str, Row]:
    """Count by every method on one dataset."""
    data = dataset(cell, number)

    def one(count_of: CountOf) -> Row:
        start = time.process_time()
        found = count_of(data)
        return {"true": len(data.levels), "found": found, "cpu_s": time.process_time() - start}

    return {name: attempt({}, partial(one, count_of)) for name, count_of in methods().items()}


def summary(keys: Row, scores: list[dict[str, Row]]) -> list[Row]:
    """One row per method, with the share that was right over all, by true number, and too many or too few."""

    def figures(_: str, own: list[Row]) -> Row:
        true, found = (np.array([r[key] for r in own], dtype=int) for key in ("true", "found"))
        return {
            "right": np.mean(true == found),
            "too_few": np.mean(found < true),
            "too_many": np.mean(found > true),
            **{f"right_of_{m}": np.mean(found[true == m] == m) for m in COUNTS if m in true},
            "cpu_s": np.median([float(str(r["cpu_s"])) for r in own]),
        }

    return summarise(keys, scores, figures)


def run(settings: Settings) -> Result:
    """Count in every cell."""
    count = settings.datasets or (4 if settings.quick else 100)
    rows: list[Row] = []
    claims: list[Claim] = []
    for cell in CELLS:
        if not asked_for(cell.name, settings) or (settings.quick and cell.n > 200):
            continue
        settings.say(f"{cell.name}: {count} datasets")
        rows += summary({"cell": cell.name}, score_all(partial(task, cell), count, settings))
        right = find(rows, "right", cell=cell.name, method=JOINT)
        if cell.right is not None:
            claims.append(Claim(f"{cell.name}: share with M right", right, cell.right))
    by_turns = (f"right_of_{m}" for m in COUNTS)
    columns = ("cell", "method", "right", "too_few", "too_many", *by_turns, "datasets", "cpu_s")
    return Result(rows, claims, columns=columns)
