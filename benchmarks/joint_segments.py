"""Long segments of uneven levels under noise, on a slow wave: the joint solver beside hidden Markov models.

n = 20,000 in 40 segments, 3 to 5 levels, the smallest gap .6 noise sd, a wave of sd 0, .25 and .6 of it. All are told
the number of levels. The hidden Markov model (hmmlearn) starts from k-means and quantiles with sticky chains, and works
also on what a polynomial or local lines leave; a smoothing spline by GCV follows the segments and is left out.
`started at the truth` is our own EM from the true levels: what is lost against it, the search has lost.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .harness import SEED, Row, Settings, find
from .joint_accuracy import ALTMIN, CUTS, HMM, JOINT, ORACLE, altmin
from .labels import BOTH, COLUMNS, Answer, LabelsOf, asked_for, minus, paired, score, score_all, summary
from .tables import Claim, Result

if TYPE_CHECKING:
    from stepsmooth.datasets import StepSignal

WAVES = (0.0, 0.25, 0.6)
TRUTH = "joint, started at the truth"
DETRENDED = {"polynomial": f"{HMM}, polynomial off", "local": f"{HMM}, local lines off"}
FULL = {"n_samples": 20_000, "n_segments": 40, "correlation_length": 2_000.0}
QUICK = {"n_samples": 2_000, "n_segments": 10, "correlation_length": 500.0}


def name_of(wave: float) -> str:
    """Give a cell in words."""
    return f"segments, wave {wave:g}"


def dataset(wave: float, number: int, *, quick: bool) -> StepSignal:
    """Draw a dataset, again until it has visited every level."""
    from stepsmooth.datasets import make_segments

    rng = np.random.default_rng(SEED + 200_000 + 1_000 * WAVES.index(wave) + number)
    while True:
        data = make_segments(**(QUICK if quick else FULL), wave=wave, random_state=rng)  # type: ignore[arg-type]
        if len(np.unique(data.labels)) == len(data.levels):
            return data


def chain_of(data: StepSignal) -> np.ndarray:
    """The chain that leaves as often as the labels do, to any other level alike."""
    from stepsmooth.line.maximise import sticky

    return sticky(len(data.levels), float(np.mean(np.diff(data.labels) != 0)))


def started_at_truth(data: StepSignal) -> np.ndarray:
    """Labels of the joint model's EM from true levels and chain, tau and noise being those of the true labels."""
    from stepsmooth import StepSmooth
    from stepsmooth.line.chain import Signal, Theta
    from stepsmooth.line.climb import climb
    from stepsmooth.line.search import finish

    known = StepSmooth(1).fit(data.X, data.y - data.levels[data.labels])
    m = len(data.levels)
    theta = Theta(
        levels=data.levels[:, None],
        tau=known.tau_,
        noise=float(known.noise_variance_),
        proportions=np.full(m, 1.0 / m),
        transition=chain_of(data),
    )
    signal = Signal(data.x, data.y[:, None], np.ones(len(data.y)))
    return finish(signal, climb(signal, theta, "markov", "free"), "free").found.gamma.argmax(axis=1)


def methods(data: StepSignal) -> dict[str, LabelsOf]:
    """Name every method."""
    from stepsmooth import StepSmooth, peers
    from stepsmooth.metrics import bayes_oracle

    m, samples = len(data.levels), np.arange(len(data.y), dtype=float)
    out: dict[str, LabelsOf] = {
        JOINT: lambda d: Answer.of(StepSmooth(m).fit(d.X, d.y)),
        HMM: lambda d: peers.hmm_levels(samples, d.y, m),
        CUTS: lambda d: peers.changepoint_levels(samples, d.y, m),
        f"{CUTS}, local lines off": lambda d: peers.changepoint_levels(samples, d.y, m, trend="local"),
        ALTMIN: partial(altmin, m),
        TRUTH: started_at_truth,
        ORACLE: lambda d: bayes_oracle(d.y, d.smooth, d.levels, d.noise_variance, transition_matrix=chain_of(d)),
    }
    for trend, name in DETRENDED.items():
        out[name] = lambda d, trend=trend: peers.hmm_levels(samples, d.y, m, trend=trend)  # type: ignore[misc]
    return out


def task(wave: float, quick: bool, number: int) -> dict[str, Row]:
    """Run every method on one dataset."""
    data = dataset(wave, number, quick=quick)
    return score(data, methods(data))


def claims_of(wave: float, rows: list[Row], scores: list[dict[str, Row]]) -> list[Claim]:
    """Say what one wave must reach."""
    claims: list[Claim] = []
    for column, words in BOTH.items():
        joint, hmm = find(rows, column, method=JOINT), find(rows, column, method=HMM)
        text = f"{name_of(wave)}: {words}"
        if wave == 0.0:
            claims.append(Claim(f"{text}, below the HMM", minus(hmm, joint), 0.003, "at most"))
        elif wave == 0.25:
            ahead = paired(scores, JOINT, HMM, "matched" if column == "accuracy" else column)
            claims.append(Claim(f"{text}, over the HMM", minus(joint, hmm), 0.0))
            claims.append(Claim(f"{text}, over the HMM in paired standard errors", ahead, 2.0))
        else:
            claims.append(Claim(text, joint, 0.95))
            claims.append(Claim(f"{text}, started at the truth", find(rows, column, method=TRUTH), 0.99))
    return claims


def run(settings: Settings) -> Result:
    """Score every wave."""
    count = settings.datasets or (2 if settings.quick else 100)
    rows: list[Row] = []
    claims: list[Claim] = []
    for wave in WAVES:
        if not asked_for(name_of(wave), settings):
            continue
        settings.say(f"{name_of(wave)}: {count} datasets")
        scores = score_all(partial(task, wave, settings.quick), count, settings)
        own = summary({"cell": name_of(wave)}, scores)
        claims += claims_of(wave, own, scores)
        rows += own
    return Result(rows, claims, columns=COLUMNS)
