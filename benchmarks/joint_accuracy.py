"""The joint solver on a line: labels, levels and probabilities, beside AltMin, a hidden Markov model and the oracle.

Every method sees the same datasets; seeds are the benchmark's own. The joint solver runs as it comes (`StepSmooth(M)`):
it chooses tau, the noise and the prior of the labels itself. AltMin is the paper's: min kernel, GCV, smooth first; in
some cells also from as many random starts as the joint solver's CPU time allows, the lowest objective kept.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .ceilings import knows_f, level_bound, told_all_but_f
from .harness import SEED, Row, Settings, find
from .labels import (
    BOTH,
    COLUMNS,
    Answer,
    LabelsOf,
    asked_for,
    calibration,
    differences,
    minus,
    paired,
    score,
    score_all,
    summary,
)
from .tables import Claim, Result

if TYPE_CHECKING:
    from stepsmooth.datasets import StepSignal

JOINT, ALTMIN, HMM, ORACLE = "stepsmooth, joint", "stepsmooth, AltMin", "hidden Markov model", "Bayes oracle"
CUTS = "change points (ruptures) + k-means"
MANY = "AltMin, many starts, equal CPU"
LADDER, KNOWS_F = "stepsmooth, joint, levels='ladder'", "mixture that knows f, from the true levels"
TOLD, BOUND = "its spline, told all but f", "Cramer-Rao bound, told all but the levels"
PAPER = ((2, 1.0), (2, 2.0), (3, 2.0), (3, 3.0))
QUICK = 400  # the most points of a quick run


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
    deviation: float | None = None  # the largest of a level, on average over datasets
    many_starts: bool = False  # whether AltMin gets as much time as the joint solver takes

    @property
    def name(self) -> str:
        """Give the cell in words."""
        chain = f", switching {self.switching:g}" if self.switching else ""
        return f"({self.n_levels},{self.beta:g}) noise {self.noise_variance:g}, n={self.n}{chain}"


# The place in this list is part of the seed: new cells go to the end.
CELLS = (
    *(Cell(36, m, b, 0.0, all_right=0.99) for m, b in PAPER),
    Cell(50, 3, 3.0, 0.1, many_starts=True),
    Cell(50, 3, 3.0, 0.15, many_starts=True),
    Cell(100, 3, 3.0, 0.05, from_oracle=0.02, many_starts=True),
    Cell(225, 3, 3.0, 0.1, from_oracle=0.02, many_starts=True),
    Cell(400, 3, 3.0, 0.15, from_oracle=0.02, many_starts=True),
    Cell(400, 3, 3.0, 0.05, switching=0.05, accuracy=0.99, many_starts=True),
    Cell(400, 3, 3.0, 0.05, switching=0.02, accuracy=0.99, many_starts=True),
    Cell(400, 3, 3.0, 0.05, switching=0.01, accuracy=0.97, many_starts=True),
    *(Cell(25, m, b, 0.0) for m, b in PAPER),  # reported, nothing claimed
    *(Cell(n, m, b, 0.0, all_right=0.99) for n in (64, 100, 225) for m, b in PAPER),
    *(Cell(n, 3, 3.0, 0.05) for n in (50, 225, 400, 1000)),
    *(Cell(n, 3, 3.0, 0.1) for n in (100, 400, 1000)),
    *(Cell(n, 3, 3.0, 0.15) for n in (100, 225, 1000)),
    Cell(3600, 3, 3.0, 0.15, deviation=0.02),
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


def altmin(n_levels: int, data: StepSignal, n_init: int = 1) -> Answer:
    """The paper's solver."""
    from stepsmooth import StepSmooth

    model: Any = StepSmooth(n_levels, solver="altmin", kernel="min", tau="gcv", n_init=n_init, random_state=0)
    return Answer.of(model.fit(data.X, data.y))


def affordable_starts(fit: Any, seconds: float, few: int = 5) -> int:
    """Number of starts that take as many CPU seconds: the first brings the choice of tau, each other one a share."""

    def spent(n_init: int) -> float:
        start = time.process_time()
        fit(n_init=n_init)
        return time.process_time() - start

    spent(1)  # loads compiled code
    first = spent(1)
    each = max((spent(few) - first) / (few - 1), 1e-4)
    return max(1, 1 + int((seconds - first) / each))


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
        JOINT: lambda d: Answer.of(StepSmooth(cell.n_levels).fit(d.X, d.y)),
        ALTMIN: partial(altmin, cell.n_levels),
        ORACLE: oracle,
    }
    if cell.from_oracle is not None:  # how much of what is lost is lost to f?
        out[TOLD] = told_all_but_f
    if cell.deviation is not None:  # is there anything better, and would it help to say what the levels are like?
        out[KNOWS_F] = knows_f
        out[LADDER] = lambda d: Answer.of(StepSmooth(cell.n_levels, levels="ladder").fit(d.X, d.y))
    if cell.switching is not None:
        out[HMM] = lambda d: peers.hmm_levels(d.x, d.y, cell.n_levels)
        out[CUTS] = lambda d: peers.changepoint_levels(d.x, d.y, cell.n_levels)
    return out


