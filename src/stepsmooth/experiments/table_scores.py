"""How the table is filled: every method with every setting on every image, then one rule for all to choose settings.

*Post-fitting* is the paper's rule: of a method's settings the one that scores best on the image itself, knowing the
answer. *Held out* is what it recommends for practice: the setting that scores best on the other images. What scores is
the share of right labels among classes that can be told apart: against equal intensities a wrong field could win.
"""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from threadpoolctl import threadpool_limits

from stepsmooth.experiments.heads import HeadCase
from stepsmooth.experiments.outcome import Row
from stepsmooth.experiments.resident import peak_of
from stepsmooth.experiments.running import attempt, mean_of, number, where
from stepsmooth.experiments.table_methods import METHODS, Answer, Method, Setting, words

RULES = ("post-fitting", "held out")
FIGURES = ("accuracy", "distinct", "with_background", "level_deviation", "field_rmse", "seconds")


def method_named(name: str) -> Method:
    """Return a method.

    Examples
    --------
    >>> method_named("AltMin").name
    'AltMin'
    """
    return next(method for method in METHODS if method.name == name)


def score(case: HeadCase, name: str, setting: Setting) -> Row:
    """Run one method with one setting on one image; a failure becomes the row's `error`."""
    keys: Row = {
        "classes": case.classes,
        "sequences": case.sequences,
        "field": case.field,
        "seed": case.seed,
        "method": name,
        "setting": words(setting),
    }
    return attempt(keys, lambda: _figures(case, method_named(name), setting))


def _figures(case: HeadCase, method: Method, setting: Setting) -> Row:
    from stepsmooth.metrics import field_rmse, label_accuracy, level_deviation

    scan = case.scan()
    truth, inside = case.true_labels(scan), scan.mask
    with threadpool_limits(1):  # one thread for every method alike
        start = time.perf_counter()
        answer: Answer = method.fit(scan, setting)
        seconds = time.perf_counter() - start
    smooth = np.zeros(inside.shape) if answer.smooth is None else np.asarray(answer.smooth, dtype=np.float64)
    same = len(answer.levels) == len(scan.levels)
    matched = {"labels_true": scan.labels[inside], "labels": answer.labels[inside]} if same else {}
    return {
        "accuracy": label_accuracy(truth[inside], answer.labels[inside]),
        "distinct": label_accuracy(scan.labels[inside], answer.labels[inside]),
        "with_background": label_accuracy(truth, answer.labels),
        "level_deviation": level_deviation(scan.levels, answer.levels, **matched) if same else float("inf"),
        "field_rmse": field_rmse(scan.smooth[inside], smooth[inside]),
        "seconds": seconds,
        "converged": answer.converged,
    }


def choose(raw: list[Row]) -> list[Row]:
    """Choose a setting for each method and image by each rule; a method without any answer keeps its reason.

    Examples
    --------
    >>> keys = {"classes": 4, "sequences": 1, "field": "coil", "method": "AltMin"}
    >>> raw = [
    ...     keys | {"seed": seed, "setting": name, "distinct": a}
    ...     for seed, name, a in ((0, "one", 0.9), (0, "two", 0.8), (1, "one", 0.5), (1, "two", 0.7))
    ... ]
    >>> [(r["rule"], r["seed"], r["setting"]) for r in choose(raw)]
    [('post-fitting', 0, 'one'), ('held out', 0, 'two'), ('post-fitting', 1, 'two'), ('held out', 1, 'one')]
    """
    out: list[Row] = []
    keys = ("classes", "sequences", "method")
    for cell in dict.fromkeys(tuple(row[k] for k in keys) for row in raw):
        own = where(raw, **dict(zip(keys, cell)))
        for image in dict.fromkeys((row["field"], row["seed"]) for row in own):
            here = [row for row in own if (row["field"], row["seed"]) == image]
            answered = [row for row in here if "error" not in row]
            if not answered:
                out += [{**here[0], "rule": rule, "setting": "none gave an answer"} for rule in RULES]
                continue
            best = max(answered, key=lambda row: number(row, "distinct"))
            out.append({**best, "rule": RULES[0]})
            others = [row for row in own if (row["field"], row["seed"]) != image]
            if others:
                scores = {str(r["setting"]): mean_of(where(others, setting=r["setting"]), "distinct") for r in answered}
                chosen = max(answered, key=lambda row: np.nan_to_num(scores[str(row["setting"])], nan=-1.0))
                out.append({**chosen, "rule": RULES[1]})
    return out


def summarise(chosen: list[Row]) -> list[Row]:
    """Average over images: one row for each case, method and rule, with the spread of the accuracy."""
    out: list[Row] = []
    keys = ("classes", "sequences", "method", "rule")
    for cell in dict.fromkeys(tuple(row[k] for k in keys) for row in chosen):
        own = where(chosen, **dict(zip(keys, cell)))
        good = [row for row in own if "error" not in row]
        row: Row = {**dict(zip(keys, cell)), "images": len(own)}
        if good:
            row |= {figure: mean_of(good, figure) for figure in FIGURES}
            row["spread"] = float(np.std([number(r, "accuracy") for r in good]))
            row["settings"] = "; ".join(dict.fromkeys(str(r["setting"]) for r in good))
        if len(good) < len(own):
            failed = next(r for r in own if "error" in r)
            row["error"] = f"{len(own) - len(good)} of {len(own)} images failed, first: {failed['error']}"
        out.append(row)
    return out


def peak_memory(case: HeadCase, name: str, setting: Setting) -> float | None:
    """Return the megabytes that a fit needs at its peak beyond imports and data, in a process of its own.

    None where the system does not tell, and where the method fails.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        return alone.submit(_peak, case, name, setting).result()


def _peak(case: HeadCase, name: str, setting: Setting) -> float | None:
    method = method_named(name)
    tiny = HeadCase(case.classes, case.sequences, step=6)
    try:
        method.fit(tiny.scan(), setting)  # what it imports and compiles is not counted
        scan = case.scan()
        return peak_of(lambda: method.fit(scan, setting))
    except Exception:  # the score of the same fit says why
        return None
