"""Item 2: survival functions of two-state Markov chains, and the decay of what smoothing leaves of them."""

from __future__ import annotations

import numpy as np
from scipy.stats import spearmanr

from stepsmooth.experiments.drawing import minus, slope
from stepsmooth.experiments.outcome import Claim, Outcome, Row, judge
from stepsmooth.experiments.running import SEED, Runner, number
from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.report.chain_curves import SWITCHING, ChainCurves, chain_curves
from stepsmooth.spectral import last_component, markov_chains, min_kernel_spectrum, tail_exponent

STRAIGHT = 0.98  # R^2 of a line in the log-log plot that counts as a stable linear decay
STEADY = -0.1  # the power of n beyond which a figure falls towards 0


def run(runner: Runner) -> Outcome:
    """Simulate the chains, draw their curves, and hold them against the paper's sentences."""
    from stepsmooth.report import SpectralDisplay

    settings = runner.settings
    chains = settings.count(full=10_000, quick=300)
    n = 200 if settings.quick and chains < 50 else 1000
    sizes = (100, 200, 400, 800) if settings.quick else (100, 200, 400, 800, 1600, 3200)
    runner.progress.begin(f"{chains:,} chains for each probability", 2)
    curves = chain_curves(SWITCHING, n=n, sizes=sizes, chains=chains, random_state=SEED)
    runner.progress.step()
    tails = tail_rows(sizes, few=min(chains, 50))
    runner.progress.step()
    out = Outcome(
        figures={"chains": SpectralDisplay(curves=curves).plot().figure_},
        captions={
            "chains": f"Medians over {chains:,} chains, bands hold 95 % of them. Left: survival functions at n = "
            f"{n:,}. Right: residual norms at tau = sqrt(lambda_n), for K/n (the paper's matrix) and for K."
        },
        tables={"survival": survival_rows(curves), "residual_norms": residual_rows(curves), "tails": tails},
        settings={"chains": chains, "n": n, "sizes": sizes, "switching": SWITCHING, "seed": SEED},
        choices=["The paper does not say how the matrix of its residual norms is scaled: both scalings are shown."],
    )
    out.claims = claims(curves, tails)
    return out


def survival_rows(curves: ChainCurves) -> list[Row]:
    """Give the survival functions as rows."""
    return [
        {"switching": p, "t": t, "low": low, "median": median, "high": high}
        for p, band in zip(curves.switching.tolist(), curves.survival)
        for t, low, median, high in zip(curves.t.tolist(), *band.tolist())
    ]


def residual_rows(curves: ChainCurves) -> list[Row]:
    """Give the residual norms as rows, with the slope of each curve."""
    out: list[Row] = []
    for scaling, bands in curves.residual.items():
        for p, band, fitted in zip(curves.switching.tolist(), bands, curves.slopes(scaling).tolist()):
            for size, low, median, high in zip(curves.sizes.tolist(), *band.tolist()):
                row: Row = {"matrix": scaling, "switching": p, "n": int(size), "low": low, "median": median}
                out.append({**row, "high": high, "slope": fitted})
    return out


def tail_rows(sizes: tuple[int, ...], few: int) -> list[Row]:
    """Give the medians of r_n / n and beta_n over a few chains, for each probability and size."""
    rng, out = np.random.default_rng(SEED), []
    for size in sizes:
        spectrum = min_kernel_spectrum(size)
        for p in SWITCHING:
            g = spectrum.coefficients(markov_chains(size, p, few, rng))
            share = float(np.median([last_component(one) / size for one in g]))
            beta = float(np.median([tail_exponent(one, spectrum.eigenvalues, 1.0) for one in g]))
            row: Row = {"switching": p, "n": size, "r_n / n": share, "beta_n": beta}
            out.append(row)
    return out


def straightness(sizes: Floats, values: Floats) -> float:
    """Return R^2 of a straight line through the logs.

    Examples
    --------
    >>> straightness(np.array([1.0, 10.0, 100.0]), np.array([1.0, 0.1, 0.01]))
    1.0
    """
    x, y = np.log(sizes), np.log(values)
    left = y - np.polyval(np.polyfit(x, y, 1), x)
    return float(1.0 - left.var() / y.var())


def falling(p: Anything, slopes: Anything) -> float:
    """Return the rank correlation of slopes with p: -1 if every rise of p makes them steeper.

    Examples
    --------
    >>> round(falling([0.1, 0.2, 0.3], [-1.0, -2.0, -3.0]), 6)
    -1.0
    """
    return float(spearmanr(p, slopes).statistic)


