"""Run the long checks of reliability: each prints what it counted, and fails if a promise is broken."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape

from .promise import Profile, Promise

# In the order of docs/reliability.md: one file each, with `run(profile) -> list[Promise]`.
NAMES = ("properties", "checks", "determinism", "fuzz", "kills", "extremes", "coverage", "order", "mutants", "supply")


class Check(NamedTuple):
    """A file of this folder: what it shows, and the function that shows it."""

    title: str
    run: Callable[[Profile], list[Promise]]


def check_of(name: str) -> Check:
    """Import one check by its name."""
    module = import_module(f"reliability.{name}")
    return Check((module.__doc__ or name).strip().splitlines()[0].rstrip("."), module.run)


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    out = argparse.ArgumentParser(prog="python -m reliability", description=__doc__)
    out.add_argument("names", nargs="*", metavar="NAME", help=f"which to run (default: all): {', '.join(NAMES)}")
    out.add_argument("--quick", action="store_true", help="a hundredth of the cases: checks the checks")
    out.add_argument("--jobs", type=int, default=2, help="processes side by side")
    out.add_argument("--seed", type=int, default=0, help="of what is drawn at random")
    out.add_argument("--out", type=Path, default=Path("reliability-out"), help="folder for logs and failing inputs")
    return out


def main(arguments: list[str] | None = None) -> int:
    """Run the named checks; the exit code is the number of broken promises."""
    command = parser()
    options = command.parse_args(arguments)
    unknown = [name for name in options.names if name not in NAMES]
    if unknown:
        command.error(f"NAME is {', '.join(unknown)}; it can be {', '.join(NAMES)}")
    console = Console()
    options.out.mkdir(parents=True, exist_ok=True)
    profile = Profile(quick=options.quick, jobs=options.jobs, seed=options.seed, out=options.out)
    broken = 0
    for name in options.names or NAMES:
        check = check_of(name)
        console.rule(f"{name}: {check.title}")
        began = time.perf_counter()
        for promise in check.run(profile):
            word = "[green]kept[/]" if promise.kept else "[bold red]BROKEN[/]"
            console.print(f"{word}  {escape(str(promise))}")
            broken += not promise.kept
        console.print(f"        {time.perf_counter() - began:.0f} s")
    return broken


if __name__ == "__main__":
    raise SystemExit(main())
