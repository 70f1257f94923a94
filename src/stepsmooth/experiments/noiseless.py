"""Item 6: AltMin without noise: labels and levels against the sample size, beside the theory's worst case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepsmooth.experiments.curves import (
    ALL_RIGHT,
    QUICK_SIZES,
    SETTINGS,
    SIZES,
    column_of,
    edge_modulus,
    kernel_norm,
    means,
    score_all,
    thresholds,
)
from stepsmooth.experiments.drawing import faint_grid, name_ends, panels, sizes_axis
from stepsmooth.experiments.outcome import Claim, Outcome, Row, judge
from stepsmooth.experiments.running import SEED, Runner, number
from stepsmooth.model import MinKernel
from stepsmooth.report.palette import level_colours
from stepsmooth.topology import connectivity

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def run(runner: Runner) -> Outcome:
    """Score AltMin, draw the curves, and judge them by Theorem 1 and Proposition 2."""
    quick = runner.settings.quick
    count, sizes = runner.settings.count(full=100, quick=4), QUICK_SIZES if quick else SIZES
    raw = score_all(runner, "AltMin without noise", ["AltMin"], SETTINGS, [0.0], sizes, count)
    rows = means(raw)
    limits: list[Row] = []
    for m, beta in SETTINGS:
        by_norm, by_edges = thresholds(m, beta)
        right = column_of(rows, sizes, "accuracy", M=m, beta=beta)
        first = next((n for n, a in zip(sizes, right) if a >= ALL_RIGHT), None)
        limits.append({"M": m, "beta": beta, "theorem, norm": by_norm, "theorem, edges": by_edges, "all right": first})
    return Outcome(
        figures={"noiseless": draw(rows, sizes)},
        captions={
            "noiseless": f"Means of {count} datasets. Left, dashed: the n from which Theorem 1 guarantees all labels, "
            "by the norm of f; dotted: by its true steps. Right: the bound of Proposition 2, likewise."
        },
        tables={"noiseless": rows, "thresholds": limits, "datasets": raw},
        shown={"thresholds": tuple(limits[0])},
        claims=claims(raw, limits, sizes),
        settings={"datasets": count, "sizes": sizes, "settings": SETTINGS, "seed": SEED},
        choices=[
            "Kernel min, tau by generalised cross-validation (the paper cross-validates), smoothing first; M is known.",
        ],
    )


def draw(rows: list[Row], sizes: tuple[int, ...]) -> Figure:
    """Draw accuracy at the left and deviation at the right, a colour for each setting."""
    from stepsmooth.report.lettering import entitle

    colours, x = level_colours(len(SETTINGS)), np.array(sizes, dtype=float)
    with panels(1, 2, (10.8, 4.3)) as (figure, axes):
        left, right = axes[0]
        for (m, beta), colour in zip(SETTINGS, colours):
            own = {
                c: column_of(rows, sizes, c, M=m, beta=beta) for c in ("accuracy", "deviation", "bound", "edge_bound")
            }
            left.plot(x, own["accuracy"], "o-", color=colour, markersize=3.2, linewidth=1.5)
            for at, line in zip(thresholds(m, beta), ("--", ":")):
                left.axvline(at, color=colour, linestyle=line, linewidth=1.1)
            right.plot(
                x,
                np.where(own["deviation"] > 0, own["deviation"], np.nan),
                "o-",
                color=colour,
                markersize=3.2,
                linewidth=1.5,
            )
            right.plot(x, own["bound"], "--", color=colour, linewidth=1.1)
            right.plot(x, own["edge_bound"], ":", color=colour, linewidth=1.1)
        right.set_yscale("log")
        left.set_ylabel("labels right")
        right.set_ylabel("largest deviation of a level")
        for ax in (left, right):
            sizes_axis(ax, sizes)
            faint_grid(ax)
        entitle(left, "Labels", "dashed, dotted: guaranteed from here")
        entitle(right, "Levels", "dashed, dotted: bounds")
        left.set_ylim(None, 1.01)
        figure.draw_without_rendering()
        names = [f"M = {m}, β = {beta}" for m, beta in SETTINGS]
        for ax, column in ((left, "accuracy"), (right, "deviation")):
            ends = [column_of(rows, sizes, column, M=m, beta=beta)[-1] for m, beta in SETTINGS]
            name_ends(ax, ends, names, colours)
    return figure


def claims(raw: list[Row], limits: list[Row], sizes: tuple[int, ...]) -> list[Claim]:
    """Hold the curves against the sentences on Figure 5."""
    beyond = [
        [r for r in raw if r["M"] == k["M"] and r["beta"] == k["beta"] and number(r, "n") >= number(k, "theorem, norm")]
        for k in limits
    ]
    tested = all(beyond)
    right = [float(np.mean([number(r, "accuracy") == 1.0 for r in own])) if own else float("nan") for own in beyond]
    within = [r for r in raw if "bound" in r]
    inside = float(np.mean([number(r, "deviation") <= number(r, "bound") for r in within]))
    guaranteed = [r for own in beyond for r in own if "bound" in r]
    edges = (
        float(np.mean([number(r, "deviation") <= number(r, "edge_bound") for r in guaranteed])) if guaranteed else 0.0
    )
    firsts = [k["all right"] for k in limits]
    ratios = [number(k, "theorem, norm") / number(k, "all right") for k in limits]
    radii = [connectivity(np.arange(1, n + 1)[:, None] / n, metric=MinKernel()) * np.sqrt(n) for n in sizes[:4]]
    shares = [max(float(edge_modulus(b)(1.0 / n)) / (kernel_norm(b) * n**-0.5) for _, b in SETTINGS) for n in sizes]
    where, figure = "Section 4.1, Figure 5", "noiseless"
    listed = ", ".join(f"(M={k['M']}, beta={k['beta']}) from n = {k['all right']}" for k in limits)
    asked = ", ".join(str(k["theorem, norm"]) for k in limits)
    return [
        Claim(
            where,
            "AltMin stays well within the worst-case bounds of Theorem 1 (labels).",
            f"all labels right in {', '.join(f'{v:.0%}' for v in right)} of the datasets beyond the theorem's n "
            f"({asked}); on average already {listed}: {', '.join(f'{v:.1f}' for v in ratios)} times fewer points",
            judge((all(v == 1.0 for v in right) and all(f is not None for f in firsts)) if tested else None),
            figure,
        ),
        Claim(
            where,
            "AltMin stays well within the worst-case bounds of Proposition 2 (levels).",
            f"deviation within the bound in {inside:.1%} of all {len(within)} datasets; where the theorem holds, "
            f"within the sharper bound by the true steps of f in {edges:.1%}",
            judge(inside == 1.0),
            figure,
        ),
        Claim(
            "Section 4",
            "At equispaced points the least radius that connects them is n^(-1/2) in the kernel metric.",
            f"times sqrt(n): {', '.join(f'{v:.12g}' for v in radii)} at n = {', '.join(str(n) for n in sizes[:4])}",
            judge(bool(np.allclose(radii, 1.0))),
            "thresholds",
        ),
        Claim(
            "Section 4",
            "omega(rho_min) is at most 3 sqrt(2) / 4 pi beta n^(-1/2).",
            f"the largest step of f between neighbours is at most {max(shares):.0%} of it, at most {shares[-1]:.1%} at "
            f"n = {sizes[-1]:,}: by the true steps Theorem 1 asks for n = "
            f"{', '.join(str(k['theorem, edges']) for k in limits)} instead of {asked}",
            judge(max(shares) <= 1.0),
            "thresholds",
        ),
    ]
