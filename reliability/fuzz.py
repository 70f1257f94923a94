"""Hostile files: whatever bytes come in, an answer or one sentence comes out, and memory is looked at first."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from .promise import Profile, Promise

# Executions of each door in the long run, more than a million in all; the slow ones first: doors run side by side.
SHARES = {
    "tiff": 50_000,
    "nii": 50_000,
    "nii_gz": 50_000,
    "record": 230_000,
    "table": 230_000,
    "png": 170_000,
    "npy": 230_000,
}


class Trial(NamedTuple):
    """What a fuzzer did at one door."""

    name: str
    executions: int
    broken: bool
    wanted: int


def run(profile: Profile) -> list[Promise]:
    """Let a fuzzer that is guided by coverage try every door, then bring the bombs."""
    from .doors.bombs import BOMBS, refused

    promises = []
    text = "Damaged and forged files are read, or refused in one printable sentence that names them"
    if importlib.util.find_spec("atheris") is None:
        promises.append(Promise(text, False, "NOT RUN: atheris is not installed (pip install 'stepsmooth[fuzz]')"))
    else:
        with ThreadPoolExecutor(profile.jobs) as pool:
            trials = list(pool.map(lambda name: fuzz(profile, name), SHARES))
        total, broken = sum(t.executions for t in trials), [t.name for t in trials if t.broken]
        each = ", ".join(f"{t.name.replace('_', '.')} {t.executions:,}" for t in trials)
        short = [t.name for t in trials if t.executions < t.wanted]
        count = f"{len(broken)} failures in {total:,} executions guided by coverage ({each})"
        if broken:
            count += f"; {', '.join(broken)} broke, see {profile.out / 'fuzz'}"
        promises.append(Promise(text, not broken and not short, count))
    outcomes = {name: refused(name) for name in BOMBS}
    most = max(growth for _, growth in outcomes.values())
    kept = [name for name, (sentence, growth) in outcomes.items() if sentence is not None and growth < 256]
    count = f"{len(kept)} of {len(outcomes)} refused, with at most {most:.0f} MB more memory"
    count += "".join(f"; not {name}" for name in outcomes if name not in kept)
    promises.append(
        Promise("Headers that claim terabytes, and bombs, are refused first", len(kept) == len(outcomes), count)
    )
    return promises


def fuzz(profile: Profile, name: str, *, executions: int | None = None, ours: bool = False) -> Trial:
    """Try one door in a process of its own, and count what the fuzzer counted.

    Parameters
    ----------
    profile : Profile
    name : str
        Of the door.
    executions : int, optional
        Instead of the share of the door.
    ours : bool
        Be guided by our own lines alone: marks in those of the libraries take long to make.
    """
    wanted = profile.cases(SHARES[name]) if executions is None else executions
    out = (profile.out / "fuzz").absolute()
    out.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "reliability.doors", name, f"--runs={wanted}", f"--seed={profile.seed}"]
    command += [f"--out={out}", *(["--ours"] if ours else [])]
    log = out / f"{name}.log"
    with open(log, "wb") as handle:
        done = subprocess.run(
            command, cwd=Path(__file__).parents[1], env=dict(os.environ), stdout=handle, stderr=subprocess.STDOUT
        )
    told = re.search(r"number_of_executed_units:\s+(\d+)", log.read_text(errors="replace"))
    return Trial(name, int(told[1]) if told else 0, done.returncode != 0, wanted)
