"""AltMin on a line from ten thousand to ten million points: seconds, peak memory and growth.

The paper's model with noise, three levels, tau given; up to a million points also as by default, tau chosen by GCV.
Seconds are of `fit` alone, best of k in this process; peak memory is what one fit adds in a fresh process to imports,
compiled code and data. `exponent` is the growth of the seconds from the size before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

from . import fresh
from .harness import SEED, Row, Settings, attempt, best_of, find, growth_exponent
from .limit import beside_limit, speed_note
from .tables import Claim, Result

TAU = {"min": 1e-4, "spline": 1e-8}
CHOSEN = ", tau by GCV"
CASE = "benchmarks.altmin_scale:case"
MILLION = 1_000_000


def case(n: int, kernel: str) -> Callable[[], Any]:
    """Make the data; the call fits."""
    from stepsmooth import StepSmooth
    from stepsmooth.datasets import make_sine_steps

    signal = make_sine_steps(n, 3, 3, noise_variance=0.05, random_state=SEED + 2)
    X, y = signal.X, signal.y
    tau = TAU.get(kernel, "gcv")
    return lambda: StepSmooth(3, kernel=kernel.removesuffix(CHOSEN), tau=tau, solver="altmin", start="smooth").fit(X, y)


def timed(n: int, kernel: str, settings: Settings) -> Row:
    """Time the fit here and take its memory in a fresh process."""
    from stepsmooth.datasets import make_sine_steps
    from stepsmooth.metrics import label_accuracy

    fit = case(n, kernel)
    # From a million points on there is nothing left to warm: the smaller sizes have compiled everything.
    timing = best_of(lambda _: fit(), repeat=settings.repeat, budget=10.0, warm=n < MILLION)
    model = timing.last
    truth = make_sine_steps(n, 3, 3, noise_variance=0.05, random_state=SEED + 2).labels
    apart = fresh.run(CASE, {"n": n, "kernel": kernel}, small=small(kernel), threads=settings.threads)
    row: Row = {
        **timing.columns(),
        "iterations": model.n_iter_,
        "converged": model.converged_,
        "ns_per_point": timing.seconds / n * 1e9,
        "accuracy": label_accuracy(truth, model.labels_),
        "peak_mb": apart.peak_mb,
        "bytes_per_point": apart.peak_mb * 2**20 / n,
    }
    return beside_limit(row, 32.0 * n, settings.threads)  # points and observations in, f and labels out


def small(kernel: str) -> Row:
    """Give the case that warms a fresh process."""
    return {"n": 1_000, "kernel": kernel}


def start_up(kernel: str, compile_anew: bool, settings: Settings) -> Row:
    """Time import and first fit in a fresh process."""
    apart = fresh.run(
        CASE,
        small(kernel),
        small=small(kernel),
        threads=settings.threads,
        compile_anew=compile_anew,
    )
    return {"import_s": apart.import_seconds, "first_call_s": apart.first_seconds, "seconds": apart.seconds}


def run(settings: Settings) -> Result:
    """Time both kernels at every size."""
    sizes = (10_000, 100_000) if settings.quick else (10_000, 100_000, MILLION, 10 * MILLION)
    rows: list[Row] = []
    claims: list[Claim] = []
    for kernel in TAU:
        block: list[Row] = []
        for n in sizes:
            settings.say(f"kernel={kernel}, n={n:,}")
            keys: Row = {"kernel": kernel, "n": n}
            block.append(attempt(keys, partial(timed, n, kernel, settings)))
        rows += block
        for smaller, larger in pairwise(block):
            both = [find([r], "seconds") for r in (smaller, larger)]
            larger["exponent"] = growth_exponent([int(str(r["n"])) for r in (smaller, larger)], both)
        seconds = [find([r], "seconds") for r in block]
        memory = [find([r], "peak_mb") for r in block[-2:]]
        span = f"{sizes[0]:,} to {sizes[-1]:,}"
        whole = None if None in seconds else growth_exponent(sizes, seconds)
        larger_memory = None if None in memory else growth_exponent(sizes[-2:], memory)
        settled = sum(r.get("converged") is True for r in block) / len(block)
        claims += [
            Claim(f"kernel={kernel}: share of the fits that converged", settled, 1.0),
            Claim(f"kernel={kernel}: growth exponent of seconds, {span}", whole, 1.1, "at most"),
            Claim(f"kernel={kernel}: growth exponent of memory, the last two", larger_memory, 1.1, "at most"),
        ]
        for n in sizes[:3]:
            settings.say(f"kernel={kernel}, n={n:,}, tau by GCV")
            rows.append(attempt({"kernel": kernel + CHOSEN, "n": n}, partial(timed, n, kernel + CHOSEN, settings)))
    for compile_anew in (True, False):
        settings.say("start-up in a fresh process")
        what = "min, compiling" if compile_anew else "min, compiled earlier"
        rows.append(attempt({"kernel": what, "n": 1_000}, partial(start_up, "min", compile_anew, settings)))
    columns = (
        "kernel",
        "n",
        "seconds",
        "iterations",
        "converged",
        "ns_per_point",
        "exponent",
        "limit_s",
        "times_limit",
        "accuracy",
        "peak_mb",
        "bytes_per_point",
        "import_s",
        "first_call_s",
    )
    return Result(rows, claims, [speed_note(settings.threads)], columns)
