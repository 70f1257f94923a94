"""Item 7: AltMin under noise: labels and levels against the sample size, beside the Bayes rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepsmooth.experiments.curves import QUICK_SIZES, SIZES, column_of, means, score_all
from stepsmooth.experiments.drawing import faint_grid, name_ends, panels, sizes_axis
from stepsmooth.experiments.outcome import Claim, Outcome, Row, judge
from stepsmooth.experiments.running import SEED, Runner
from stepsmooth.model.arrays import Floats
from stepsmooth.report.palette import ordered_colours

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOISES = (0.0, 0.05, 0.1, 0.15)
NEAR = 0.02  # labels short of Bayes that count as having approached it


def bayes_rates() -> list[float]:
    """Return the accuracy of the Bayes classifier at each noise variance.

    Examples
    --------
    >>> [round(rate, 3) for rate in bayes_rates()]
    [1.0, 0.983, 0.924, 0.869]
    """
    from stepsmooth.metrics import bayes_accuracy

    return [bayes_accuracy([-1.0, 0.0, 1.0], noise) for noise in NOISES]


def run(runner: Runner) -> Outcome:
    """Score AltMin at three levels and three periods, draw, and judge."""
    quick = runner.settings.quick
    count, sizes = runner.settings.count(full=100, quick=4), QUICK_SIZES if quick else SIZES
    raw = score_all(runner, "AltMin under noise", ["AltMin"], [(3, 3)], NOISES, sizes, count)
    rows = means(raw)
    return Outcome(
        figures={"noisy": draw(rows, sizes)},
        captions={
            "noisy": f"Means of {count} datasets, M = beta = 3. Dashed: the Bayes classifier that knows "
            "all but the labels. The levels of hard labels are biased under noise: their deviation flattens."
        },
        tables={"noisy": rows, "datasets": raw},
        claims=claims(rows, sizes),
        settings={"datasets": count, "sizes": sizes, "noise_variances": NOISES, "seed": SEED},
        choices=["As in the noiseless curves; the Bayes rates are exact, not simulated."],
    )


def draw(rows: list[Row], sizes: tuple[int, ...]) -> Figure:
    """Draw accuracy at the left and deviation at the right, a colour for each noise variance."""
    from stepsmooth.report.lettering import entitle

    colours, x = ordered_colours(len(NOISES), high=0.85), np.array(sizes, dtype=float)
    with panels(1, 2, (10.8, 4.3)) as (figure, axes):
        left, right = axes[0]
        for noise, colour, rate in zip(NOISES, colours, bayes_rates()):
            left.plot(x, column_of(rows, sizes, "accuracy", noise_variance=noise), "o-", color=colour, markersize=3.2)
            left.axhline(rate, color=colour, linestyle="--", linewidth=1.1)
            deviation = column_of(rows, sizes, "deviation", noise_variance=noise)
            right.plot(x, np.where(deviation > 0, deviation, np.nan), "o-", color=colour, markersize=3.2)
        right.set_yscale("log")
        left.set_ylim(None, 1.01)
        left.set_ylabel("labels right")
        right.set_ylabel("largest deviation of a level")
        for ax in (left, right):
            sizes_axis(ax, sizes)
            faint_grid(ax)
        entitle(left, "Labels", "dashed: Bayes")
        entitle(right, "Levels")
        figure.draw_without_rendering()
        for ax, column in ((left, "accuracy"), (right, "deviation")):
            ends = [column_of(rows, sizes, column, noise_variance=noise)[-1] for noise in NOISES]
            name_ends(ax, ends, [f"σ² = {noise:g}" for noise in NOISES], colours)
    return figure


def gaps_of(rows: list[Row], sizes: tuple[int, ...]) -> list[Floats]:
    """Return how many labels each curve is short of Bayes, by noise variance."""
    return [
        rate - column_of(rows, sizes, "accuracy", noise_variance=noise) for noise, rate in zip(NOISES, bayes_rates())
    ]


def claims(rows: list[Row], sizes: tuple[int, ...]) -> list[Claim]:
    """Hold the curves against the sentences on Figure 6."""
    gaps = gaps_of(rows, sizes)
    last = [float(gap[-1]) for gap in gaps]
    near = [next((n for n, g in zip(sizes, gap) if g <= NEAR), None) for gap in gaps]
    order = [float("inf") if n is None else n for n in near]
    where, figure = "Section 4.1, Figure 6", "noisy"
    words = ", ".join(f"{noise:g}: {n or 'never'}" for noise, n in zip(NOISES, near))
    return [
        Claim(
            where,
            "In each of the noisy settings AltMin approaches the Bayes error.",
            f"short of Bayes at n = {sizes[-1]:,} by {', '.join(f'{g:.4f}' for g in last)} for noise variance "
            f"{', '.join(f'{n:g}' for n in NOISES)}; at n = {sizes[0]} by {', '.join(f'{gap[0]:.3f}' for gap in gaps)}",
            judge(all(g < NEAR and g < gap[0] for g, gap in zip(last, gaps))),
            figure,
        ),
        Claim(
            where,
            "The rate at which AltMin approaches the Bayes error seems faster where the noise is low.",
            f"first n within {NEAR:g} of Bayes, by noise variance: {words}",
            judge(order == sorted(order) and order[0] < order[-1]),
            figure,
        ),
    ]
