"""``stepsmooth reproduce``: the paper's figures and tables, run again, on one page."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from stepsmooth.cli.terminal import output_folder, refuse

if TYPE_CHECKING:
    from stepsmooth.experiments import Done, Experiment

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME ...|all]", help="Which to run; all by default.")]
Out = Annotated[Path, typer.Option(metavar="FOLDER", help="Where results and index.html go; created if need be.")]
Quick = Annotated[bool, typer.Option("--quick", help="Small sizes and few datasets: minutes instead of hours.")]
Seeds = Annotated[int | None, typer.Option(min=2, metavar="N", help="Datasets for each point of a curve.")]
Jobs = Annotated[int, typer.Option(min=0, metavar="N", help="Processes; 0: one for each core.")]
Again = Annotated[bool, typer.Option("--again", help="Run also what is finished.")]
List = Annotated[bool, typer.Option("--list", help="Name the experiments and stop.")]


class Bars:
    """Two progress bars: experiments, and the steps of the one that runs."""

    def __init__(self, bar: Progress, total: int) -> None:
        self._bar = bar
        self._all = bar.add_task("", total=total)
        self._own = bar.add_task("", total=None, visible=False)

    def experiment(self, title: str) -> None:
        """Name the experiment that begins."""
        self._bar.update(self._all, description=title)
        self._bar.update(self._own, visible=False)

    def ended(self) -> None:
        """Count an experiment."""
        self._bar.advance(self._all)

    def begin(self, words: str, total: int) -> None:
        """Begin a part of an experiment."""
        self._bar.reset(self._own, description=f"  {words}", total=total, visible=True)

    def step(self) -> None:
        """Count a step of it."""
        self._bar.advance(self._own)


def reproduce(
    names: Names = None,
    out: Out = Path("reproduced"),
    quick: Quick = False,
    seeds: Seeds = None,
    jobs: Jobs = 0,
    again: Again = False,
    list_: List = False,
) -> None:
    """Run the paper's experiments again, and show them beside its claims on one page.

    Each experiment leaves a folder with figures (PNG, SVG), numbers (CSV) and a record (JSON: settings, seeds,
    versions, time); index.html shows all of them, claims.md lists the claims with their verdicts. What is finished
    with the same settings is kept, so that a run that was cut short goes on where it stopped. Public data are taken
    from the folder that STEPSMOOTH_DATA names; without it, data of our own stand in, and the page says so.

    \b
    Examples:
      stepsmooth reproduce signals --quick --out reproduced
      stepsmooth reproduce all --quick --jobs 2 --out reproduced
      stepsmooth reproduce noiseless noisy --seeds 20 --out reproduced
    """  # noqa: D301
    console = Console(highlight=False)
    from stepsmooth.experiments import EXPERIMENTS, Settings, named

    if list_:
        for experiment in EXPERIMENTS:
            console.print(
                f"{experiment.item:>4}  {experiment.name:14s} {experiment.title} ({experiment.source})", markup=False
            )
        return
    try:
        chosen = named(names or [])
    except ValueError as error:
        refuse(str(error))
    folder = output_folder(out)
    settings = Settings(quick=quick, seeds=seeds, data=data_folder())

    import matplotlib as mpl

    mpl.use("Agg")  # files only: no window system is asked for
    from stepsmooth.experiments import reproduce as run

    workers = jobs or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else jobs or os.cpu_count() or 1
    terminal = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal) as bar:
        bars = Bars(bar, len(chosen))

        def begun(experiment: "Experiment") -> None:
            bars.experiment(f"{experiment.item} {experiment.title}")

        def ended(done: "Done") -> None:
            bars.ended()
            tell(console, done, folder)

        try:
            found = run(
                [e.name for e in chosen],
                folder,
                settings,
                jobs=workers,
                again=again,
                progress=bars,
                begun=begun,
                ended=ended,
            )
        except KeyboardInterrupt:
            typer.echo(f"Interrupted: what is finished is kept in {folder}; the same command goes on.", err=True)
            raise typer.Exit(130) from None
        except OSError as error:
            refuse(f"--out {out} cannot be written to: {error.strerror}.")
    console.print(f"Page: {folder / 'index.html'}", soft_wrap=True, markup=False)
    if any(done.state == "failed" for done in found):
        raise typer.Exit(1)


def data_folder() -> Path | None:
    """Return the folder that STEPSMOOTH_DATA names, or refuse one that is not there.

    Examples
    --------
    >>> folder = data_folder()
    >>> folder is None or folder.is_dir()
    True
    """
    given = os.environ.get("STEPSMOOTH_DATA")
    if not given:
        return None
    if not Path(given).is_dir():
        refuse(f"STEPSMOOTH_DATA names {given}, which is no folder: correct it, or unset it to run without data.")
    return Path(given)


def tell(console: Console, done: "Done", folder: Path) -> None:
    """Print what became of an experiment: its verdicts, or why it failed."""
    from stepsmooth.experiments.storing import stored

    name = f"{done.experiment.item:>4}  {done.experiment.name:14s}"
    if done.state == "failed":
        console.print(f"{name} failed: {done.error}", markup=False, soft_wrap=True)
        return
    record = stored(done.experiment.name, folder) or {}
    verdicts = [claim["verdict"] for claim in record.get("claims", [])]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts)) or "a picture"
    kept = "kept from before" if done.state == "kept" else f"{done.seconds:.0f} s"
    missing = f"; not run: {len(record['missing'])}" if record.get("missing") else ""
    console.print(f"{name} {kept}; {counts}{missing}", markup=False, soft_wrap=True)
