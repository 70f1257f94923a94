"""Item 5: example signals of the paper's model, smoother and rougher field, two and three classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepsmooth.experiments.curves import SETTINGS
from stepsmooth.experiments.drawing import panels
from stepsmooth.experiments.outcome import Outcome, Row
from stepsmooth.experiments.running import SEED, Runner
from stepsmooth.report.palette import GREY, INK, level_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from stepsmooth.datasets import StepSignal

N = 150


def run(runner: Runner) -> Outcome:
    """Draw the four signals."""
    from stepsmooth.datasets import make_sine_steps

    runner.progress.begin("example signals", len(SETTINGS))
    data = {setting: make_sine_steps(N, *setting, random_state=SEED) for setting in SETTINGS}
    rows: list[Row] = [
        {"M": m, "beta": beta, "x": x, "label": int(z), "step": step, "smooth": f, "y": y}
        for (m, beta), d in data.items()
        for x, z, step, f, y in zip(
            d.x.tolist(), d.labels, d.levels[d.labels].tolist(), d.smooth.tolist(), d.y.tolist()
        )
    ]
    return Outcome(
        figures={"signals": draw(data)},
        captions={
            "signals": "What is observed (dots, coloured by label) is the field (dark line) plus one of the levels."
        },
        tables={"signals": rows},
        settings={"n": N, "settings": SETTINGS, "seed": SEED},
        choices=["The paper does not say which beta it drew: (M, beta) are those of its noiseless curves, n = 150."],
    )


def draw(data: dict[tuple[int, int], StepSignal]) -> Figure:
    """Draw one panel for each signal: rows are classes, columns smoother and rougher fields."""
    from stepsmooth.report.lettering import entitle

    with panels(2, 2, (10.4, 5.2), sharex=True, sharey="row") as (figure, axes):
        for ax, ((m, beta), d) in zip(axes.ravel(), data.items()):
            _signal(ax, d)
            words = "smoother" if ax in axes[:, 0] else "rougher"
            entitle(ax, f"{m} classes, {words} field", f"M = {m}, β = {beta}")
        for ax in axes[1]:
            ax.set_xlabel("x")
        for ax in axes[:, 0]:
            ax.set_ylabel("y")
    return figure


def _signal(ax: Axes, d: StepSignal) -> None:
    for level in d.levels:
        ax.plot(d.x, d.smooth + level, color=GREY, linewidth=0.7, alpha=0.7)
    ax.plot(d.x, d.smooth, color=INK, linewidth=1.6)
    ax.scatter(d.x, d.y, s=11, c=np.asarray(level_colours(len(d.levels)))[d.labels], zorder=3, linewidths=0)
    ax.annotate("field", (1.0, float(d.smooth[-1])), (4, 0), textcoords="offset points", va="center", fontsize=8)
    for k, (level, colour) in enumerate(zip(d.levels, level_colours(len(d.levels)))):
        if level:
            place = (1.0, float(d.smooth[-1] + level))
            ax.annotate(
                f"class {k + 1}", place, (4, 0), textcoords="offset points", va="center", fontsize=8, color=colour
            )
    ax.set_xlim(0.0, 1.02)
