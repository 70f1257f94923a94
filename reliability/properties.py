"""Properties that hold for all data: hypothesis looks for a case that breaks them."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from .promise import Profile, Promise

TESTS = Path(__file__).resolve().parent.parent / "tests"
FEWEST = 10_000
# Each idea, and the tests that try it: those of tests/properties, and those that stand beside what they test.
IDEAS = {
    "the objective never increases": ["properties/test_objective.py", "altmin/test_alternation.py"],
    "a signal permuted, shifted, scaled, turned over or mirrored, or its channels swapped, moves the answer alike": [
        "properties/test_moved_signals.py"
    ],
    "an image mirrored, transposed, scaled or shifted, or its channels swapped, moves the answer alike": [
        "properties/test_moved_images.py"
    ],
    "fast equals dense": [
        "properties/test_fast_is_dense.py",
        "line/test_equals_dense.py",
        "points/test_nystroem.py",
        "topology/test_lattice.py",
    ],
    "finite in, finite out, labels in the order of the levels": ["properties/test_any_numbers.py"],
    "a refit gives the same bits": ["properties/test_refits.py"],
    "a weight of 2 is the point twice, of 0 an absent one": ["properties/test_weights.py"],
}


class Outcome(NamedTuple):
    """Cases that were run for an idea, and the tests that failed."""

    cases: int
    failed: list[str]


def run(profile: Profile) -> list[Promise]:
    """Run every idea's tests under the long profile, and count their cases."""
    with ThreadPoolExecutor(profile.jobs) as pool:
        outcomes = list(pool.map(lambda idea: outcome(idea, profile), range(len(IDEAS))))
    promises = [
        Promise(idea, not found.failed and found.cases > 0, count(found)) for idea, found in zip(IDEAS, outcomes)
    ]
    total = sum(found.cases for found in outcomes)
    fewest = profile.cases(FEWEST)
    return [*promises, Promise(f"at least {fewest:,} cases in all", total >= fewest, f"{total:,} cases")]


def outcome(index: int, profile: Profile) -> Outcome:
    """Return what became of one idea; what pytest said is left in the folder of the profile."""
    name = f"properties_{index + 1}"
    counts, log = (profile.out / f"{name}.{ending}" for ending in ("json", "log"))
    counts.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "reliability.counting", f"--count-cases={counts.resolve()}"]
    command += [f"--hypothesis-profile={'quick' if profile.quick else 'long'}", f"--hypothesis-seed={profile.seed}"]
    command += ["-p", "no:cacheprovider", *(str(TESTS / path) for path in list(IDEAS.values())[index])]
    with log.open("w") as said:
        code = subprocess.run(command, cwd=TESTS.parent, stdout=said, stderr=subprocess.STDOUT).returncode
    if not counts.exists():
        return Outcome(0, [f"pytest did not run, see {log}"])
    found = json.loads(counts.read_text())
    failed = found["failed"] or ([f"pytest ended with {code}, see {log}"] if code else [])
    return Outcome(sum(found["cases"].values()), failed)


def count(found: Outcome) -> str:
    """Say how many cases there were, and which tests failed."""
    if found.failed:
        return f"{len(found.failed)} tests failed, after {found.cases:,} cases: {', '.join(found.failed[:3])}"
    return f"0 of {found.cases:,} cases broke it"
