"""What items 6, 7 and 10 share: the paper's simulated model, scored over sample sizes, settings and seeds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stepsmooth.experiments.running import SEED, Runner, attempt, mean_of, number, where
from stepsmooth.model.arrays import Anything, Floats

if TYPE_CHECKING:
    from stepsmooth.datasets import StepSignal
    from stepsmooth.experiments.outcome import Row

SETTINGS = ((2, 1), (2, 2), (3, 2), (3, 3))  # M, beta: smoother and rougher for two and for three classes
ALL_RIGHT = 0.9995  # mean accuracy that counts as all labels right
SIZES = (25, 36, 50, 75, 100, 150, 225, 400, 600, 900, 1600, 2500, 3600)
QUICK_SIZES = (25, 50, 100, 225, 400, 900, 1600, 3600)
ALTMIN: dict[str, Any] = {"solver": "altmin", "kernel": "min", "tau": "gcv", "start": "smooth"}
METHODS: dict[str, dict[str, Any]] = {"AltMin": ALTMIN, "joint": {"solver": "joint"}}


def paper_signal(n: int, n_levels: int, beta: float, noise_variance: float, seed: int) -> StepSignal:
    """Draw a dataset of the paper's model; seeds are the experiments' own."""
    from stepsmooth.datasets import make_sine_steps

    return make_sine_steps(n, n_levels, beta, noise_variance=noise_variance, random_state=SEED + seed)


def score(method: str, n: int, n_levels: int, beta: float, noise_variance: float, seed: int) -> Row:
    """Fit one dataset by one method and compare with the truth; a failure becomes the row's `error`.

    Examples
    --------
    >>> row = score("AltMin", 50, 2, 1.0, 0.0, 0)
    >>> row["accuracy"], row["bound"] > row["deviation"]
    (1.0, True)
    """
    keys: Row = {"method": method, "M": n_levels, "beta": beta, "noise_variance": noise_variance, "n": n, "seed": seed}
    return attempt(keys, lambda: _figures(method, paper_signal(n, n_levels, beta, noise_variance, seed), beta))


def _figures(method: str, data: StepSignal, beta: float) -> Row:
    from stepsmooth import StepSmooth
    from stepsmooth.metrics import bayes_oracle, label_accuracy, level_deviation
    from stepsmooth.topology import label_distance, level_bound

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # kept as `converged`
        model = StepSmooth(len(data.levels), **METHODS[method]).fit(data.X, data.y)
    row: Row = {
        "accuracy": label_accuracy(data.labels, model.labels_),
        "deviation": level_deviation(data.levels, model.levels_, data.smooth, model.smooth_),
        "converged": bool(model.converged_),
        "oracle": label_accuracy(data.labels, bayes_oracle(data.y, data.smooth, data.levels, data.noise_variance)),
    }
    if data.noise_variance == 0 and len(np.unique(data.labels)) == len(data.levels):
        near, mean = label_distance(data.X, data.labels), float(data.smooth.mean())
        # Proposition 2 with the norm of f in the kernel metric, sqrt(d), and with the largest step of f itself.
        row["bound"] = level_bound(float(np.sqrt(near)), len(data.levels), kernel_norm(beta), mean=mean)
        row["edge_bound"] = level_bound(near, len(data.levels), edge_modulus(beta), mean=mean)
    return row


def kernel_norm(beta: float) -> float:
    """Return |f|_H of the wave 3/4 sin(2 pi beta x): 3 sqrt(2) pi beta / 4.

    Examples
    --------
    >>> round(kernel_norm(1.0), 4)
    3.3322
    """
    return float(0.75 * np.sqrt(2.0) * np.pi * beta)


def edge_modulus(beta: float) -> Anything:
    """Return the true modulus of the wave: the most it changes over a distance.

    Examples
    --------
    >>> float(edge_modulus(1.0)(0.5))
    1.5
    """
    return lambda t: 1.5 * np.sin(np.pi * beta * np.minimum(t, 0.5 / beta))


def thresholds(n_levels: int, beta: float) -> tuple[int, int]:
    """Return the least n at which Theorem 1 holds, by the norm of f and by its true steps.

    Examples
    --------
    >>> [thresholds(*setting) for setting in SETTINGS]
    [(178, 19), (711, 38), (1599, 57), (3598, 85)]
    """
    from stepsmooth.topology import sample_size

    levels = np.arange(n_levels)
    by_norm = sample_size(lambda n: n**-0.5, levels, kernel_norm(beta))
    return by_norm, sample_size(lambda n: 1.0 / n, levels, edge_modulus(beta))


def score_all(
    runner: Runner,
    words: str,
    methods: Sequence[str],
    settings: Sequence[tuple[int, int]],
    noises: Sequence[float],
    sizes: Sequence[int],
    count: int,
) -> list[Row]:
    """Score every method on the same datasets; the longest fits first, so that no worker waits at the end."""
    cells = [(method, n, m, b, s) for method in methods for m, b in settings for s in noises for n in sizes]
    cells.sort(key=lambda cell: (-cell[1], cell[0] == "AltMin"))
    return runner.each(words, score, [(*cell, seed) for cell in cells for seed in range(count)])


def means(rows: list[Row], keys: Sequence[str] = ("method", "M", "beta", "noise_variance", "n")) -> list[Row]:
    """Average over seeds, with the standard error of the accuracy; failures are counted.

    Examples
    --------
    >>> means([{"n": 1, "accuracy": 0.5}, {"n": 1, "accuracy": 1.0}, {"n": 1, "error": "no"}], keys=("n",))[0]
    {'n': 1, 'datasets': 3, 'failed': 1, 'accuracy': 0.75, 'accuracy_se': 0.25, 'all_right': 0.5}
    """
    out: list[Row] = []
    for cell in dict.fromkeys(tuple(row[key] for key in keys) for row in rows):
        own = where(rows, **dict(zip(keys, cell)))
        right = np.array([number(row, "accuracy") for row in own if "error" not in row])
        row: Row = {**dict(zip(keys, cell)), "datasets": len(own), "failed": len(own) - len(right)}
        if len(right):
            se = float(right.std(ddof=1) / np.sqrt(len(right))) if len(right) > 1 else float("nan")
            row |= {"accuracy": float(right.mean()), "accuracy_se": se, "all_right": float(np.mean(right == 1.0))}
        row |= {
            column: mean_of(own, column)
            for column in ("deviation", "bound", "edge_bound", "oracle")
            if any(column in one for one in own)
        }
        out.append(row)
    return sorted(out, key=lambda r: tuple(str(r[k]) if isinstance(r[k], str) else f"{r[k]:012.4f}" for k in keys))


def column_of(rows: list[Row], sizes: Sequence[int], column: str, **keys: object) -> Floats:
    """Return a column over the sizes, NaN where there is none.

    Examples
    --------
    >>> column_of([{"n": 25, "accuracy": 1.0}], (25, 50), "accuracy")
    array([ 1., nan])
    """
    return np.array([mean_of(where(rows, n=n, **keys), column) for n in sizes])
