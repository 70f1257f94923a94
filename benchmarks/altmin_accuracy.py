"""AltMin on the paper's model: share of right labels, beside the peers and the Bayes oracle.

Every method sees the same datasets. A figure of the prototype agrees when the difference is within three
combined standard errors plus half a unit of the prototype's last printed digit; its standard error is that of
our sample scaled to its own number of datasets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .harness import SEED, Row, Settings, find
from .labels import COLUMNS, LabelsOf, paired, score, score_all, summary
from .tables import Claim, Result

if TYPE_CHECKING:
    from stepsmooth.datasets import StepSignal
    from stepsmooth.peers import PeerDecomposition

SMOOTH, KMEANS_FIRST, ORACLE = "stepsmooth, smooth first", "stepsmooth, k-means first", "Bayes oracle"
CSAPS_TAUS = (1e-8, 1e-7, 1e-6, 1e-5)


@dataclass(frozen=True)
class Cell:
    """One setting of the paper's model (3 levels, 3 periods), and what the prototype had there."""

    n: int
    noise_variance: float
    prototype: float
    half_unit: float  # of the last printed digit
    datasets: int  # behind the prototype's figure
    kmeans_first: float | None = None

    @property
    def name(self) -> str:
        """Give the cell in words."""
        noise = f"noise variance {self.noise_variance:g}" if self.noise_variance else "noiseless"
        return f"{noise}, n={self.n:,}"


CELLS = (
    Cell(100, 0.0, 0.94, 0.005, 100),
    Cell(225, 0.0, 0.994, 0.0005, 100),
    Cell(400, 0.0, 1.0, 0.0005, 100, kmeans_first=0.911),
    Cell(1_000, 0.05, 0.980, 0.0005, 40),
)


def dataset(cell: Cell, number: int) -> StepSignal:
    """Draw a dataset of a cell; seeds are the benchmark's own."""
    from stepsmooth.datasets import make_sine_steps

    seed = SEED + 10_000 + 1_000 * CELLS.index(cell) + number
    return make_sine_steps(cell.n, 3, 3, noise_variance=cell.noise_variance, random_state=seed)


def methods() -> dict[str, LabelsOf]:
    """Name every method: a function of the dataset that gives labels in level order."""
    from stepsmooth import peers

    def ours(data: StepSignal, start: str) -> np.ndarray:
        from stepsmooth import StepSmooth

        model = StepSmooth(3, kernel="min", tau="gcv", solver="altmin", start=start)
        return model.fit(data.X, data.y).labels_

    def peer(decompose: Callable[..., PeerDecomposition], data: StepSignal, **options: Any) -> np.ndarray:
        return decompose(data.x, data.y, 3, **options).labels

    out: dict[str, LabelsOf] = {
        SMOOTH: partial(ours, start="smooth"),
        KMEANS_FIRST: partial(ours, start="kmeans"),
        "k-means": partial(peer, peers.kmeans_levels),
        "Gaussian mixture": partial(peer, peers.mixture_levels),
    }
    for trend in ("spline", "polynomial", "local"):
        out[f"detrend ({trend}), k-means"] = partial(peer, peers.detrend_kmeans, trend=trend)
    for tau in CSAPS_TAUS:
        out[f"csaps AltMin, tau={tau:.0e}"] = partial(peer, peers.csaps_altmin, tau=tau)
    out[ORACLE] = oracle
    return out


def oracle(data: StepSignal) -> np.ndarray:
    """Labels of the classifier that knows everything but the labels."""
    from stepsmooth.metrics import bayes_oracle

    if data.noise_variance == 0:
        return data.labels  # without noise the levels tell the labels
    return bayes_oracle(data.y, data.smooth, data.levels, data.noise_variance)


def task(cell: Cell, number: int) -> dict[str, Row]:
    """Run every method on one dataset."""
    return score(dataset(cell, number), methods())


def best_csaps(rows: list[Row]) -> list[Row]:
    """Keep csaps' best tau in hindsight: more than it could know."""
    tried = [r for r in rows if str(r["method"]).startswith("csaps AltMin") and "accuracy" in r]
    best = max(tried, key=lambda r: float(str(r["accuracy"])), default=None)
    return [r for r in rows if r not in tried or r is best]


def agreement(rows: list[Row], cell: Cell, method: str, figure: float) -> float | None:
    """Distance to the prototype's figure in combined standard errors, after its rounding."""
    accuracy, se, count = (find(rows, c, n=cell.n, method=method) for c in ("accuracy", "se", "datasets"))
    if accuracy is None or se is None or count is None:
        return None
    gap = max(abs(accuracy - figure) - cell.half_unit, 0.0)
    return gap / max(se * math.sqrt(1.0 + count / cell.datasets), 1e-12)


def run(settings: Settings) -> Result:
    """Score every cell, and compare with the prototype."""
    count = 6 if settings.quick else 100
    rows: list[Row] = []
    claims: list[Claim] = []
    for cell in CELLS:
        settings.say(f"{cell.name}: {count} datasets")
        scores = score_all(partial(task, cell), count, settings)
        rows += best_csaps(summary({"cell": cell.name, "n": cell.n}, scores))
        text = f"{cell.name}, smooth first: distance to {cell.prototype:g} in combined standard errors"
        claims.append(Claim(text, agreement(rows, cell, SMOOTH, cell.prototype), 3.0, "at most"))
        if cell.kmeans_first is not None:
            text = f"{cell.name}, k-means first: distance to {cell.kmeans_first:g} likewise"
            claims.append(Claim(text, agreement(rows, cell, KMEANS_FIRST, cell.kmeans_first), 3.0, "at most"))
            text = f"{cell.name}: smooth first minus k-means first in paired standard errors"
            claims.append(Claim(text, paired(scores, SMOOTH, KMEANS_FIRST), 3.0))
    return Result(rows, claims, columns=COLUMNS)
