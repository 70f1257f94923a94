"""Results on disk: figures, numbers and a JSON record, each written so that no reader ever sees half of it.

An experiment is finished when its record is there. It is written last, and taken away first when the experiment is run
again, so that a run that was cut short is not taken for a finished one.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from stepsmooth.experiments.catalogue import Experiment
from stepsmooth.experiments.outcome import Outcome, Row, Settings

RECORD = "result.json"
PACKAGES = (
    "stepsmooth", "numpy", "scipy", "scikit-learn", "numba", "matplotlib",
    "SimpleITK", "lapgm", "csaps", "hmmlearn", "scikit-image",
)  # fmt: skip


def asked(settings: Settings) -> Row:
    """Return what decides whether a stored result answers a request.

    Examples
    --------
    >>> asked(Settings(quick=True))
    {'quick': True, 'seeds': None, 'data': False}
    """
    return {"quick": settings.quick, "seeds": settings.seeds, "data": settings.data is not None}


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that figures may depend on.

    Examples
    --------
    >>> "numpy" in versions()
    True
    """
    out = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            out[name] = version(name)
        except PackageNotFoundError:
            out[name] = "not installed"
    return out


def write_atomically(path: Path, text: str) -> Path:
    """Write a text under a temporary name beside its target, then move it there in one step.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "a.txt", "words").read_text()
    'words'
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        temporary.write_text(text, encoding="utf-8", newline="")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def as_csv(rows: list[Row]) -> str:
    """Write rows as CSV; columns in the order in which they first appear.

    Examples
    --------
    >>> print(as_csv([{"n": 1}, {"n": 2, "error": "a, b"}]).replace(chr(13), ""), end="")
    n,error
    1,
    2,"a, b"
    """
    columns = list(dict.fromkeys(column for row in rows for column in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def store(outcome: Outcome, experiment: Experiment, settings: Settings, folder: Path, seconds: float) -> Path:
    """Write everything that an experiment found, its record last.

    Parameters
    ----------
    outcome : Outcome
    experiment : Experiment
    settings : Settings
    folder : pathlib.Path
        Of all experiments; this one's becomes a folder in it.
    seconds : float
        How long it took.

    Returns
    -------
    pathlib.Path
        The record.
    """
    import matplotlib.pyplot as plt

    from stepsmooth.report import save_figure

    place = folder / experiment.name
    place.mkdir(parents=True, exist_ok=True)
    (place / RECORD).unlink(missing_ok=True)
    for name, figure in outcome.figures.items():
        save_figure(figure, place / f"{name}.png", dpi=150)
        save_figure(figure, place / f"{name}.svg")
        plt.close(figure)
    for name, rows in outcome.tables.items():
        write_atomically(place / f"{name}.csv", as_csv(rows))
    for name, write in outcome.pages.items():
        write(place / f"{name}.html")
    record = {
        "name": experiment.name,
        "item": experiment.item,
        "title": experiment.title,
        "source": experiment.source,
        "asked": asked(settings),
        "settings": outcome.settings,
        "figures": {name: outcome.captions.get(name, "") for name in outcome.figures},
        "tables": list(outcome.tables),
        "shown": {
            name: {"columns": list(columns), "rows": [[row.get(c) for c in columns] for row in outcome.tables[name]]}
            for name, columns in outcome.shown.items()
        },
        "pages": list(outcome.pages),
        "claims": [asdict(claim) for claim in outcome.claims],
        "choices": outcome.choices,
        "missing": outcome.missing,
        "versions": versions(),
        "seconds": round(seconds, 3),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return write_atomically(place / RECORD, json.dumps(plain(record), indent=1, allow_nan=False))


def plain(value: Any) -> Any:
    """Turn arrays, tuples and numbers that JSON has no word for into what it has.

    Examples
    --------
    >>> plain({"a": (1.0, float("nan"))})
    {'a': [1.0, None]}
    """
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (bool, int, float, str)) or value is None else str(value)


def stored(name: str, folder: Path) -> dict[str, Any] | None:
    """Return the record of an experiment, or None where it is not finished (or not readable).

    Examples
    --------
    >>> stored("graphs", Path("no such folder")) is None
    True
    """
    try:
        record = json.loads((folder / name / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def finished(name: str, settings: Settings, folder: Path) -> bool:
    """Whether an experiment was run with these settings by this version.

    Examples
    --------
    >>> finished("graphs", Settings(), Path("no such folder"))
    False
    """
    record = stored(name, folder)
    if record is None:
        return False
    same = record.get("versions", {}).get("stepsmooth") == versions()["stepsmooth"]
    return same and record.get("asked") == asked(settings)
