"""Item 4: the error of f after one step of AltMin, its three terms, and the labels that follow, as n grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepsmooth.experiments.drawing import faint_grid, minus, name_ends, panels, sizes_axis, slope
from stepsmooth.experiments.outcome import Claim, Outcome, Row, judge
from stepsmooth.experiments.running import SEED, Runner, mean_of, number, where
from stepsmooth.report.palette import GREY, OKABE_ITO

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = {"equispaced": True, "i.i.d.": False}
LABELS = ("uniform", "Markov")
SWITCHING = 0.2
NOISE = 0.05
DENSE = 800  # the largest n whose spectrum is computed as well
TERMS = ("mse", "bias", "leakage", "variance")
NAMES = {"mse": "error of f", "bias": "bias", "leakage": "steps that pass", "variance": "noise that passes"}


def measure(n: int, points: str, labels: str, seed: int) -> Row:
    """Smooth one dataset once, and measure what became of f, of the steps and of the noise.

    Examples
    --------
    >>> row = measure(100, "equispaced", "uniform", 0)
    >>> sorted(row)[:4], row["mse"] > 0
    (['accuracy', 'beta_n', 'bias', 'bound'], True)
    """
    from stepsmooth.datasets import make_markov_steps, make_sine_steps
    from stepsmooth.line import LineSmoother
    from stepsmooth.metrics import label_accuracy
    from stepsmooth.model.kmeans import kmeans_1d
    from stepsmooth.spectral import minimax_tau

    options = {"noise_variance": NOISE, "equispaced": POINTS[points], "random_state": SEED + seed}
    if labels == "uniform":
        data = make_sine_steps(n, 3, 3, **options)  # type: ignore[arg-type]
    else:
        data = make_markov_steps(n, 3, 3, switching=SWITCHING, **options)  # type: ignore[arg-type]
    steps = data.levels[data.labels]
    noise = data.y - data.smooth - steps
    tau = minimax_tau(n, 1)
    smoother = LineSmoother(data.x, order=1)
    f, g, e, fitted = (smoother.solve(part, tau) for part in (data.smooth, steps, noise, data.y))
    found = kmeans_1d(data.y - fitted, 3)[1]
    plain = kmeans_1d(data.y - data.smooth, 3)[1]
    row: Row = {
        "n": n,
        "points": points,
        "labels": labels,
        "seed": seed,
        "mse": float(np.mean((fitted - data.smooth) ** 2)),
        "bias": float(np.mean((f - data.smooth) ** 2)),
        "leakage": float(np.mean(g**2)),
        "variance": float(np.mean(e**2)),
        "accuracy": label_accuracy(data.labels, found),
        "uncontaminated": label_accuracy(data.labels, plain),
    }
    return row | (by_spectrum(data.x, data.smooth, steps, tau) if n <= DENSE else {})


def by_spectrum(x: np.ndarray, smooth: np.ndarray, steps: np.ndarray, tau: float) -> Row:
    """Return the expected error, its bound, and what Corollary 2 asks of the steps."""
    from stepsmooth.model import MinKernel
    from stepsmooth.spectral import (
        dense_spectrum,
        last_component,
        noise_ratio,
        one_step_mse,
        proposition_3,
        step_energy,
        tail_exponent,
    )

    spectrum = dense_spectrum(MinKernel(), x[:, None])
    values, g = spectrum.eigenvalues, spectrum.coefficients(steps)
    terms = one_step_mse(smooth, steps, NOISE, tau, spectrum)
    norm, bound = proposition_3(steps, tau, spectrum)
    return {
        "expected": terms.mse,
        "bound": terms.bound,
        "leakage_bound": bound,
        "leakage_by_spectrum": norm,
        "r_n / n": last_component(g) / len(x),
        "beta_n": tail_exponent(g, values, float(np.abs(steps).max())),
        "xi_n": noise_ratio(g, values, tau),
        "energy": float(step_energy(g, values)),
    }


def run(runner: Runner) -> Outcome:
    """Measure over n, draw, and judge."""
    settings = runner.settings
    count = settings.count(full=50, quick=5)
    most = 102_400 if settings.quick else 409_600
    sizes = tuple(100 * 4**k for k in range(12) if 100 * 4**k <= most)
    cells = [(n, points, labels) for n in sizes for points in POINTS for labels in LABELS]
    raw = runner.each("one step of AltMin", measure, [(*cell, seed) for cell in cells for seed in range(count)])
    rows = [_mean(where(raw, n=n, points=points, labels=labels)) for n, points, labels in cells]
    return Outcome(
        figures={"one_step": draw(rows, sizes)},
        captions={
            "one_step": "Mean squared error of f after one smoothing of y and its three terms; below, labels by "
            "k-means of what is left, beside k-means of steps and noise alone (grey)."
        },
        tables={"one_step": rows, "datasets": raw},
        claims=claims(rows, raw, sizes),
        settings={"datasets": count, "sizes": sizes, "seed": SEED, "noise_variance": NOISE, "switching": SWITCHING},
        choices=["Three levels, three periods, min kernel, tau = n^(-2/3), noise variance .05; Markov: switching .2."],
    )


def _mean(own: list[Row]) -> Row:
    figures = {c: mean_of(own, c) for c in own[0] if c not in ("n", "points", "labels", "seed")}
    return {k: own[0][k] for k in ("n", "points", "labels")} | figures


def draw(rows: list[Row], sizes: tuple[int, ...]) -> Figure:
    """Draw the terms above and the labels below, one column for each way to draw x and labels."""
    colours = ("#222222", *OKABE_ITO[:3])
    with panels(2, 4, (13.0, 5.4), sharex=True, sharey="row", height_ratios=[1.6, 1]) as (figure, axes):
        for column, (points, labels) in enumerate((p, z) for p in POINTS for z in LABELS):
            own = where(rows, points=points, labels=labels)
            _column(axes[:, column], own, sizes, colours, f"{points} x, {labels} labels")
        axes[0, 0].set_ylabel("mean squared")
        axes[1, 0].set_ylabel("labels right")
        figure.draw_without_rendering()
        for column, (points, labels) in enumerate((p, z) for p in POINTS for z in LABELS):
            own = where(rows, points=points, labels=labels)
            names = [minus(f"{NAMES[t]}, {slope(sizes, [number(r, t) for r in own]):.2f}") for t in TERMS]
            name_ends(axes[0, column], [number(own[-1], t) for t in TERMS], names, colours, size=7.5)
            ends = [number(own[-1], "accuracy"), number(own[-1], "uncontaminated")]
            name_ends(axes[1, column], ends, ["after one step", "f known"], [colours[0], GREY], size=7.5)
    return figure


def _column(axes: list[Axes], own: list[Row], sizes: tuple[int, ...], colours: tuple[str, ...], title: str) -> None:
    from stepsmooth.report.lettering import entitle

    for term, colour in zip(TERMS, colours):
        axes[0].plot(sizes, [number(r, term) for r in own], "o-", color=colour, markersize=3, linewidth=1.4)
    axes[0].set_yscale("log")
    entitle(axes[0], title)
    axes[1].plot(sizes, [number(r, "uncontaminated") for r in own], "--", color=GREY, linewidth=1.4)
    axes[1].plot(sizes, [number(r, "accuracy") for r in own], "o-", color=colours[0], markersize=3, linewidth=1.4)
    for ax in axes:
        faint_grid(ax)
    sizes_axis(axes[1], sizes)


def claims(rows: list[Row], raw: list[Row], sizes: tuple[int, ...]) -> list[Claim]:
    """Hold the curves against section 3.1."""
    kinds = [(p, z) for p in POINTS for z in LABELS]
    slopes = {k: slope(sizes, [number(r, "mse") for r in where(rows, points=k[0], labels=k[1])]) for k in kinds}
    largest = where(rows, n=sizes[-1])
    gaps = [[number(r, "uncontaminated") - number(r, "accuracy") for r in where(rows, n=n)] for n in sizes]
    spectral = [r for r in raw if "bound" in r]
    within = float(np.mean([number(r, "leakage_by_spectrum") <= number(r, "leakage_bound") for r in spectral]))
    bounded = float(np.mean([number(r, "expected") <= number(r, "bound") for r in spectral]))
    small = sorted({int(str(r["n"])) for r in spectral})
    energy = [
        slope(small, [mean_of(where(spectral, n=n, points=p, labels=z), "energy") for n in small]) for p, z in kinds
    ]
    beta = min(number(r, "beta_n") for r in spectral)
    listed = ", ".join(f"{p} {z} {s:.2f}" for (p, z), s in slopes.items())
    one_step, figure = "Corollary 2", "one_step"
    return [
        Claim(
            one_step,
            "Under the conditions the error of f after one step goes to 0 as n grows.",
            minus(f"slopes of the measured error over n: {listed}; at n = {sizes[-1]:,} it is ")
            + ", ".join(f"{number(r, 'mse'):.4f}" for r in largest),
            judge(all(s < -0.3 for s in slopes.values())),
            figure,
        ),
        Claim(
            "Section 3.1",
            "In the large sample limit AltMin simplifies to k-means on the uncontaminated step signal.",
            f"labels lost to k-means that knows f: {', '.join(f'{g:.3f}' for g in gaps[0])} at n = {sizes[0]:,}, "
            f"{', '.join(f'{g:.4f}' for g in gaps[-1])} at n = {sizes[-1]:,}",
            judge(max(gaps[-1]) < 0.01),
            figure,
        ),
        Claim(
            "Proposition 3",
            "The steps that pass are bounded by max(xi_n^2, xi_n^beta_n) up to constants.",
            f"within the bound with the appendix's constants in {within:.0%} of {len(spectral)} datasets; least beta_n "
            f"{beta:.2f}",
            judge(within == 1.0),
            "datasets",
        ),
        Claim(
            "Section 3.1, display of the MSE",
            "The error is at most twice bias and steps that pass, plus variance.",
            f"in {bounded:.0%} of {len(spectral)} datasets (noise term Gamma V' eps; the print has V' eps)",
            judge(bounded == 1.0),
            "datasets",
        ),
        Claim(
            "Section 3.1",
            "The energy of the steps, 1/n sum of g_i^2 / lambda_i, goes to infinity.",
            f"it grows like n to the power {', '.join(f'{e:.2f}' for e in energy)}",
            judge(min(energy) > 0.5),
            "datasets",
        ),
    ]
