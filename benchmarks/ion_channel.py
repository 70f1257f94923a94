"""Two ion-channel traces with drift and hum (6 levels, the lowest .2 % of samples): labels, levels and CPU seconds.

The traces (Deep-Channel, 99,999 samples each) lie in `ion_channel` of the folder that STEPSMOOTH_DATA names. They were
used for tuning: the figures say what was reached on them, not what to expect of others. The true f and levels are those
that the true labels imply, by turns; the oracles know them, one pointwise, one with the true chain. Stretches of each
trace, scored apart and without a claim, show how much hangs on the piece at hand.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .harness import Row, Settings, find
from .labels import Answer, LabelsOf, score
from .tables import Claim, Result

if TYPE_CHECKING:
    from stepsmooth.datasets import StepSignal

TRACES = ("drift_985", "drift_986")
LADDER, DEFAULT = "joint, ladder, Markov", "joint, default"
ONE_BY_ONE, ALONG = "oracle, pointwise", "oracle, forward-backward"
QUICK = STRETCH = 20_000  # samples
TUNED = "These two traces were used for tuning: fresh ones may come out worse."
ABSENT = "Left out: STEPSMOOTH_DATA does not name a folder that holds ion_channel/{}.npz."


def trace_file(name: str) -> Path | None:
    """Where a trace lies, if it is there."""
    folder = os.environ.get("STEPSMOOTH_DATA")
    path = Path(folder or ".") / "ion_channel" / f"{name}.npz"
    return path if folder and path.exists() else None


def with_truth(x: np.ndarray, y: np.ndarray, labels: np.ndarray, turns: int = 5) -> StepSignal:
    """Put levels, smooth part and noise beside a trace whose labels are known: each given the other, by turns."""
    from stepsmooth import StepSmooth
    from stepsmooth.datasets import StepSignal

    smooth = np.zeros_like(y)
    for _ in range(turns):
        levels = np.array([(y - smooth)[labels == k].mean() for k in range(labels.max() + 1)])
        smooth = StepSmooth(1).fit(x[:, None], y - levels[labels]).smooth_
    noise = float(np.var(y - smooth - levels[labels]))
    return StepSignal(x, y, labels, levels, smooth, noise)


def read(path: Path, most: int | None = None) -> StepSignal:
    """Read a trace, or the first samples of it."""
    with np.load(path) as kept:
        x, y, z = (np.asarray(kept[key])[:most] for key in ("time", "current", "open_channels"))
    return with_truth(x.astype(np.float64), y.astype(np.float64), z.astype(np.int64))


def stretches(data: StepSignal) -> dict[str, StepSignal]:
    """Cut a trace; a stretch that lacks a level, whose labels would have other numbers, is left out."""
    out: dict[str, StepSignal] = {}
    for begin in range(0, len(data.y) - STRETCH // 2, STRETCH):
        part = slice(begin, begin + STRETCH)
        if len(np.unique(data.labels[part])) == len(data.levels):
            words = f"from {begin:,} to {min(begin + STRETCH, len(data.y)):,}"
            out[words] = with_truth(data.x[part], data.y[part], data.labels[part])
    return out


def true_chain(data: StepSignal) -> tuple[np.ndarray, np.ndarray]:
    """Shares of the true labels, and of the transitions between them."""
    m = len(data.levels)
    pairs = np.zeros((m, m))
    np.add.at(pairs, (data.labels[:-1], data.labels[1:]), 1.0)
    return np.bincount(data.labels, minlength=m) / len(data.labels), pairs / pairs.sum(axis=1, keepdims=True)


def ours(n_levels: int) -> dict[str, LabelsOf]:
    """Name the fits that are judged: nothing is told but the number of levels and, in one, that they form a ladder."""
    from stepsmooth import StepSmooth

    def ladder(d: StepSignal) -> Answer:
        return Answer.of(StepSmooth(n_levels=n_levels, levels="ladder", label_prior="markov").fit(d.X, d.y))

    return {LADDER: ladder, DEFAULT: lambda d: Answer.of(StepSmooth(n_levels=n_levels).fit(d.X, d.y))}


def peers_of(n_levels: int) -> dict[str, LabelsOf]:
    """Name what others do, and the oracles."""
    from stepsmooth import StepSmooth, peers
    from stepsmooth.metrics import bayes_oracle

    def altmin(d: StepSignal, start: str) -> Answer:
        model = StepSmooth(n_levels, solver="altmin", kernel="min", tau="gcv", start=start)
        return Answer.of(model.fit(d.X, d.y))

    def hmm(d: StepSignal, **options: Any) -> Any:  # in samples: SciPy's spline is ill-posed in seconds
        return peers.hmm_levels(np.arange(len(d.y), dtype=float), d.y, n_levels, **options)

    def oracle(d: StepSignal, *, along: bool) -> np.ndarray:
        share, chain = true_chain(d)
        known = d.y, d.smooth, d.levels, d.noise_variance, share
        return bayes_oracle(*known, transition_matrix=chain if along else None)

    return {
        "k-means": lambda d: peers.kmeans_levels(d.x, d.y, n_levels),
        "AltMin, smooth first": partial(altmin, start="smooth"),
        "AltMin, k-means first": partial(altmin, start="kmeans"),
        "HMM": hmm,
        **{f"HMM, {trend} trend off": partial(hmm, trend=trend) for trend in ("polynomial", "local", "spline")},
        ONE_BY_ONE: partial(oracle, along=False),
        ALONG: partial(oracle, along=True),
    }


def rows_of(name: str, data: StepSignal, repeat: int = 1, *, peers: bool = True) -> list[Row]:
    """Score methods on one trace; of our own fits, which do not change, the best CPU time counts."""
    m = len(data.levels)
    others = {k: v for k, v in peers_of(m).items() if peers or k == ALONG}
    scores = score(data, ours(m) | others)
    for method, labels_of in ours(m).items():
        for _ in range(repeat - 1):
            again = score(data, {method: labels_of})[method]
            if "error" not in scores[method] | again:
                scores[method]["cpu_s"] = min(float(str(r["cpu_s"])) for r in (scores[method], again))
    out = []
    for method, found in scores.items():
        row = {"trace": name, "method": method, **found, "accuracy": found.get("matched")}
        out.append({k: v for k, v in row.items() if k not in ("matched", "bins")})
    return out


def claims_of(name: str, rows: list[Row]) -> list[Claim]:
    """Say what our fits must reach on one trace."""
    claims: list[Claim] = []
    for method in (LADDER, DEFAULT):
        here = partial(find, rows, method=method)
        text = f"{name}, {method}"
        claims += [
            Claim(f"{text}: accuracy in level order", here("in_order"), 0.973),
            Claim(f"{text}: level deviation", here("level_deviation"), 0.04, "at most"),
            Claim(f"{text}: CPU seconds", here("cpu_s"), 5.0, "at most"),
        ]
    return claims


def warm() -> None:
    """Fit something small, so that loading compiled code is not counted."""
    from stepsmooth.datasets import make_markov_steps

    data = make_markov_steps(1_000, 3, noise_variance=0.05, random_state=0)
    score(data, ours(3))


def run(settings: Settings) -> Result:
    """Score the traces that are there."""
    rows: list[Row] = []
    claims: list[Claim] = []
    notes: list[str] = []
    for name in TRACES[:1] if settings.quick else TRACES:
        path = trace_file(name)
        if path is None:
            notes.append(ABSENT.format(name))
            continue
        settings.say(f"{name}: every method")
        warm()
        data = read(path, QUICK if settings.quick else None)
        own = rows_of(name, data, 1 if settings.quick else 3)
        rows += own
        claims += claims_of(name, own)
        for words, piece in ({} if settings.quick else stretches(data)).items():
            settings.say(f"{name}, {words}")
            rows += rows_of(f"{name}, {words}", piece, peers=False)
    if rows:
        notes.append(TUNED)
    columns = ("trace", "method", "accuracy", "in_order", "level_deviation", "cpu_s")
    return Result(rows, claims, notes, columns)
