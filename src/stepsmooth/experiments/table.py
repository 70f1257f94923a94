"""Item 9: the paper's table, AltMin beside k-means, N4ITK and LapGM, and our joint solver.

It renders what :mod:`stepsmooth.experiments.table_scores` measures; the benchmark harness runs the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepsmooth.experiments.drawing import METHOD_COLOURS, faint_grid, panels
from stepsmooth.experiments.heads import NOISE, RATIO, HeadCase, accuracy_cap, brainweb_folder, source
from stepsmooth.experiments.outcome import Outcome, Row
from stepsmooth.experiments.running import Runner, number, where
from stepsmooth.experiments.table_claims import claims
from stepsmooth.experiments.table_methods import METHODS
from stepsmooth.experiments.table_scores import RULES, choose, peak_memory, score, summarise
from stepsmooth.report.palette import GREY, INK

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CASES = tuple((classes, sequences) for classes in (4, 10) for sequences in (1, 3))
FIELDS = ("coil", "smooth", "poly")
# The paper's table: accuracy in %, largest deviation.
PAPER = {
    ("k-means", 4, 1): (73.62, 0.821), ("k-means", 10, 1): (37.69, 7.08),
    ("k-means", 4, 3): (74.38, 3.41), ("k-means", 10, 3): (44.21, 11.9),
    ("N4ITK + k-means", 4, 1): (74.10, 1.17), ("N4ITK + k-means", 10, 1): (40.14, 6.01),
    ("N4ITK + k-means", 4, 3): (74.41, 3.91), ("N4ITK + k-means", 10, 3): (48.22, 11.1),
    ("LapGM", 4, 1): (76.14, 2.87), ("LapGM", 10, 1): (50.16, 2.47),
    ("LapGM", 4, 3): (87.28, 4.08), ("LapGM", 10, 3): (78.38, 4.19),
    ("AltMin", 4, 1): (91.07, 0.110), ("AltMin", 10, 1): (56.27, 4.49),
    ("AltMin", 4, 3): (98.91, 0.0367), ("AltMin", 10, 3): (82.36, 7.84),
}  # fmt: skip
COLUMNS = (
    "classes", "sequences", "method", "rule", "accuracy", "spread", "distinct", "with_background", "level_deviation",
    "field_rmse", "seconds", "peak_mb", "paper, accuracy", "paper, deviation", "settings", "error",
)  # fmt: skip


def run(runner: Runner) -> Outcome:
    """Score every method on every image, choose settings by both rules, and render the table."""
    settings, data = runner.settings, brainweb_folder(runner.settings.data)
    count, step = settings.count(full=3, quick=2), 2 if settings.quick else 1
    fields = FIELDS[:1] if settings.quick else FIELDS
    images = [HeadCase(c, s, f, seed, step, data) for c, s in CASES for f in fields for seed in range(count)]
    tasks = [(image, m.name, setting) for image in images for m in METHODS for setting in m.choices(settings.quick)]
    order = sorted(range(len(tasks)), key=lambda i: (tasks[i][1] not in ("AltMin", "joint"), -tasks[i][0].classes))
    scored = runner.each("methods on heads", score, [tasks[i] for i in order])
    raw = [row for _, row in sorted(zip(order, scored), key=lambda pair: pair[0])]
    rows = summarise(choose(raw))
    memory(rows, runner, step, data)
    caps = cap_rows(step, data)
    for row in rows:
        told = PAPER.get((str(row["method"]), int(str(row["classes"])), int(str(row["sequences"]))))
        if told is not None:
            row["paper, accuracy"], row["paper, deviation"] = told[0] / 100, told[1]
    out = Outcome(
        figures={"table": draw(rows, choose(raw), caps)},
        captions={
            "table": f"{source(data)}, {len(fields) * count} images a case. Large dots: mean; small: images; settings "
            "in hindsight, as in the paper (hollow: chosen on the other images). Grey diamonds: the paper's table, on "
            "its own image. Dashed: the cap that equal intensities put on accuracy."
        },
        tables={"table": rows, "caps": caps, "images": raw},
        shown={"table": COLUMNS, "caps": tuple(caps[0])},
        claims=claims(rows, caps),
        settings={
            "head": source(data),
            "images": len(fields) * count,
            "fields": fields,
            "ratio": RATIO,
            "noise": NOISE,
            "step": step,
            "settings": {m.name: [dict(s) for s in m.choices(settings.quick)] for m in METHODS},
        },
        choices=[
            "The paper does not give its field, noise, slice or mask: numbers are not comparable with its table, "
            "methods are with each other. Here: one slice, the mask told to all, a field that varies twelvefold over "
            "the tissue, 1 % Rician noise.",
            "Four classes are background, CSF, GM and WM; ten are the labels of the phantom. Methods look for as many "
            "levels as there are distinct intensities within the mask.",
            "Of ten labels of BrainWeb's phantom only six have intensities of their own (background = skull, CSF = "
            "skin, GM = glial, WM = connective tissue). The cap is what one gets who knows field and levels; a wrong "
            "field may split equal intensities by place and pass it. `distinct` is the share of right labels among "
            "classes that can be told apart; it chooses the settings.",
            "Peak memory is what one fit adds to imports and data, in a process of its own.",
            "N4 sees T1w alone, as in the paper. Seconds: of one fit in one thread, other fits beside it.",
        ],
    )
    failed = {
        f"{r['method']}, {r['classes']} classes, {r['sequences']} sequence(s): {r['error']}"
        for r in rows
        if "error" in r
    }
    out.missing += sorted(failed)
    if data is None:
        out.missing.append(
            "BrainWeb: set STEPSMOOTH_DATA to a folder with brainweb/; the embedded head stands in for it."
        )
    return out


def memory(rows: list[Row], runner: Runner, step: int, data: Path | None) -> None:
    """Measure the peak of every method, each fit in a process of its own; in quick runs of one case only."""
    cases = CASES[-1:] if runner.settings.quick else CASES
    runner.progress.begin("memory", len(cases) * len(METHODS))
    for classes, sequences in cases:
        for method in METHODS:
            peak = peak_memory(
                HeadCase(classes, sequences, step=step, data=data), method.name, method.choices(True)[-1]
            )
            for row in where(rows, classes=classes, sequences=sequences, method=method.name):
                if peak is not None and "accuracy" in row:
                    row["peak_mb"] = peak
            runner.progress.step()


def cap_rows(step: int, data: Path | None) -> list[Row]:
    """Return the accuracy that equal intensities leave to one who knows field and levels."""
    out: list[Row] = []
    for classes in (4, 10):
        case = HeadCase(classes, 1, step=step, data=data)
        scan = case.scan()
        truth = case.true_labels(scan)
        groups = scan.labels.astype(np.int64)
        within = accuracy_cap(truth[scan.mask], groups[scan.mask])
        distinct = len(scan.levels) + 1  # and no signal at all
        row: Row = {"classes": classes, "labels": len(np.unique(truth)), "distinct intensities": distinct}
        out.append({**row, "cap": within, "cap, with background": accuracy_cap(truth, groups)})
    return out


def draw(rows: list[Row], chosen: list[Row], caps: list[Row]) -> Figure:
    """Draw accuracy above and deviation below, one column for each case."""
    from stepsmooth.report.lettering import entitle

    names = [m.name for m in METHODS]
    with panels(2, len(CASES), (12.4, 5.0), sharey=True, sharex="row") as (figure, axes):
        for column, (classes, sequences) in enumerate(CASES):
            keys = {"classes": classes, "sequences": sequences}
            for ax, figure_name in zip(axes[:, column], ("accuracy", "level_deviation")):
                _dots(ax, where(rows, **keys), where(chosen, **keys), figure_name, names)
            cap = number(where(caps, classes=classes)[0], "cap")
            axes[0, column].axvline(cap, color=INK, linestyle="--", linewidth=0.9)
            entitle(axes[0, column], f"{classes} classes, {sequences} sequence{'s' if sequences > 1 else ''}")
            axes[0, column].set_xlabel("labels right within the mask")
            axes[1, column].set_xlabel("largest deviation of a level")
            axes[1, column].set_xscale("log")
        place = {"transform": axes[0, 0].transAxes, "color": GREY, "fontsize": 8.0}
        axes[0, 0].text(0.03, 0.04, "diamonds: the paper\nhollow: held out", va="bottom", **place)
        axes[0, 0].set_xlim(0.3, 1.02)
        axes[0, 0].set_yticks(range(len(names)), labels=names)
        axes[0, 0].set_ylim(len(names) - 0.5, -0.5)
    return figure


def _dots(ax: Axes, rows: list[Row], chosen: list[Row], figure_name: str, names: list[str]) -> None:
    colours = METHOD_COLOURS
    for at, name in enumerate(names):
        images = [number(r, figure_name) for r in where(chosen, method=name, rule=RULES[0])]
        ax.scatter(images, np.full(len(images), at), s=9, color=colours[name], alpha=0.5, linewidths=0)
        for rule, filled in ((RULES[1], False), (RULES[0], True)):
            for row in where(rows, method=name, rule=rule):
                face = colours[name] if filled else "white"
                ax.scatter(number(row, figure_name), at, s=46, facecolor=face, edgecolor=colours[name], zorder=3)
        told = [number(r, f"paper, {'accuracy' if figure_name == 'accuracy' else 'deviation'}") for r in rows[:]]
        mine = [v for v, r in zip(told, rows) if r["method"] == name]
        if mine and np.isfinite(mine[0]):
            ax.scatter(mine[0], at + 0.24, s=22, marker="D", facecolor="none", edgecolor=GREY, linewidths=0.9)
        if not images or not np.isfinite(images).any():
            ax.text(
                0.5,
                at,
                "no answer",
                transform=ax.get_yaxis_transform(),
                ha="center",
                va="center",
                color=GREY,
                fontsize=8,
            )
    faint_grid(ax, "x")
    ax.tick_params(axis="y", length=0)
