"""Common checks: scikit-learn's, on its oldest supported and its newest release, and our own at every entry point."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .promise import Profile, Promise

ROOT = Path(__file__).resolve().parent.parent
FEWEST = 25
# Runs in an environment of its own, where nothing of this one can be imported.
SCRIPT = """
import collections, importlib.util, json, sys, warnings
import sklearn
from sklearn.utils.estimator_checks import check_estimator
spec = importlib.util.spec_from_file_location("cases", sys.argv[1])
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
found, failed, skipped = collections.Counter(), [], set()
for estimator in cases.ESTIMATORS:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, expected_failed_checks={}, on_skip=None, on_fail=None)
    found.update(result["status"] for result in results)
    failed += [f"{estimator}: {r['check_name']}: {r['exception']}" for r in results if r["status"] == "failed"]
    skipped |= {f"{r['check_name']} ({r['exception']})" for r in results if r["status"] == "skipped"}
print(json.dumps({"version": sklearn.__version__, "found": found, "failed": failed, "skipped": sorted(skipped)}))
"""


def run(profile: Profile) -> list[Promise]:
    """Run both sets of checks."""
    with ThreadPoolExecutor(profile.jobs) as pool:
        others = [] if profile.quick else [f"=={oldest()}.0", ""]
        theirs = list(pool.map(lambda which: on_release(which, profile), others))
        return [*theirs, ours(profile)]


def oldest() -> str:
    """Return the oldest release of scikit-learn that pyproject.toml allows."""
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return next(found[1] for need in needs if (found := re.match(r"scikit-learn>=([\d.]+)", need)))


def on_release(which: str, profile: Profile) -> Promise:
    """Install stepsmooth with a release of scikit-learn into a fresh environment, and run its checks there."""
    name = "oldest" if which else "newest"
    text = f"scikit-learn's checks of StepSmooth pass on its {name} release, with none expected to fail"
    folder = (profile.out / f"sklearn_{name}").resolve()
    venv.create(folder, clear=True, with_pip=True)
    python, log = folder / "bin" / "python", profile.out / f"sklearn_{name}.log"
    wanted = [str(ROOT), f"scikit-learn{which}", "pytest", "pandas"]
    with log.open("w") as said:
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", *wanted]
        if subprocess.run(install, stdout=said, stderr=subprocess.STDOUT).returncode:
            return Promise(text, False, f"pip failed, see {log}")
        cases = ROOT / "tests" / "estimators" / "test_sklearn_checks.py"
        done = subprocess.run(
            [python, "-c", SCRIPT, cases], cwd=folder, stdout=subprocess.PIPE, stderr=said, encoding="utf-8"
        )
    if done.returncode:
        return Promise(text, False, f"the checks did not run, see {log}")
    result = json.loads(done.stdout.splitlines()[-1])
    log.write_text("\n".join(["failed:", *result["failed"], "skipped by scikit-learn:", *result["skipped"]]) + "\n")
    found = result["found"]
    count = ", ".join(f"{found[status]} {status}" for status in sorted(found))
    return Promise(text, not result["failed"] and not found.get("xfail"), f"scikit-learn {result['version']}: {count}")


def ours(profile: Profile) -> Promise:
    """Run our own checks, of which each is tried at every entry point."""
    log = profile.out / "common_checks.log"
    command = [sys.executable, "-m", "pytest", "tests/common", "-v", "-p", "no:cacheprovider", "-p", "no:randomly"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    log.write_text(done.stdout + done.stderr)
    verdicts = re.findall(r"::test_\w+\[(.+?) - (.+?)\] (PASSED|FAILED|ERROR|SKIPPED)", done.stdout)
    checks, doors = {check for check, _, _ in verdicts}, {door for _, door, _ in verdicts}
    passed = sum(verdict == "PASSED" for _, _, verdict in verdicts)
    return Promise(
        "our own checks pass with equal answers at every entry point",
        done.returncode == 0 and len(checks) >= FEWEST and passed == len(verdicts),
        f"{len(checks)} checks, {passed} of {len(verdicts)} passed at {', '.join(sorted(doors))}",
    )
