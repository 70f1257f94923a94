"""Images and volumes under a bias field: labels, field and levels, beside N4, mixtures, LapGM and csaps.

Every method sees the same images; seeds are the benchmark's own. Labels are scored within the mask where it is told,
else everywhere, air being a class. `--case` runs one case, `--method` methods by a part of their name.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from . import fresh
from .harness import Row, Settings, attempt, find
from .journal import Journal
from .limit import beside_limit, speed_note
from .tables import Result
from .volume_cases import BAYES, CASES, OURS, Case, Task
from .volume_data import source
from .volume_methods import N4, Answer, Method, methods, n4, n4_patient, ours
from .volume_scores import COLUMNS, score, summary

MEMORY = ("volume-coil-3", "ten-3")  # cases of which the peak is measured, each in a process of its own


def chosen(settings: Settings) -> list[Case]:
    """The cases asked for, or a sentence that names them all."""
    known = {case.name: case for case in CASES}
    unknown = [name for name in settings.cases if name not in known]
    if unknown:
        raise ValueError(f"unknown case {unknown[0]!r}: choose from {', '.join(known)}")
    return [known[name] for name in settings.cases] or list(CASES)


def wanted(name: str, settings: Settings) -> bool:
    """Whether a method was asked for; Bayes always is, being the ceiling."""
    return name == BAYES or not settings.methods or any(part in name for part in settings.methods)


def best(task: Task, method: Method) -> Row:
    """Score a method; of several answers the one with most labels right."""
    rows = [score(task, answer) for answer in method(task)]
    if not rows:
        raise RuntimeError("no setting gave an answer")
    return max(rows, key=lambda row: float(str(row["accuracy"]))) | {"settings_tried": len(rows)}


def bayes(task: Task) -> list[Answer]:
    """The classifier that knows field, levels and noise, and looks at one voxel at a time."""
    from stepsmooth.metrics import bayes_voxels

    scan, start = task.scan, time.perf_counter()
    air = 0 if task.masked else 1
    where = scan.mask if task.masked else np.ones(scan.mask.shape, dtype=bool)
    levels = np.concatenate([np.zeros((air, *scan.levels.shape[1:])), scan.levels])
    share = np.bincount(scan.labels[where] + air, minlength=len(levels)) / where.sum()
    found = bayes_voxels(scan.image[where], scan.smooth[where], levels, scan.noise, share)
    labels = np.full(scan.mask.shape, -1, dtype=np.int64)
    labels[where] = found - air
    return [Answer(labels, scan.smooth, scan.levels, time.perf_counter() - start)]


def dataset(case: Case, number: int, settings: Settings) -> dict[str, Row]:
    """Run every method on one image."""
    task = case.make(number, settings.quick)
    if task.added is not None:
        return consistency(task, settings)
    named = methods(settings.threads, slow=case.slow)
    if task.bayes:
        named = {BAYES: bayes, **named}
    rows = {n: attempt({}, partial(best, task, m)) for n, m in named.items() if wanted(n, settings)}
    for name, row in rows.items():  # what a correction costs, by the same clusterer where it has one
        plain = rows.get(name.split(" + ")[-1], {}) if " + " in name else rows.get("kmeans raw", {})
        reference, own = plain.get("accuracy"), row.get("accuracy")
        if not task.bayes and isinstance(reference, float) and isinstance(own, float):
            row["loss"] = reference - own
        rival, spent = rows.get(f"{N4} + kmeans raw", {}).get("field_seconds"), row.get("seconds")
        if name.startswith(OURS) and isinstance(rival, float) and isinstance(spent, float):
            row["times_n4"] = rival / spent  # how many times longer N4 takes for its field alone
        if isinstance(spent, float):  # the image in; field, labels and the mask's byte out
            row |= beside_limit(row, 4.0 * task.scan.image.size + 7.0 * task.scan.mask.size, settings.threads)
        ceiling = rows.get(BAYES, {}).get("accuracy")
        if isinstance(ceiling, float) and isinstance(own, float):
            row["bayes_gap"] = own - ceiling
    return rows


def scored(case: Case, count: int, settings: Settings) -> list[dict[str, Row]]:
    """Run every method on the images of a case, one after the other: they are timed."""
    name = f"volumes {case.name} {settings.quick} {settings.threads} {settings.methods}"
    journal = Journal(settings.journal, name)
    scores = journal.read()
    if len(scores) < count and not settings.quick:
        ours(case.make(0, True))  # a small image: compiled code is made, or read, before anything is timed
    for number in range(count):
        if number not in scores:
            scores[number] = dataset(case, number, settings)
            journal.add(number, scores[number])
    return [scores[number] for number in range(count)]


def consistency(task: Task, settings: Settings) -> dict[str, Row]:
    """A scan of unknown field: what is found of a field put onto it, and how much was found without."""
    from dataclasses import replace

    scan, added = task.scan, task.added
    biased = replace(task, scan=replace(scan, image=scan.image * np.exp(added)))
    fields: dict[str, Callable[[Task], np.ndarray]] = {
        N4: lambda t: n4(t, settings.threads)[0],
        "N4, to 1e-6": lambda t: n4_patient(t, settings.threads)[0],
        OURS: lambda t: np.asarray(ours(t)[0].smooth),
    }

    def one(field: Callable[[Task], np.ndarray]) -> Row:
        start = time.perf_counter()
        native = np.asarray(field(task), dtype=np.float64)
        seconds = time.perf_counter() - start
        moved = np.asarray(field(biased), dtype=np.float64) - native
        error = (moved - added)[scan.mask]
        return {"inconsistent": float(error.std()), "field_sd": float(native[scan.mask].std()), "seconds": seconds}

    return {name: attempt({}, partial(one, field)) for name, field in fields.items() if wanted(name, settings)}


def work(case: str, method: str, threads: int, quick: bool) -> Callable[[], object]:
    """A call whose memory is measured in a fresh process."""
    task = next(c for c in CASES if c.name == case).make(0, quick)
    return partial(ours, task) if method == OURS else partial(n4, task, threads)


def peaks(case: Case, settings: Settings) -> dict[str, float | None]:
    """Peak memory of ours and of N4, beyond imports and data."""
    out: dict[str, float | None] = {}
    for method in (OURS, N4):
        asked = {"case": case.name, "method": method, "threads": settings.threads}
        try:
            measured = fresh.run(
                "benchmarks.volumes:work",
                {**asked, "quick": False},
                small={**asked, "quick": True},
                threads=settings.threads,
            )
            out[method] = measured.peak_mb
        except RuntimeError as error:
            settings.say(f"{case.name}, {method}: {error}")
    return out


def run(settings: Settings) -> Result:
    """Score every case asked for."""
    rows: list[Row] = []
    claims = []
    for case in chosen(settings):
        count = 1 if settings.quick else case.count
        settings.say(f"{case.name}: {count} images of {source(settings.quick)}")
        try:
            scores = scored(case, count, settings)
        except (FileNotFoundError, ModuleNotFoundError) as absent:  # data or a package that this machine lacks
            rows.append({"case": case.name, "method": "-", "error": str(absent)})
            continue
        rows += summary({"case": case.name}, scores)
        if case.name in MEMORY and not settings.quick and wanted(OURS, settings):
            for method, peak in peaks(case, settings).items():
                for row in rows:
                    # The field alone was measured, so N4's figure stands for whatever clusters after it.
                    measured = row["method"] == method or str(row["method"]).startswith(f"{method} + ")
                    if row["case"] == case.name and measured and peak is not None:
                        row["peak_mb"] = peak
        if not settings.quick:
            claims += case.claims(partial(find, rows), lambda method: wanted(method, settings))
    return Result(rows, claims, [f"Images of {source(settings.quick)}.", speed_note(settings.threads)], COLUMNS)
