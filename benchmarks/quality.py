"""The verdict on a correction beside the truth: its confusion table on simulated cases.

A case is helped if the field comes closer to the true one, or the labels of a classifier that knows all but the field
get better, and neither gets worse; it is made worse if it is the other way. Every second case has a weak field or
none. Thresholds were set on other seeds.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter

from joblib import Parallel, delayed, parallel_config

from .harness import SEED, Row, Settings, quotient
from .quality_cases import FAMILIES, make_case
from .tables import Claim, Result

N_CASES, N_QUICK = 240, 12
LARGE = 0.05  # a loss of labels that is more than a nuisance
VERDICTS = ("helped", "no change", "made worse")
COLUMNS = ("data", "truth", "cases", *(f"says {v}" for v in VERDICTS))


def judge(number: int) -> Row:
    """Fit a case, ask for its quality, and compare with the truth."""
    from stepsmooth.report import quality

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits that are told too soft a field may not converge
        family, weak, known = make_case(number, SEED)
        start = time.process_time()
        found = quality(known.model)
        spent = time.process_time() - start
    truth, accuracy, accuracy_after, error, error_after = known.truth()
    return {
        "case": number,
        "data": family,
        "weak": weak,
        "truth": truth,
        "verdict": found.verdict,
        "gain": found.gain,
        "gain_error": found.gain_error,
        "regions": found.n_regions,
        "accuracy": accuracy,
        "accuracy_after": accuracy_after,
        "field_error": error,
        "field_error_after": error_after,
        "cpu_s": spent,
    }


def confusion(cases: list[Row], data: str = "all") -> list[Row]:
    """Count the verdicts on the cases of one kind of data, one row a truth."""
    rows: list[Row] = []
    for truth in VERDICTS:
        own = [c for c in cases if c["truth"] == truth and data in ("all", c["data"])]
        said = Counter(str(c["verdict"]) for c in own)
        rows.append({"data": data, "truth": truth, "cases": len(own), **{f"says {v}": said[v] for v in VERDICTS}})
    return rows


def share(cases: list[Row], verdict: str) -> float | None:
    """Give the share of cases with a verdict."""
    return quotient(float(sum(c["verdict"] == verdict for c in cases)), float(len(cases)))


def claims(cases: list[Row]) -> list[Claim]:
    """What the table must show."""
    helped = [c for c in cases if c["truth"] == "helped"]
    others = [c for c in cases if c["truth"] != "helped"]
    harmed = [c for c in cases if c["truth"] == "made worse"]
    weak = quotient(float(sum(bool(c["weak"]) for c in cases)), float(len(cases)))
    return [
        Claim("cases", float(len(cases)), 200.0),
        Claim("share of them with a weak field or none", weak, 0.5),
        Claim('cases not helped of which it says "helped"', share(others, "helped"), 0.05, "at most"),
        Claim('helped cases of which it says "made worse"', share(helped, "made worse"), 0.05, "at most"),
        Claim('helped cases of which it says "helped"', share(helped, "helped"), 0.8),
        Claim('harmed cases of which it says "helped"', share(harmed, "helped"), 0.05, "at most"),
    ]


def run(settings: Settings) -> Result:
    """Judge all cases and count."""
    count = settings.datasets or (N_QUICK if settings.quick else N_CASES)
    with parallel_config(backend="loky", inner_max_num_threads=1):
        cases = list(Parallel(n_jobs=settings.jobs)(delayed(judge)(i) for i in range(count)))
    rows = [row for data in (*FAMILIES, "all") for row in confusion(cases, data)]
    spent = sorted(float(str(c["cpu_s"])) for c in cases)
    notes = [f"CPU seconds a verdict: median {spent[len(spent) // 2]:.2f}, at most {spent[-1]:.2f}."]
    missed = [c for c in cases if c["truth"] == "made worse" and c["verdict"] == "no change"]
    large = sum(float(str(c["accuracy"])) - float(str(c["accuracy_after"])) > LARGE for c in missed)
    notes.append(
        f"Harm that it calls no change: {len(missed)} cases, {large} of which lose more than {LARGE:.0%} labels."
    )
    wrong = [c for c in cases if c["truth"] != "helped" and c["verdict"] == "helped"]
    notes += [
        f'case {c["case"]} ({c["data"]}): truth "{c["truth"]}", says "helped"; accuracy {c["accuracy"]:.3f} to '
        f"{c['accuracy_after']:.3f}, field error {c['field_error']:.3f} to {c['field_error_after']:.3f}"
        for c in wrong
    ]
    return Result(rows, claims(cases), notes, COLUMNS)
