"""Item 10a: the curves of items 6 and 7 for the joint solver, beside AltMin on the same datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepsmooth.experiments.curves import ALL_RIGHT, SETTINGS, column_of, means, score_all
from stepsmooth.experiments.drawing import METHOD_COLOURS, faint_grid, name_ends, panels, sizes_axis
from stepsmooth.experiments.noisy import NOISES, bayes_rates
from stepsmooth.experiments.outcome import Claim, Outcome, Row, judge
from stepsmooth.experiments.running import SEED, Runner, number, where
from stepsmooth.report.palette import GREY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOTH = ("joint", "AltMin")


def run(runner: Runner) -> Outcome:
    """Score both solvers on the same datasets, draw, and judge."""
    quick = runner.settings.quick
    count = runner.settings.count(full=20, quick=2)
    sizes = (36, 100, 400) if quick else (25, 36, 50, 75, 100, 150, 225, 400, 900, 1600, 3600)
    noises = (0.0, 0.05, 0.15) if quick else NOISES
    raw = score_all(runner, "joint and AltMin", BOTH, [(3, 3)], noises, sizes, count)
    if not quick:
        raw += score_all(runner, "other settings", BOTH, SETTINGS[:3], [0.0], sizes, count)
    rows = means(raw)
    return Outcome(
        figures={"joint_curves": draw(rows, sizes, noises)},
        captions={
            "joint_curves": f"Means of {count} datasets, M = beta = 3. Above: labels right, dashed the Bayes rate; "
            "below: largest deviation of a level."
        },
        tables={"joint_curves": rows, "datasets": raw},
        claims=claims(rows, sizes, noises),
        settings={"datasets": count, "sizes": sizes, "noise_variances": noises, "seed": SEED},
        choices=["Both are told M; the joint solver has no setting, AltMin as in items 6 and 7."],
    )


def draw(rows: list[Row], sizes: tuple[int, ...], noises: tuple[float, ...]) -> Figure:
    """Draw labels above and levels below, one column for each noise variance."""
    from stepsmooth.report.lettering import entitle

    rates = dict(zip(NOISES, bayes_rates()))
    x = np.array(sizes, dtype=float)
    with panels(2, len(noises), (3.3 * len(noises) + 1.0, 5.0), sharex=True, sharey="row") as (figure, axes):
        for column, noise in enumerate(noises):
            keys = {"M": 3, "beta": 3, "noise_variance": noise}
            for method in BOTH:
                for ax, figure_name in zip(axes[:, column], ("accuracy", "deviation")):
                    values = column_of(rows, sizes, figure_name, method=method, **keys)
                    shown = np.where(values > 0, values, np.nan)
                    ax.plot(x, shown, "o-", color=METHOD_COLOURS[method], markersize=3.5, linewidth=1.6)
            axes[0, column].axhline(rates[noise], color=GREY, linestyle="--", linewidth=1.1)
            axes[1, column].set_yscale("log")
            sizes_axis(axes[1, column], sizes)
            entitle(axes[0, column], f"σ² = {noise:g}", "dashed: Bayes")
            for ax in axes[:, column]:
                faint_grid(ax)
        axes[0, 0].set_ylabel("labels right")
        axes[1, 0].set_ylabel("largest deviation of a level")
        figure.draw_without_rendering()
        for ax, figure_name in zip(axes[:, -1], ("accuracy", "deviation")):
            ends = [
                column_of(rows, sizes, figure_name, method=m, M=3, beta=3, noise_variance=noises[-1])[-1] for m in BOTH
            ]
            name_ends(ax, ends, list(BOTH), [METHOD_COLOURS[m] for m in BOTH], size=9.0, gap=12.0)
    return figure


def claims(rows: list[Row], sizes: tuple[int, ...], noises: tuple[float, ...]) -> list[Claim]:
    """Say where the joint solver is better and where not."""
    gains: dict[tuple[float, int], float] = {}
    for noise in noises:
        for n in sizes:
            own = where(rows, n=n, noise_variance=noise, M=3, beta=3)
            figures = {str(r["method"]): number(r, "accuracy") for r in own}
            gains[noise, n] = figures["joint"] - figures["AltMin"]
    finite = {k: v for k, v in gains.items() if np.isfinite(v)}
    worst, best = (choose(finite, key=lambda k: finite[k]) for choose in (min, max))
    quiet = {"M": 3, "beta": 3, "noise_variance": 0.0}
    firsts = {
        method: next(
            (n for n in sizes if column_of(rows, [n], "accuracy", method=method, **quiet)[0] >= ALL_RIGHT), None
        )
        for method in BOTH
    }
    fewer = firsts["joint"] is not None and (firsts["AltMin"] is None or firsts["joint"] < firsts["AltMin"])
    mean = float(np.mean(list(finite.values())))
    return [
        Claim(
            "beyond the paper",
            "Searching over label histories needs fewer points than alternating.",
            f"without noise all labels are right from n = {firsts['joint']} (AltMin: {firsts['AltMin']}); joint minus "
            f"AltMin, labels right: mean {mean:+.3f}, best {finite[best]:+.3f} (noise {best[0]:g}, n = {best[1]}), "
            f"worst {finite[worst]:+.3f} (noise {worst[0]:g}, n = {worst[1]})",
            judge(fewer and mean > 0 if len(finite) == len(gains) else None),
            "joint_curves",
        )
    ]
