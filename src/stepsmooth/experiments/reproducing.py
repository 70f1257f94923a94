"""Run experiments one after the other, keep what they find, and show it all on one page."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from stepsmooth.experiments.catalogue import Experiment, named
from stepsmooth.experiments.outcome import Settings
from stepsmooth.experiments.page import write_claims, write_page
from stepsmooth.experiments.running import Progress, Runner
from stepsmooth.experiments.storing import RECORD, finished, store, stored

State = Literal["run", "kept", "failed"]


@dataclass(frozen=True)
class Done:
    """What became of one experiment.

    Attributes
    ----------
    experiment : Experiment
    state : {"run", "kept", "failed"}
        Run now, finished before and kept, or failed.
    seconds : float
    error : str
        Why it failed, in one line.
    """

    experiment: Experiment
    state: State
    seconds: float = 0.0
    error: str = ""


def reproduce(
    names: Sequence[str],
    folder: Path,
    settings: Settings,
    *,
    jobs: int = 1,
    again: bool = False,
    progress: Progress | None = None,
    begun: Callable[[Experiment], object] | None = None,
    ended: Callable[[Done], object] | None = None,
) -> list[Done]:
    """Run experiments by name; those that are finished with the same settings are kept.

    Parameters
    ----------
    names : sequence of str
        Names or numbers; "all" or nothing is all of them.
    folder : pathlib.Path
        Where results go: a folder for each experiment, and ``index.html`` and ``claims.md`` for all.
    settings : Settings
    jobs : int, default 1
        Processes.
    again : bool, default False
        Run also what is finished.
    progress : Progress, optional
    begun, ended : callables, optional
        Told of each experiment as it begins and ends.

    Returns
    -------
    list of Done
        One for each experiment asked for. A failure of one does not keep the others from running.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = reproduce(["signals"], Path(folder), Settings(quick=True))
    ...     second = reproduce(["signals"], Path(folder), Settings(quick=True))
    ...     page = (Path(folder) / "index.html").exists()
    >>> first[0].state, second[0].state, page
    ('run', 'kept', True)
    """
    out: list[Done] = []
    chosen = named(list(names))
    folder.mkdir(parents=True, exist_ok=True)
    with Runner(settings, jobs=jobs, progress=progress) as runner:
        for experiment in chosen:
            if begun is not None:
                begun(experiment)
            done = _one(experiment, folder, settings, runner, again)
            out.append(done)
            # After each, so that a run that is cut short has a page too.
            failures = {d.experiment.name: d.error for d in out if d.state == "failed"}
            write_page(folder, settings, failures)
            write_claims(folder)
            if ended is not None:
                ended(done)
    return out


def _one(experiment: Experiment, folder: Path, settings: Settings, runner: Runner, again: bool) -> Done:
    if not again and finished(experiment.name, settings, folder):
        record = stored(experiment.name, folder) or {}
        return Done(experiment, "kept", float(record.get("seconds", 0.0)))
    (folder / experiment.name / RECORD).unlink(missing_ok=True)
    start = time.perf_counter()
    try:
        outcome = experiment.run(runner)
        seconds = time.perf_counter() - start
        store(outcome, experiment, settings, folder, seconds)
    except Exception as error:
        place = folder / experiment.name
        place.mkdir(parents=True, exist_ok=True)
        (place / "error.txt").write_text(traceback.format_exc(), encoding="utf-8")
        words = f"{type(error).__name__}: {error}".splitlines()[0]
        return Done(experiment, "failed", time.perf_counter() - start, words)
    (folder / experiment.name / "error.txt").unlink(missing_ok=True)
    return Done(experiment, "run", seconds)
