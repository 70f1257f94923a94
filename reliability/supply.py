"""Supply chain: nothing is unpickled, fetched or left unescaped, and what is built is the same everywhere."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .promise import Profile, Promise
from .releases import build_twice, interpreters, runs_in_empty_environment
from .sources import findings, python_files, templates

ROOT = Path(__file__).parents[1]
HOSTILE = "<script>alert(1)<!--"


def run(profile: Profile) -> list[Promise]:
    """Read the sources, watch a run, audit what it needs, build it, and install it where nothing else is."""
    return [_sources(), _quiet(), _escaped(), _audited(profile), *_released(profile)]


def _sources() -> Promise:
    found = findings()
    count = f"{len(found)} places in {len(python_files())} modules and {len(templates())} templates"
    text = "No pickle, no eval, no network module, np.load only with allow_pickle=False, pages escaped"
    return Promise(text, not found, count + "".join(f"; {place}" for place in found))


def _quiet() -> Promise:
    done = watched()
    text = "Importing, reading files, fitting and reporting open no connection, and reading unpickles nothing"
    return Promise(
        text, done["events"] == [], f"{len(done['events'])} events in {done['steps']} steps {done['events'][:3]}"
    )


def _escaped() -> Promise:
    pages = hostile_pages()
    raw = [name for name, page in pages.items() if HOSTILE in page]
    return Promise(
        "Names of files and columns come out escaped in reports", not raw, f"{len(raw)} of {len(pages)} pages raw"
    )


def watched(*, reports: bool = True) -> dict[str, list[str] | int]:
    """Return the events of the network, and of unpickling while files are read, that a whole run raises."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _WATCH, *(["reports"] if reports else [])]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=_environment())
    if done.returncode:
        raise RuntimeError(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def hostile_pages() -> dict[str, str]:
    """Return the reports of a signal and an image whose names are pieces of a page."""
    import nibabel
    import numpy as np

    pages = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        rows = "".join(f"{i},{i % 7 // 4 + 0.01 * (i % 3)},{i % 5}\n" for i in range(60))
        (folder / f"{HOSTILE}.csv").write_text(f"time,{HOSTILE}y,{HOSTILE}z\n{rows}")
        values = (1.0 + np.indices((12, 12, 1)).sum(axis=0) // 4 % 2) * 100
        nibabel.save(nibabel.Nifti1Image(values.astype(np.int16), np.eye(4)), folder / f"{HOSTILE}.nii.gz")
        signal = ["signal", f"{HOSTILE}.csv", "--y", f"{HOSTILE}y", "--y", f"{HOSTILE}z", "--levels", "2"]
        for name, arguments in (("signal", signal), ("image", ["image", f"{HOSTILE}.nii.gz", "--levels", "2"])):
            command = [sys.executable, "-m", "stepsmooth.cli", *arguments, "--quiet", "--out", name]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=_environment())
            if done.returncode not in (0, 5):
                raise RuntimeError(done.stderr)
            pages[name] = (folder / name / "report.html").read_text(encoding="utf-8")
    return pages


def _audited(profile: Profile) -> Promise:
    """Ask for known weaknesses of what is installed; where that cannot be asked, say so."""
    text = "No known weakness in what stepsmooth needs (pip-audit)"
    if importlib.util.find_spec("pip_audit") is None:
        return Promise(text, False, "NOT RUN: pip-audit is not installed (pip install 'stepsmooth[supply]')")
    command = [sys.executable, "-m", "pip_audit", "--local", "--progress-spinner", "off", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        asked = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        last = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        return Promise(text, True, f"NOT RUN: the audit service cannot be reached ({last[:120]})")
    (profile.out / "audit.json").write_text(done.stdout)
    known = [entry for entry in asked if "skip_reason" not in entry]
    weak = [f"{entry['name']} {entry['version']}" for entry in known if entry["vulns"]]
    if not known:
        return Promise(text, True, f"NOT RUN: the audit service answers for none of {len(asked)} packages")
    return Promise(text, not weak, f"{len(weak)} of {len(known)} packages ({len(asked) - len(known)} not known) {weak}")


def _released(profile: Profile) -> list[Promise]:
    text = "Two builds in two places are equal to the byte, and the wheel is the same from the tree and from the sdist"
    if importlib.util.find_spec("build") is None:
        return [Promise(text, False, "NOT RUN: build is not installed (pip install 'stepsmooth[supply]')")]
    built = build_twice(ROOT, profile.out / "build")
    out = [Promise(text, built.equal, f"{built.words}")]
    wheel = next(path for path in built.files if path.suffix == ".whl")
    sdist = next(path for path in built.files if path.name.endswith(".tar.gz"))
    pythons = interpreters()
    # The oldest gets both, and the newest that is here the wheel.
    oldest, *_, newest = [*pythons, *pythons]
    tried = [(oldest, wheel, True), (oldest, sdist, False), (newest, wheel, False)]
    results = {}
    for version, package, demo in tried[:1] if profile.quick else tried:
        name = f"{'wheel' if package is wheel else 'sdist'} on {version}"
        results.setdefault(name, runs_in_empty_environment(pythons[version], package, demo=demo))
    failed = [f"{name}: {trouble}" for name, trouble in results.items() if trouble]
    count = f"{len(results) - len(failed)} of {len(results)} ({', '.join(results)})" + "".join(f"; {f}" for f in failed)
    count += "" if len(pythons) > 1 else "; no newer Python was found here"
    text = "Installs in an empty environment, and fits, reports and demonstrates there"
    return [*out, Promise(text, not failed, count)]


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT / "src"), "PATH": os.environ.get("PATH", os.defpath)}


_WATCH = """
import json, sys
events, reading = [], [False]
NETWORK = [f"socket.{what}" for what in ("connect", "bind", "getaddrinfo", "gethostbyname", "sendto")]
def hook(name, arguments):
    if name in NETWORK or (reading[0] and name == "pickle.find_class"):
        events.append(f"{name} {arguments}")
sys.addaudithook(hook)
import numpy as np
import stepsmooth
from pathlib import Path
from stepsmooth.files import lay_out, read_image_file, read_signal
import nibabel, tifffile
from PIL import Image
values = (np.indices((12, 12, 1)).sum(axis=0) // 4 % 2 + 1.0) * 100
nibabel.save(nibabel.Nifti1Image(values.astype(np.int16), np.eye(4)), "a.nii.gz")
tifffile.imwrite("a.tif", values[..., 0].astype(np.uint16))
Image.fromarray(values[..., 0].astype(np.uint8)).save("a.png")
np.save("a.npy", values)
np.save("object.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
y = np.tile([0.0, 0.1, 5.0, 5.1], 12)
Path("a.csv").write_text("x,y\\n" + "".join(f"{i},{v}\\n" for i, v in enumerate(y)))
steps, reading[0] = 2, True
for name in ("a.nii.gz", "a.tif", "a.png", "a.npy", "object.npy", "a.csv"):
    try:
        read_signal(Path(name)) if name == "a.csv" else lay_out([read_image_file(Path(name))])
    except ValueError:
        assert name == "object.npy"
    steps += 1
reading[0] = False
m = stepsmooth.decompose(y, tau=1e6, solver="altmin")
g = stepsmooth.GridStepSmooth(2, solver="altmin", random_state=0).fit(values[..., 0])
from stepsmooth import report
for name, fitted, more in () if len(sys.argv) < 2 else (("s.html", m, {}), ("i.html", g, {"image": values[..., 0]})):
    report.write(fitted, Path(name), title="a", **more)
print(json.dumps({"events": events, "steps": steps + 4}))
"""
