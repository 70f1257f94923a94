"""The joint solver on a line: share of right labels, beside AltMin, a hidden Markov model and the Bayes oracle.

Every method sees the same datasets; seeds are the benchmark's own. The joint solver runs as it comes
(`solver="joint"`, M given): it chooses tau, the noise and the prior of the labels itself. AltMin is the paper's: min
kernel, GCV, smooth first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .harness import SEED, Row, Settings, find
from .labels import COLUMNS, LabelsOf, paired, score, score_all, summary
from .tables import Claim, Result

if TYPE_CHECKING:
    from stepsmooth.datasets import StepSignal

JOINT, ALTMIN, HMM, ORACLE = "stepsmooth, joint", "stepsmooth, AltMin", "hidden Markov model", "Bayes oracle"


@dataclass(frozen=True)
class Cell:
    """One setting of the paper's model, with independent labels or, if they switch, a chain."""

    n: int
    n_levels: int
    beta: float
    noise_variance: float
    switching: float | None = None
    all_right: float | None = None  # the least share of datasets with every label right
    accuracy: float | None = None
    from_oracle: float | None = None  # the largest distance

    @property
    def name(self) -> str:
        """Give the cell in words."""
        chain = f", switching {self.switching:g}" if self.switching else ""
        return f"({self.n_levels},{self.beta:g}) noise {self.noise_variance:g}, n={self.n}{chain}"


CELLS = (
    *(Cell(36, m, b, 0.0, all_right=0.99) for m, b in ((2, 1.0), (2, 2.0), (3, 2.0), (3, 3.0))),
    Cell(50, 3, 3.0, 0.1),
    Cell(50, 3, 3.0, 0.15),
    Cell(100, 3, 3.0, 0.05, from_oracle=0.02),
    Cell(225, 3, 3.0, 0.1, from_oracle=0.02),
    Cell(400, 3, 3.0, 0.15, from_oracle=0.02),
    Cell(400, 3, 3.0, 0.05, switching=0.05, accuracy=0.99),
    Cell(400, 3, 3.0, 0.05, switching=0.02, accuracy=0.99),
    Cell(400, 3, 3.0, 0.05, switching=0.01, accuracy=0.97),
)


def dataset(cell: Cell, number: int) -> StepSignal:
    """Draw a dataset of a cell; a chain is drawn again until it has visited every level."""
    from stepsmooth.datasets import make_markov_steps, make_sine_steps

    seed = SEED + 50_000 + 1_000 * CELLS.index(cell) + number
    if cell.switching is None:
        return make_sine_steps(cell.n, cell.n_levels, cell.beta, noise_variance=cell.noise_variance, random_state=seed)
    rng = np.random.default_rng(seed)
    while True:
        data = make_markov_steps(
            cell.n,
            cell.n_levels,
            cell.beta,
            switching=cell.switching,
            noise_variance=cell.noise_variance,
            random_state=rng,
        )
        if len(np.unique(data.labels)) == cell.n_levels:
            return data


def methods(cell: Cell) -> dict[str, LabelsOf]:
    """Name every method: a function of the dataset that gives labels in level order."""
    from stepsmooth import StepSmooth, peers
    from stepsmooth.line.maximise import sticky
    from stepsmooth.metrics import bayes_oracle

    def oracle(data: StepSignal) -> np.ndarray:
        if data.noise_variance == 0:
            return data.labels
        chain = None if cell.switching is None else sticky(cell.n_levels, cell.switching)
        return bayes_oracle(data.y, data.smooth, data.levels, data.noise_variance, transition_matrix=chain)

    out: dict[str, LabelsOf] = {
        JOINT: lambda d: StepSmooth(cell.n_levels, solver="joint").fit(d.X, d.y).labels_,
        ALTMIN: lambda d: StepSmooth(cell.n_levels, solver="altmin", kernel="min", tau="gcv").fit(d.X, d.y).labels_,
        ORACLE: oracle,
    }
    if cell.switching is not None:
        out[HMM] = lambda d: peers.hmm_levels(d.x, d.y, cell.n_levels).labels
    return out


def task(cell: Cell, number: int) -> dict[str, Row]:
    """Run every method on one dataset."""
    return score(dataset(cell, number), methods(cell))


def run(settings: Settings) -> Result:
    """Score every cell."""
    count = 4 if settings.quick else 100
    rows: list[Row] = []
    claims: list[Claim] = []
    for cell in CELLS:
        settings.say(f"{cell.name}: {count} datasets")
        scores = score_all(partial(task, cell), count, settings)
        rows += summary({"cell": cell.name}, scores)
        here = partial(find, rows, cell=cell.name)
        joint, best = here("accuracy", method=JOINT), here("accuracy", method=ORACLE)
        if cell.all_right is not None:
            claims.append(Claim(f"{cell.name}: all labels right", here("all_right", method=JOINT), cell.all_right))
        if cell.accuracy is not None:
            claims.append(Claim(f"{cell.name}: accuracy", joint, cell.accuracy))
        if cell.from_oracle is not None:
            gap = None if joint is None or best is None else best - joint
            claims.append(Claim(f"{cell.name}: below the oracle", gap, cell.from_oracle, "at most"))
        claims.append(
            Claim(f"{cell.name}: over AltMin, in paired standard errors", paired(scores, JOINT, ALTMIN), -2.0)
        )
    return Result(rows, claims, columns=COLUMNS)