def task(cell: Cell, number: int) -> dict[str, Row]:
    """Run every method on one dataset."""
    data = dataset(cell, number)
    rows = score(data, methods(cell))
    seconds = rows[JOINT].get("cpu_s")
    if cell.many_starts and isinstance(seconds, float):
        fit = partial(altmin, cell.n_levels, data)
        starts = affordable_starts(fit, seconds)
        rows |= score(data, {MANY: lambda d: altmin(cell.n_levels, d, starts)})
    return rows


def claims_of(cell: Cell, rows: list[Row], scores: list[dict[str, Row]]) -> list[Claim]:
    """Say what one cell must reach."""
    here = partial(find, rows, cell=cell.name)
    claims: list[Claim] = []
    if cell.all_right is not None:
        claims.append(Claim(f"{cell.name}: all labels right", here("all_right", method=JOINT), cell.all_right))
    for column, words in BOTH.items():
        joint, best = here(column, method=JOINT), here(column, method=ORACLE)
        if cell.accuracy is not None:
            claims.append(Claim(f"{cell.name}: {words}", joint, cell.accuracy))
        if cell.from_oracle is not None:
            text = f"{cell.name}: {words}, below the oracle"
            claims.append(Claim(text, minus(best, joint), cell.from_oracle, "at most"))
    if cell.deviation is not None:
        text = f"{cell.name}: level deviation"
        claims.append(Claim(text, here("level_dev", method=JOINT), cell.deviation, "at most"))
    claims.append(Claim(f"{cell.name}: over AltMin, in paired standard errors", paired(scores, JOINT, ALTMIN), -2.0))
    if cell.many_starts:
        ahead = paired(scores, JOINT, MANY) if all(MANY in s for s in scores) else None
        claims.append(Claim(f"{cell.name}: over AltMin of equal CPU time, likewise", ahead, -2.0))
    return claims


def overall(scored: dict[Cell, list[dict[str, Row]]]) -> list[Claim]:
    """Say what the cells must reach together."""
    claims: list[Claim] = []
    noisy = {c: s for c, s in scored.items() if c.noise_variance > 0}
    independent = {c: s for c, s in noisy.items() if c.switching is None}
    for words, cells in (("all cells", scored), ("noisy cells with independent labels", independent)):
        gaps = [differences(s, JOINT, ALTMIN) for s in cells.values()]
        if cells:
            mean = None if any(g is None for g in gaps) else float(np.mean([g.mean() for g in gaps if g is not None]))
            claims.append(Claim(f"accuracy over AltMin, average of {words}", mean, 0.0))
    if noisy:
        pooled = calibration([s for scores in noisy.values() for s in scores], JOINT)
        claims.append(Claim("expected calibration error, all noisy cells pooled", pooled, 0.02, "at most"))
    return claims


def run(settings: Settings) -> Result:
    """Score every cell."""
    count = settings.datasets or (2 if settings.quick else 100)
    rows: list[Row] = []
    claims: list[Claim] = []
    scored: dict[Cell, list[dict[str, Row]]] = {}
    for cell in CELLS:
        if not asked_for(cell.name, settings) or (settings.quick and cell.n > QUICK):
            continue
        settings.say(f"{cell.name}: {count} datasets")
        scored[cell] = scores = score_all(partial(task, cell), count, settings)
        own = summary({"cell": cell.name}, scores)
        gaps = differences(scores, JOINT, ALTMIN)
        own[0]["vs_altmin"] = None if gaps is None else float(gaps.mean())
        if cell.deviation is not None:
            bound = level_bound(dataset(cell, 0).levels, cell.noise_variance, cell.n)
            own.append({"cell": cell.name, "method": BOUND, "level_dev": bound})
        rows += own
        claims += claims_of(cell, own, scores)
    noisy = [find(rows, "ece", cell=c.name, method=JOINT) for c in scored if c.noise_variance > 0]
    known = [error for error in noisy if error is not None]
    notes = [
        "n = 25: reported, nothing claimed. level_dev: largest deviation of a level. ece: expected calibration error, "
        "in level order. vs_altmin: mean paired difference in accuracy."
    ]
    if known:
        notes.append(f"Calibration error of single noisy cells: mean {np.mean(known):.3f}, largest {max(known):.3f}.")
    return Result(rows, claims + overall(scored), notes, COLUMNS)
