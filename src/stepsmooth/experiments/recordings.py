"""Item 10c: a patch-clamp and a single-molecule recording without a known answer: pictures and quality figures."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stepsmooth.experiments.outcome import Claim, Outcome, Row, judge
from stepsmooth.experiments.running import Runner, attempt, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from stepsmooth.estimators import StepSmooth


@dataclass(frozen=True)
class Recording:
    """A file with time and signal in its first columns, and how to look at it."""

    name: str
    file: str
    title: str
    n_levels: int
    every: int = 1  # keep one in so many samples


RECORDINGS = (
    Recording("patch_clamp", "patch_clamp_real.csv", "Patch clamp, one sample in ten", 2, 10),
    Recording("patch_clamp_all", "patch_clamp_real.csv", "Patch clamp, every sample", 2, 1),
    Recording("smfret", "smfret_real.csv", "Single-molecule FRET", 3),
)


def read(path: Path, every: int) -> np.ndarray:
    """Read a table of numbers, thinned."""
    return np.loadtxt(path, delimiter=",", encoding="utf-8-sig")[::every]


def fit(path: Path, recording: Recording) -> tuple[Row, StepSmooth | None]:
    """Fit one recording; return its figures and the estimator."""
    from stepsmooth import StepSmooth, diagnostics, events

    kept: list[StepSmooth] = []

    def measure() -> Row:
        table = read(path, recording.every)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = StepSmooth(recording.n_levels).fit(table[:, :1], table[:, 1])
        seconds = time.perf_counter() - start
        kept.append(model)
        found, noise = diagnostics(model), np.sqrt(float(np.max(model.noise_variance_)))
        gap = float(np.min(np.diff(model.levels_))) if len(model.levels_) > 1 else 0.0
        row: Row = {
            "samples": len(table),
            "levels": ", ".join(f"{level:.3g}" for level in model.levels_),
            "gap / noise sd": gap / noise if noise > 0 else float("nan"),
            "smooth sd": float(np.std(model.smooth_)),
            "degrees of freedom": float(model.effective_dof_),
            "events": len(events(model)),
            "lag-1 correlation": float(found.autocorrelation[0]) if len(found.autocorrelation) else float("nan"),
            "determined": bool(model.determined_),
            "findings": "; ".join(found.findings),
            "seconds": seconds,
        }
        if table.shape[1] > 3:  # someone's idealisation
            other = np.interp(table[:, 0], table[:, 2], table[:, 3])
            ours = model.levels_[model.labels_] + model.smooth_
            row["correlation with the given idealisation"] = float(np.corrcoef(ours, other)[0, 1])
        return row

    row = attempt({"recording": recording.name, "asked levels": recording.n_levels}, measure)
    return row, kept[0] if kept else None


def run(runner: Runner) -> Outcome:
    """Fit the recordings that are there, draw them, and say what the residuals tell."""
    from stepsmooth.report import DecompositionDisplay

    out = Outcome()
    files = {r: runner.settings.file("ion_channel", r.file) for r in RECORDINGS}
    there = [(path, r) for r, path in files.items() if path is not None]
    if not there:
        out.missing.append(
            "Recordings: set STEPSMOOTH_DATA to a folder with ion_channel/patch_clamp_real.csv and smfret_real.csv."
        )
        out.claims.append(
            Claim("beyond the paper", "Real recordings are taken apart sensibly.", "no recording at hand", judge(None))
        )
        return out
    results = runner.each("recordings", fit, there)
    rows = [row for row, _ in results]
    for (path, recording), (row, model) in zip(there, results):
        if model is None:
            out.missing.append(f"{recording.title}: {row['error']}")
            continue
        table = read(path, recording.every)
        display = DecompositionDisplay.from_estimator(model, table[:, :1], table[:, 1])
        out.figures[recording.name] = _entitled(display.figure_, recording.title)
        out.captions[recording.name] = (
            f"{recording.title}: levels {row['levels']}, smallest gap {number(row, 'gap / noise sd'):.1f} noise sds, "
            f"{row['events']} events, {number(row, 'degrees of freedom'):.0f} degrees of freedom in the smooth part."
        )
    out.tables["recordings"] = rows
    out.shown["recordings"] = (
        "recording", "samples", "levels", "gap / noise sd", "degrees of freedom", "events", "lag-1 correlation",
        "correlation with the given idealisation", "findings", "seconds", "error",
    )  # fmt: skip
    out.settings = {"recordings": [r.title for r in RECORDINGS]}
    out.choices.append("The number of levels is given; there is no truth, so nothing is scored.")
    sensible = {
        str(r["recording"]): number(r, "gap / noise sd") > 1
        and number(r, "degrees of freedom") < 0.2 * number(r, "samples")
        for r in rows
    }
    words = "; ".join(
        f"{r['recording']}: gap {number(r, 'gap / noise sd'):.2g} noise sds, "
        f"{number(r, 'degrees of freedom'):.0f} degrees of freedom for {r.get('samples')} samples"
        for r in rows
    )
    out.claims.append(
        Claim(
            "beyond the paper",
            "Real recordings are taken apart sensibly: levels apart by more than the noise, a smooth part is smooth.",
            words,
            judge(all(sensible.values())),
            "recordings",
        )
    )
    return out


def _entitled(figure: Figure, title: str) -> Figure:
    figure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left")
    return figure
