"""Item 10b: ion channels that open and close under a drifting baseline, with the true number of open ones."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from stepsmooth.experiments.drawing import METHOD_COLOURS, faint_grid, panels
from stepsmooth.experiments.outcome import Claim, Outcome, Row, Settings, judge
from stepsmooth.experiments.running import SEED, Runner, attempt, number, where
from stepsmooth.report.palette import GREY, INK, level_colours

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from stepsmooth.datasets import StepSignal

TRACES = ("drift_985", "drift_986")
JOINT, ORACLE = "joint, ladder", "oracle, forward-backward"


def read_trace(settings: Settings, name: str, most: int) -> StepSignal | None:
    """Read the first samples of a trace, with the smooth part and levels that its true labels imply."""
    file = settings.file("ion_channel", f"{name}.npz")
    if file is None:
        return None
    with np.load(file, allow_pickle=False) as kept:
        x, y, z = (np.asarray(kept[key])[:most] for key in ("time", "current", "open_channels"))
    return with_truth(x.astype(np.float64), y.astype(np.float64), np.unique(z, return_inverse=True)[1])


def with_truth(x: np.ndarray, y: np.ndarray, labels: np.ndarray, turns: int = 3) -> StepSignal:
    """Put levels, smooth part and noise beside a trace whose labels are known: each given the other, by turns.

    Examples
    --------
    >>> x = np.arange(200) / 200
    >>> z = np.arange(200) // 20 % 2
    >>> found = with_truth(x, np.sin(6 * x) + 3.0 * z, z)
    >>> float(np.diff(found.levels)[0].round(1))
    3.0
    """
    from stepsmooth import StepSmooth
    from stepsmooth.datasets import StepSignal

    smooth = np.zeros_like(y)
    levels = np.zeros(int(labels.max()) + 1)
    for _ in range(turns):
        levels = np.array([(y - smooth)[labels == k].mean() for k in range(len(levels))])
        smooth = StepSmooth(1).fit(x[:, None], y - levels[labels]).smooth_
    return StepSignal(x, y, labels.astype(np.int64), levels, smooth, float(np.var(y - smooth - levels[labels])))


def simulated(n: int) -> StepSignal:
    """Draw five channels of our own: a ladder of six levels, a slow drift, noise a quarter of a step."""
    from stepsmooth.datasets import make_markov_steps

    return make_markov_steps(
        n, 6, 1.5, switching=0.03, noise_variance=0.06, amplitude=1.5, phase=0.4, random_state=SEED
    )


def methods(n_levels: int) -> dict[str, Callable[[StepSignal], Any]]:
    """Name the methods: functions of a signal that give labels in the order of the levels."""
    from stepsmooth import StepSmooth, peers
    from stepsmooth.metrics import bayes_oracle

    def along(d: StepSignal) -> Any:
        pairs = np.zeros((n_levels, n_levels))
        np.add.at(pairs, (d.labels[:-1], d.labels[1:]), 1.0)
        share = np.bincount(d.labels, minlength=n_levels) / len(d.labels)
        chain = (pairs + 1e-9) / (pairs + 1e-9).sum(axis=1, keepdims=True)
        return bayes_oracle(d.y, d.smooth, d.levels, d.noise_variance, share, transition_matrix=chain)

    def altmin(d: StepSignal) -> Any:
        return StepSmooth(n_levels, solver="altmin", kernel="min", tau="gcv", start="kmeans").fit(d.X, d.y).labels_

    return {
        "k-means": lambda d: peers.kmeans_levels(d.x, d.y, n_levels).labels,
        "HMM, local trend off": lambda d: (
            peers.hmm_levels(np.arange(len(d.y), dtype=float), d.y, n_levels, trend="local", n_init=3).labels
        ),
        "AltMin, k-means first": altmin,
        JOINT: lambda d: StepSmooth(n_levels, levels="ladder", label_prior="markov").fit(d.X, d.y).labels_,
        ORACLE: along,
    }


def score(data: StepSignal, trace: str, name: str) -> tuple[Row, Any]:
    """Run one method; return its row and its labels."""
    from stepsmooth.metrics import label_accuracy, ordered_accuracy

    kept: list[Any] = []

    def measure() -> Row:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = methods(len(data.levels))[name](data)
        kept.append(labels)
        return {
            "in_order": ordered_accuracy(data.labels, labels),
            "matched": label_accuracy(data.labels, labels),
            "seconds": time.perf_counter() - start,
        }

    row = attempt({"trace": trace, "samples": len(data.y), "method": name}, measure)
    return row, kept[0] if kept else None


def run(runner: Runner) -> Outcome:
    """Score the methods on the traces, draw a stretch, and judge."""
    settings = runner.settings
    most = 20_000 if settings.quick else 99_999
    found = {name: read_trace(settings, name, most) for name in (TRACES[:1] if settings.quick else TRACES)}
    traces = {name: data for name, data in found.items() if data is not None}
    out = Outcome()
    if not traces:
        traces = {"simulated": simulated(min(most, 10_000))}
        out.missing.append(
            "The traces: set STEPSMOOTH_DATA to a folder with ion_channel/; simulated channels stand in."
        )
    names = list(methods(2))
    results = runner.each("ion channels", score, [(data, t, name) for t, data in traces.items() for name in names])
    rows = [row for row, _ in results]
    first = next(iter(traces))
    labels = {str(row["method"]): z for row, z in results if row["trace"] == first and z is not None}
    out.figures["ion_channels"] = draw(traces[first], labels, where(rows, trace=first))
    out.captions["ion_channels"] = (
        f"{first}: a stretch of the current, coloured by the labels of the joint solver over its levels; below, labels "
        "right in the order of the levels."
    )
    out.tables["ion_channels"] = rows
    out.shown["ion_channels"] = ("trace", "samples", "method", "in_order", "matched", "seconds", "error")
    out.missing += [f"{row['method']} on {row['trace']}: {row['error']}" for row in rows if "error" in row]
    out.settings = {"samples": most, "traces": list(traces), "seed": SEED}
    out.choices.append(
        "True levels, smooth part and noise are those that the true labels imply; the oracle knows them and the chain. "
        "The two traces of Deep-Channel were used for tuning."
    )
    gaps = [
        number(where(rows, trace=t, method=ORACLE)[0], "in_order")
        - number(where(rows, trace=t, method=JOINT)[0], "in_order")
        for t in traces
    ]
    out.claims.append(
        Claim(
            "beyond the paper",
            "Levels that form a ladder under drift are recovered as well as by the classifier that knows everything.",
            f"labels of the joint solver short of the oracle by {', '.join(f'{g:.4f}' for g in gaps)}; "
            + ", ".join(
                f"{r['method']} {number(r, 'in_order'):.3f} (best matched {number(r, 'matched'):.3f})"
                for r in where(rows, trace=first)
            ),
            judge(all(g < 0.01 for g in gaps) if np.all(np.isfinite(gaps)) else None),
            "ion_channels",
        )
    )
    return out


def draw(data: StepSignal, labels: dict[str, Any], rows: list[Row]) -> Figure:
    """Draw a stretch of the trace above, and the share of right labels below."""
    from stepsmooth.report.lettering import entitle

    most = min(len(data.y), 2_500)
    part = slice(0, most)
    colours = np.asarray(level_colours(len(data.levels)))
    with panels(2, 1, (10.4, 5.6), height_ratios=[1.9, 1]) as (figure, axes):
        top, low = axes[:, 0]
        shown = labels.get(JOINT, data.labels)
        top.scatter(data.x[part], data.y[part], s=3, c=colours[np.asarray(shown)[part]], linewidths=0)
        for level in data.levels:
            top.plot(data.x[part], (data.smooth + level)[part], color=INK, linewidth=0.6, alpha=0.7)
        top.set_xlabel("time")
        top.set_ylabel("current")
        entitle(
            top,
            "The trace and its levels",
            f"{most:,} of {len(data.y):,} samples; coloured by the joint solver's labels",
        )
        names = [str(row["method"]) for row in rows]
        shares = [number(row, "in_order") for row in rows]
        bars = [METHOD_COLOURS.get(name.split(",")[0], GREY) for name in names]
        low.barh(range(len(names)), np.nan_to_num(shares), color=bars, height=0.6)
        for at, (share, row) in enumerate(zip(shares, rows)):
            text = f"{share:.3f}" if np.isfinite(share) else f"failed: {str(row.get('error'))[:80]}"
            low.text(np.nan_to_num(share) + 0.008, at, text, va="center", fontsize=8)
        low.set_yticks(range(len(names)), labels=names)
        low.invert_yaxis()
        low.set_xlim(0.0, 1.1)
        low.tick_params(axis="y", length=0)
        entitle(low, "Labels right, in the order of the levels")
        faint_grid(low, "x")
    return figure
