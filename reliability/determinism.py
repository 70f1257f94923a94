"""Determinism: the same bits whatever the number of threads, the repetition and the process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .fits import FITS
from .promise import Profile, Promise

ROOT = Path(__file__).resolve().parent.parent
THREADS = (1, 2, 4)
REPEATS = 20
# Processes besides those of the threads, each with a hash seed of its own.
MORE_PROCESSES = 2
POOLS = ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def run(profile: Profile) -> list[Promise]:
    """Compare the fingerprints of every fit over threads, repeats and processes."""
    repeats = 2 if profile.quick else REPEATS
    runs = [(threads, repeats) for threads in THREADS] + [(2, 1)] * MORE_PROCESSES
    jobs = [(name, *run, seed) for name in FITS for seed, run in enumerate(runs, start=1)]
    with ThreadPoolExecutor(profile.jobs) as pool:
        found = list(pool.map(lambda job: fingerprints([job[0]], *job[1:]).get(job[0], []), jobs))
    promises = []
    for name in FITS:
        prints = [p for job, ps in zip(jobs, found) if job[0] == name for p in ps]
        distinct = len(set(prints))
        promises.append(
            Promise(
                f"{name}: the same bits for {', '.join(map(str, THREADS))} threads, {repeats} repeats each, "
                f"and {len(runs)} processes",
                distinct == 1 and len(prints) == sum(count for _, count in runs),
                f"{len(prints)} results, {distinct} distinct",
            )
        )
    return promises


def fingerprints(names: list[str], threads: int, repeats: int, seed: int) -> dict[str, list[str]]:
    """Return the fingerprints of repeated fits in a process of its own; none if it failed."""
    environment = os.environ | dict.fromkeys(POOLS, str(threads)) | {"PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-W", "ignore", "-m", "reliability.fits", str(repeats), *names]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return {}
    return dict(json.loads(done.stdout.splitlines()[-1]))
