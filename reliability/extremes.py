"""Numerical extremes: right, or one clear sentence, and no warning from numpy."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from stepsmooth import GridStepSmooth, StepSmooth

from .promise import Profile, Promise

ROOT = Path(__file__).parents[1]
N_CASES = 2_000
# How a unit is drawn: its decimal exponent. An offset of 1e9 comes on top, and data are to be finite.
WIDE, GENTLE = (-310.0, 295.0), (-25.0, 25.0)


def run(profile: Profile) -> list[Promise]:
    """Run the table of cases under tests/extremes, then cases at random."""
    log = profile.out / "extremes.log"
    with log.open("w") as file:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/extremes"]
        code = subprocess.run(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT).returncode
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed)", log.read_text())}
    seeds = range(profile.seed * N_CASES, profile.seed * N_CASES + profile.cases(N_CASES))
    with ProcessPoolExecutor(profile.jobs) as pool:
        outcomes = list(pool.map(outcome, seeds, chunksize=5))
    broken = [f"case {seed}: {said}" for seed, said in zip(seeds, outcomes) if said.startswith("BROKEN")]
    (profile.out / "extremes-broken.txt").write_text("\n".join([*broken, ""]))
    right, refused = outcomes.count("right"), sum(said.startswith("refused") for said in outcomes)
    return [
        Promise(
            "each extreme case of the table is right, or one clear sentence",
            code == 0,
            f"{counts.get('failed', 0)} of {sum(counts.values())} cases broken",
        ),
        Promise(
            "so are cases drawn at random, and no warning of numpy escapes",
            not broken,
            f"{len(broken)} of {len(outcomes):,} broken ({right:,} right, {refused:,} refused, "
            f"{len(outcomes) - right - refused - len(broken):,} finite with a say of their own)",
        ),
    ]


def outcome(seed: int) -> str:
    """Return what became of one case: "right", "refused: ...", "finite", or "BROKEN: ..."."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Words of our own are no warnings of numpy's.
        warnings.filterwarnings("ignore", category=UserWarning, module="stepsmooth|__main__|reliability")
        warnings.filterwarnings("ignore", message="(y|the image) supports only|levels_ coincide|the weights sum to")
        warnings.filterwarnings("ignore", message="AltMin did not converge")
        try:
            return _image(rng) if rng.uniform() < 0.4 else _signal(rng)
        except ValueError as error:
            if isinstance(error, np.linalg.LinAlgError) or not str(error).rstrip().endswith("."):
                return f"BROKEN: {type(error).__name__}: {error}"
            return f"refused: {error}"
        except (Warning, ArithmeticError, MemoryError, IndexError, TypeError, AssertionError) as error:
            return f"BROKEN: {type(error).__name__}: {error}"


def _unit(rng: np.random.Generator) -> tuple[float, bool]:
    """Return a unit, and whether answers must not depend on it."""
    gentle = bool(rng.uniform() < 0.85)
    return float(10.0 ** rng.uniform(*(GENTLE if gentle else WIDE))), gentle


def _signal(rng: np.random.Generator) -> str:
    n, n_levels = int(rng.integers(30, 50)), int(rng.integers(2, 4))
    planar = rng.uniform() < 0.2
    X = rng.uniform(size=(n, 2)) if planar else np.sort(rng.uniform(size=(n, 1)), axis=0)
    labels = np.append(np.arange(n_levels), rng.integers(n_levels, size=n - n_levels))
    y = 0.5 * np.sin(3.0 * X[:, 0]) + 3.0 * labels + 0.05 * rng.normal(size=n)
    (unit_x, plain_x), (unit_y, plain_y) = _unit(rng), _unit(rng)
    offset = float(rng.choice([0.0, 1e3, -1e9])) if rng.uniform() < 0.5 else 0.0
    weights, tau = np.ones(n), "auto"
    plain = plain_x and plain_y
    if rng.uniform() < 0.2:
        weights, plain = 10.0 ** rng.uniform(-14.0, 14.0, size=n) * (rng.uniform(size=n) < 0.9), False
    if rng.uniform() < 0.2:
        tau, plain = float(10.0 ** rng.uniform(*WIDE)), False
    solver = "altmin" if planar else str(rng.choice(["altmin", "joint"]))
    kernel = "auto" if planar else str(rng.choice(["spline", "min"]))
    m = StepSmooth(n_levels, solver=solver, kernel=kernel, tau=tau)
    m.fit(unit_x * X, unit_y * (y + offset), weights)
    m.predict(unit_x * X)
    parts = (m.levels_, m.smooth_, m.probabilities_, m.noise_variance_, m.tau_, m.objective_)
    if not all(np.all(np.isfinite(part)) for part in parts):
        return "BROKEN: not finite"
    if not plain:
        return "finite"
    # Whether few points are told apart is another question: units must not decide it.
    same = StepSmooth(n_levels, solver=solver, kernel=kernel).fit(X, y)
    agree = float(np.mean(same.labels_ == m.labels_))
    return "right" if agree > 0.9 else f"BROKEN: {100 * agree:.0f} % of the labels as in plain units"


def _image(rng: np.random.Generator) -> str:
    n, multiplicative = 4 * int(rng.integers(4, 7)), bool(rng.integers(2))
    labels = np.kron(rng.integers(2, size=(n // 4, n // 4)), np.ones((4, 4), dtype=int))
    labels[:4, :4], labels[-4:, -4:] = 0, 1
    f = np.linspace(-0.2, 0.2, n)[:, None]
    values = (np.exp(f) * (1.0 + labels) if multiplicative else f + 2.0 * labels) + 0.03 * rng.normal(size=(n, n))
    unit, plain = _unit(rng)
    spacing = float(10.0 ** rng.uniform(-5.0, 5.0)) if rng.uniform() < 0.7 else float(10.0 ** rng.uniform(*WIDE))
    offset = 0.0 if multiplicative or rng.uniform() < 0.5 else float(rng.choice([1e3, -1e9]))
    weights = None
    if rng.uniform() < 0.2:
        weights, plain = 10.0 ** rng.uniform(-14.0, 14.0, size=(n, n)) * (rng.uniform(size=(n, n)) < 0.9), False
    tau: float | str = "auto"
    if rng.uniform() < 0.2:
        tau, plain = float(10.0 ** rng.uniform(*WIDE)), False
    params = {"solver": str(rng.choice(["altmin", "joint"])), "multiplicative": multiplicative}
    g = GridStepSmooth(2, spacing=spacing, tau=tau, **params).fit(unit * (values + offset), weights=weights)
    g.probabilities()
    parts = (g.levels_, g.smooth_, g.corrected_, g.noise_variance_, g.tau_, g.objective_)
    if not all(np.all(np.isfinite(part)) for part in parts):
        return "BROKEN: not finite"
    if not plain:
        return "finite"
    # As for signals: how good a solver is at this image is another question.
    same = GridStepSmooth(2, **params).fit(values)
    agree = float(np.mean(same.labels_ == g.labels_))
    return "right" if agree > 0.9 else f"BROKEN: {100 * agree:.0f} % of the labels as in plain units"
