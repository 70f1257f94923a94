"""Tests of the tests: they pass in any order, and none takes long."""

from __future__ import annotations

import os
import re
import sys

from .coverage import FEW, logged, plugins
from .promise import Profile, Promise

LONGEST = 10.0  # seconds of a test; what is compiled before the first one does not count


def run(profile: Profile) -> list[Promise]:
    """Run the tests in a random order, files and tests within them, and look for long ones."""
    log = profile.out.resolve() / "order.log"
    environment = {**os.environ, "STEPSMOOTH_SHUFFLE": str(profile.seed)}
    command = [sys.executable, "-m", "pytest", "-q", f"--durations-min={LONGEST}", "--durations=0"]
    tests = FEW if profile.quick else ("tests", "src")
    code = logged([*command, *plugins(profile), *tests], log, environment)
    text = log.read_text()
    last = text.strip().splitlines()[-1].strip("= ")
    long = re.findall(r"^([\d.]+)s call\s+(\S+)", text, flags=re.MULTILINE)
    slow = [f"{name} {seconds} s" for seconds, name in long]
    return [
        Promise("tests pass in a random order", code == 0, f"{last} (order {profile.seed})"),
        Promise("no test takes over 10 s", not slow, f"{len(slow)} do{': ' + ', '.join(slow) if slow else ''}"),
    ]
