"""The joint solver from ten thousand to a million points: seconds, peak memory and growth, beside hmmlearn.

The paper's model, three levels, noise variance .05, `StepSmooth(3)` as it comes. Seconds are of the whole fit, best of
three in this process; peak memory is what one fit adds in a fresh process to imports, compiled code and data.
hmmlearn's Gaussian model has no smooth part; six starts are fair to it, one is fast. Two threads for all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from . import fresh
from .harness import SEED, Row, Settings, attempt, best_of, find, growth_exponent, quotient, same_threads
from .limit import beside_limit, speed_note
from .tables import Claim, Result

if TYPE_CHECKING:
    from stepsmooth.datasets import StepSignal

JOINT, HMM, HMM_ONE, ORACLE = "stepsmooth, joint", "hmmlearn, 6 starts", "hmmlearn, 1 start", "Bayes oracle"
STARTS = {HMM: 6, HMM_ONE: 1}
CASE = "benchmarks.joint_scale:case"
MILLION = 1_000_000
THREADS, REPEAT, BUDGET = 2, 3, 1_500.0
SMALL = 5_000


def signal(n: int) -> StepSignal:
    """Draw the data."""
    from stepsmooth.datasets import make_sine_steps

    return make_sine_steps(n, 3, 3, noise_variance=0.05, random_state=SEED + 220_000)


def case(n: int, method: str) -> Callable[[], Any]:
    """Make the data; the call fits and gives labels."""
    from stepsmooth import StepSmooth, peers

    data = signal(n)
    X, x, y = data.X, data.x, data.y
    if method == JOINT:
        return lambda: StepSmooth(3).fit(X, y).labels_
    return lambda: peers.hmm_levels(x, y, 3, n_init=STARTS[method]).labels


def timed(n: int, method: str, settings: Settings) -> Row:
    """Time the fit here and take its memory in a fresh process."""
    from stepsmooth.metrics import label_accuracy, ordered_accuracy

    fit = case(n, method)
    # From a million points on there is nothing left to warm: the smaller sizes have compiled everything.
    timing = best_of(lambda _: fit(), repeat=min(settings.repeat, REPEAT), budget=BUDGET, warm=n < MILLION)
    truth = signal(n).labels
    apart = fresh.run(CASE, {"n": n, "method": method}, small={"n": SMALL, "method": method}, threads=THREADS)
    row: Row = {
        **timing.columns(),
        "accuracy": label_accuracy(truth, timing.last),
        "in_order": ordered_accuracy(truth, timing.last),
        "peak_mb": apart.peak_mb,
        "bytes_per_point": apart.peak_mb * 2**20 / n,
    }
    return beside_limit(row, 56.0 * n, THREADS)  # points and observations in; f, labels and three probabilities out


def oracle(n: int) -> Row:
    """Score the labels of the classifier that knows all but the labels."""
    from stepsmooth.metrics import bayes_oracle, ordered_accuracy

    data = signal(n)
    labels = bayes_oracle(data.y, data.smooth, data.levels, data.noise_variance)
    right = ordered_accuracy(data.labels, labels)
    return {"accuracy": right, "in_order": right}


def run(settings: Settings) -> Result:
    """Time both at every size."""
    sizes = (SMALL, 10_000) if settings.quick else (10_000, 100_000, MILLION)
    rows: list[Row] = []
    with same_threads(THREADS):
        for n in sizes:
            block: list[Row] = []
            for method in (JOINT, HMM_ONE, HMM):
                settings.say(f"n={n:,}: {method}")
                block.append(attempt({"n": n, "method": method}, partial(timed, n, method, settings)))
            for row in block:
                row["ratio"] = quotient(find([row], "seconds"), find(block, "seconds", method=JOINT))
            rows += [*block, attempt({"n": n, "method": ORACLE}, partial(oracle, n))]
    return Result(rows, claims_of(rows, sizes), notes_of(rows, sizes), columns())


def claims_of(rows: list[Row], sizes: tuple[int, ...]) -> list[Claim]:
    """Say what must be reached; the growth from size to size becomes a column."""
    own = [r for r in rows if r["method"] == JOINT]
    for smaller, larger in pairwise(own):
        both = [find([r], "seconds") for r in (smaller, larger)]
        larger["exponent"] = growth_exponent([int(str(r["n"])) for r in (smaller, larger)], both)
    seconds, memory = ([find([r], column) for r in own] for column in ("seconds", "peak_mb"))
    span = f"{sizes[0]:,} to {sizes[-1]:,}"
    growth = [None if None in values else growth_exponent(sizes, values) for values in (seconds, memory)]
    claims = [
        Claim(f"growth exponent of seconds, {span}", growth[0], 1.1, "at most"),
        Claim(f"growth exponent of peak memory, {span}", growth[1], 1.1, "at most"),
    ]
    if MILLION in sizes:
        claims.insert(0, Claim("seconds of the whole fit, n=1,000,000", seconds[-1], 3.0, "at most"))
    return claims


def notes_of(rows: list[Row], sizes: tuple[int, ...]) -> list[str]:
    """Give the ratios to hmmlearn in a sentence."""
    n = sizes[-1]
    ratios = {name: find(rows, "ratio", n=n, method=name) for name in (HMM, HMM_ONE)}
    words = [f"{name} {np.nan if r is None else r:.2g} times" for name, r in ratios.items()]
    said = f"n={n:,}: {' and '.join(words)} the seconds of the joint solver. {THREADS} threads for all."
    return [said, speed_note(THREADS)]


def columns() -> tuple[str, ...]:
    """Name what is printed."""
    return (
        "n", "method", "seconds", "ratio", "exponent", "limit_s", "times_limit", "accuracy", "in_order", "peak_mb",
        "bytes_per_point", "median_s", "first_call_s", "best_of",
    )  # fmt: skip
