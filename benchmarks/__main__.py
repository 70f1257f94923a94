"""Run the benchmarks, print their tables and claims, and keep them as JSON."""

from __future__ import annotations

import argparse
import os
import sys
import time
from importlib import import_module
from pathlib import Path

from rich.console import Console

from . import machine
from .harness import Settings, same_threads
from .page import write_page
from .tables import Record, Result, show, show_claims, write

# Run only when named: they take longer than the others together.
LONG = (
    "joint_accuracy",
    "joint_segments",
    "joint_count",
    "joint_scale",
    "ion_channel",
    "volumes",
    "volume_scale",
    "quality",
    "paper_table",
)
# In the order of running: one file each, with `run(settings) -> Result` and its title as first line.
NAMES = (
    "startup",
    "image_command",
    "smoothers",
    "altmin_scale",
    "kmeans",
    "scattered",
    "connectivity",
    "certificate",
    "spectral",
    "altmin_accuracy",
    *LONG,
)


def title_of(name: str) -> str:
    """First line of a benchmark's docstring."""
    return (import_module(f"benchmarks.{name}").__doc__ or name).strip().splitlines()[0].rstrip(".")


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    out = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    out.add_argument("names", nargs="*", metavar="NAME", help="which to run (default: all but the long ones)")
    out.add_argument("--quick", action="store_true", help="small sizes: checks the harness, not the claims")
    out.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="folder of the JSON files")
    out.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads for every method alike")
    out.add_argument("--repeat", type=int, default=5, help="repetitions; the best is reported")
    out.add_argument("--datasets", type=int, help="datasets a cell of the joint solver's benchmarks (default 100)")
    out.add_argument("--case", action="append", default=[], help="of volumes, joint_*: run this case (repeatable)")
    out.add_argument("--method", action="append", default=[], help="of volumes: run methods whose name contains this")
    out.add_argument("--list", action="store_true", help="name the benchmarks and stop")
    out.add_argument("--page", type=Path, help="write this page from the last records, and stop")
    return out


def run_one(name: str, settings: Settings, described: dict[str, object]) -> Record:
    """Run one benchmark; if it fails, the record says so."""
    before, start = machine.load(), time.perf_counter()
    result, error = Result([]), None
    try:
        with same_threads(settings.threads):
            result = import_module(f"benchmarks.{name}").run(settings)
    except Exception as failure:
        error = f"{type(failure).__name__}: {failure}"
    return Record(
        name=name,
        title=title_of(name),
        result=result,
        machine=described,
        settings={
            "quick": settings.quick,
            "threads": settings.threads,
            "repeat": settings.repeat,
            "only": [*settings.cases, *settings.methods],
        },
        load={"before": before, "after": machine.load()},
        seconds=time.perf_counter() - start,
        error=error,
    )


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; the exit code is 1 when a benchmark could not be run."""
    given = parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 160)
    if given.list:
        for name in NAMES:
            console.print(f"{name:16s} {title_of(name)}", markup=False, highlight=False)
        return 0
    if given.page:
        console.print(f"{given.page}: {write_page(given.page, given.out, NAMES)} benchmarks", highlight=False)
        return 0
    unknown = [n for n in given.names if n not in NAMES]
    if unknown:
        parser().error(f"unknown benchmark {unknown[0]!r}: choose from {', '.join(NAMES)}")
    if given.threads < 1 or given.repeat < 1:
        parser().error("--threads and --repeat must be at least 1")
    if given.datasets is not None and given.datasets < 2:
        parser().error("--datasets must be at least 2: one has no standard error")
    progress = Console(stderr=True)
    settings = Settings(
        quick=given.quick,
        threads=given.threads,
        repeat=given.repeat,
        jobs=given.threads,
        datasets=given.datasets,
        cases=tuple(given.case),
        methods=tuple(given.method),
        journal=given.out / "journal",
        say=lambda line: progress.print(f"  {line}", style="dim", markup=False, highlight=False),
    )
    described = machine.describe()
    console.print(
        f"{described['cpu']}, {described['cores']} cores, Python {described['python']}, "
        f"{given.threads} thread(s) for every method, load {machine.load()}",
        highlight=False,
    )
    records = []
    for name in given.names or [n for n in NAMES if n not in LONG]:
        progress.print(f"{name}: {title_of(name)}", highlight=False)
        records.append(run_one(name, settings, described))
        show(records[-1], console)
        path = write(records[-1], given.out)
        progress.print(f"  {records[-1].seconds:.0f} s, kept in {path}", style="dim", highlight=False)
    if len(records) > 1:
        show_claims({r.name: r.result.claims for r in records}, console)
    if given.quick:
        console.print("--quick: sizes are small, so the claims were not put to the test.")
    return int(any(r.error for r in records))


if __name__ == "__main__":
    raise SystemExit(main())