def listed(values: Anything) -> str:
    """Write numbers with two decimals, by commas.

    Examples
    --------
    >>> listed([1.0, 0.255])
    '1.00, 0.26'
    """
    return ", ".join(f"{value:.2f}" for value in values)


def claims(curves: ChainCurves, tails: list[Row]) -> list[Claim]:
    """Hold the curves against the sentences of Example 2."""
    medians = curves.survival[:, 1]
    upper = curves.t > 2.0 * curves.t[0]  # the tail: beyond the smallest eigenvalues
    orderly = float(np.mean(np.diff(medians[:, upper], axis=0) <= 1e-12))
    last = {scaling: curves.slopes(scaling) for scaling in curves.residual}
    ranks = {s: falling(curves.switching, last[s]) for s in last}
    smallest = {s: slope(curves.sizes, [_least(int(n), s) for n in curves.sizes]) for s in curves.residual}
    straight = min(straightness(curves.sizes, band[1]) for s in curves.residual for band in curves.residual[s])
    shares, betas = (np.array([number(row, c) for row in tails]) for c in ("r_n / n", "beta_n"))
    by_size = np.stack([betas[[row["n"] == n for row in tails]] for n in curves.sizes], axis=1)
    fall = min(slope(curves.sizes, row) for row in by_size)
    band = curves.survival[-1]
    where, figure = "Example 2, Figure 3", "chains"
    out = [
        Claim(
            where,
            "As the transition probability increases, the tail decay of the survival function becomes sharper.",
            f"medians fall with p at {orderly:.1%} of all t beyond the smallest eigenvalues and neighbouring p",
            judge(orderly > 0.99),
            figure,
        ),
    ]
    for scaling, words in (("K/n", "as the paper defines it"), ("K", "without the division by n")):
        out.append(
            Claim(
                where,
                f"As the transition probability increases, the norm decay becomes steeper. [{scaling}, {words}]",
                minus(f"slopes for p = .1 to 1: {listed(last[scaling])}; rank correlation with p {ranks[scaling]:.2f}"),
                judge(ranks[scaling] < -0.8),
                figure,
            )
        )
        out.append(
            Claim(
                where,
                f"The kernel matrix has the least eigenvalue lambda_n ~ 1 / (4 n). [{scaling}, {words}]",
                f"lambda_n falls like n to the power {smallest[scaling]:.2f}; 4 n lambda_n = "
                f"{4 * curves.n * _least(curves.n, scaling):.3g} at n = {curves.n:,}",
                judge(abs(4 * curves.n * _least(curves.n, scaling) - 1.0) < 0.05),
                figure,
            )
        )
        out.append(
            Claim(
                where,
                f"At p = 1 and tau = sqrt(lambda_n) the residual norm has slope -1. [{scaling}, {words}]",
                f"fitted slope {last[scaling][-1]:.2f}",
                judge(abs(last[scaling][-1] + 1.0) < 0.05),
                figure,
            )
        )
    out += [
        Claim(
            where,
            "In the case of p = 1 there is no shading.",
            f"widest 95 % band at p = 1: {float(np.max(band[2] - band[0])):.2g} of an energy of 1",
            judge(bool(np.max(band[2] - band[0]) < 1e-3)),
            figure,
        ),
        Claim(
            where,
            "The survival functions show natural tail decays for all p at n = 1000.",
            f"median beta_n over p and n from {betas.min():.2f} to {betas.max():.2f}",
            judge(bool(betas.min() > 0)),
            "tails",
        ),
        Claim(
            where,
            "Stable linear decays show that the conditions liminf r_n / n > 0 and liminf beta_n > 0 are attainable.",
            minus(
                f"least R^2 of a line {straight:.3f}; median r_n / n at least {shares.min():.2f}; least median beta_n "
                f"{by_size[:, 0].min():.2f} at the smallest n and {by_size[:, -1].min():.2f} at the largest; where it "
                f"falls fastest it does so like n to the power {fall:.2f}"
            ),
            judge(bool(straight > STRAIGHT and shares.min() > 0.5 and fall > STEADY)),
            "tails",
        ),
    ]
    return out


def _least(n: int, scaling: str) -> float:
    return float(min_kernel_spectrum(n, scaling=scaling).eigenvalues[-1])
