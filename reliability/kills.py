"""Kills: whatever ends a run, its results are there whole or not at all, and the next run completes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .promise import Profile, Promise

KILLS, SIGNALS, DISKS = 200, 60, 40


def run(profile: Profile) -> list[Promise]:
    """Kill, interrupt and starve runs of both commands."""
    counts = {"kills": profile.cases(KILLS), "signals": profile.cases(SIGNALS) + 1, "disks": profile.cases(DISKS)}
    return kill(profile, counts, ["signal", "image"])


def kill(profile: Profile, counts: dict[str, int], commands: list[str]) -> list[Promise]:
    """Kill, interrupt and starve runs, in processes of their own: each has one thread, so that it can be copied."""
    out = (profile.out / "kills").absolute()
    out.mkdir(parents=True, exist_ok=True)
    alone = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    alone["NUMBA_THREADING_LAYER"] = "workqueue"  # the one that survives a copy of its process

    def share(job: int) -> subprocess.CompletedProcess[str]:
        # Of seven, three jobs have three, two and two.
        wanted: dict[str, object] = {name: (count + job) // profile.jobs for name, count in counts.items()}
        wanted |= {"commands": commands, "seed": profile.seed + 1000 * job, "out": str(out / str(job))}
        command = [sys.executable, "-m", "reliability.killing", json.dumps(wanted)]
        with open(out / f"log_{job}.txt", "w") as log:
            return subprocess.run(
                command,
                cwd=Path(__file__).parents[1],
                env=os.environ | alone,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )

    with ThreadPoolExecutor(profile.jobs) as pool:
        done = list(pool.map(share, range(profile.jobs)))
    codes = [part.returncode for part in done if part.returncode]
    if codes:
        return [Promise("Runs can be killed", False, f"the check itself ended with {codes}, see {out}")]
    found = _together([json.loads(part.stdout) for part in done])
    texts = {
        "kills": "After kill -9, every file is absent, the old one or the new one, whole, and the next run completes",
        "signals": "After SIGINT and SIGTERM, one sentence, exit code 130 or 143, and nothing half-written",
        "disks": "On a full disk, one sentence, exit code 4, and the old result as it was",
    }
    return [Promise(texts[name], not what["broken"], _words(what)) for name, what in found.items()]


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Add up what several jobs have counted."""
    out = parts[0]
    for part in parts[1:]:
        for name, what in part.items():
            out[name]["count"] += what["count"]
            out[name]["broken"] += what["broken"]
            out[name]["stages"] = Counter(out[name]["stages"]) + Counter(what["stages"])
    return out


def _words(what: dict[str, Any]) -> str:
    told = [f"{len(what['broken'])} broken of {what['count']} {what['of']}"]
    told += [f"{count} {stage}" for stage, count in what["stages"].items()]
    return ", ".join(told) + "".join(f"; {line}" for line in what["broken"][:5])
