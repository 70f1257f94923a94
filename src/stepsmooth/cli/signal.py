"""``stepsmooth signal``: a recording taken apart."""

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepsmooth.cli import options as o
from stepsmooth.cli.exits import noted, sentences
from stepsmooth.cli.presets import SignalPreset, with_preset
from stepsmooth.cli.telling import conclude, end_if_worse, judge, tell
from stepsmooth.cli.terminal import progress

if TYPE_CHECKING:
    from stepsmooth import StepSmooth
    from stepsmooth.files import SignalFile

USUAL = {"levels": "auto", "solver": "auto", "prior": "auto", "ladder": False}

File = Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV, Parquet, NPY, or ABF if pyabf is installed.")]
X = Annotated[
    str | None, typer.Option("--x", metavar="COLUMN", help="The axis: a column by name, or by number from 1.")
]
Y = Annotated[
    list[str] | None,
    typer.Option("--y", metavar="COLUMN", help="The observation; give it several times for channels that share one f."),
]
Rate = Annotated[float | None, typer.Option("--rate", metavar="HZ", help="Samples per second, where there is no x.")]
Weights = Annotated[
    str | None, typer.Option("--weights", metavar="COLUMN", help="How much each row counts; 0 is absent.")
]
Sweep = Annotated[str | None, typer.Option("--sweep", metavar="N|all", help="The sweep to take, or all in a row.")]
SweepColumn = Annotated[
    str | None, typer.Option("--sweep-column", metavar="COLUMN", help="The column that tells sweeps apart.")
]
Prior = Annotated[o.SignalPrior | None, typer.Option("--prior", help="What labels do: markov lets them last.")]
Ladder = Annotated[
    bool | None, typer.Option("--ladder/--free", help="Equally spaced levels, or free ones (the default).")
]
Preset = Annotated[
    SignalPreset | None, typer.Option("--preset", help="Settings for a common job; options override it.")
]


def signal(
    file: File,
    x: X = None,
    y: Y = None,
    rate: Rate = None,
    weights: Weights = None,
    sweep: Sweep = None,
    sweep_column: SweepColumn = None,
    levels: o.Levels = None,
    ladder: Ladder = None,
    prior: Prior = None,
    solver: o.SolverOption = None,
    preset: Preset = None,
    seed: o.Seed = None,
    threads: o.Threads = None,
    out: o.Out = None,
    overwrite: o.Overwrite = False,
    probabilities: o.Probabilities = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
) -> None:
    """Take a signal apart: a smooth part, levels, and which level when.

    Writes the decomposition row by row, a table of events, result.json and report.html into a folder, which appears
    when everything is in it. Rows without y get a smooth part and the label 0.

    \b
    Examples:
      stepsmooth signal trace.csv --x time --y current --levels 3
      stepsmooth signal trace.csv --y current --rate 1000 --preset ion-channel --out idealised

    \b
    Presets:
      ion-channel     equally spaced levels, labels that last
    """  # noqa: D301
    given = {"levels": levels, "solver": solver, "prior": prior, "ladder": ladder}
    settings = with_preset(preset, given, USUAL)
    settings |= {
        "x": x,
        "y": y or None,
        "rate": rate,
        "weights": weights,
        "sweep": sweep,
        "sweep_column": sweep_column,
        "preset": preset,
        "seed": seed,
    }
    count = o.level_count(settings["levels"])
    with sentences():
        from stepsmooth.files import ResultFolder, read_signal
        from stepsmooth.files.image_file import stem
        from stepsmooth.files.images import check_readable
        from stepsmooth.files.signal_results import write_signal_results

        check_readable(file)
        out = Path(f"{stem(file)}_stepsmooth") if out is None else out
        with (
            progress(total=6, quiet=quiet or as_json) as steps,
            ResultFolder(out, inputs=[file], overwrite=overwrite) as results,
        ):
            steps.begin("Reading")
            recording = read_signal(
                file, x=x, y=y or (), rate=rate, weights=weights, sweep=sweep, sweep_column=sweep_column
            )
            remarks = list(recording.remarks)
            steps.begin_fit("stepsmooth.line")
            o.use_threads(threads)
            began = perf_counter()
            with noted(remarks):
                m = _fit(recording, count, settings, remarks)
            seconds = perf_counter() - began
            steps.begin("Judging")
            verdicts = judge(m, remarks)
            steps.begin("Writing tables")
            events = write_signal_results(results.path, recording, m, probabilities=probabilities)
            steps.begin("Writing the report")
            record = conclude(
                results,
                m,
                verdicts,
                kind="signal",
                title=file.name,
                settings=settings,
                inputs=[recording.facts()],
                remarks=remarks,
                seconds=seconds,
                more={"events": events},
                names=recording.y_names if len(recording.y_names) > 1 else None,
            )
        tell(out, m, verdicts, record, quiet=quiet, as_json=as_json)
    end_if_worse(out, verdicts, written=True, what="the decomposition")


def _fit(recording: "SignalFile", count: int | str, settings: dict[str, Any], remarks: list[str]) -> "StepSmooth":
    import numpy as np

    from stepsmooth import StepSmooth

    rows = recording.y.reshape(len(recording.x), -1)
    holes = int(np.isnan(rows).any(axis=1).sum())
    if holes:
        remarks.append(f"{holes:,} of {len(rows):,} rows have no y: they get a smooth part and the label 0.")
    m = StepSmooth(
        count,
        levels="ladder" if settings["ladder"] else None,
        label_prior=str(settings["prior"]),
        solver=str(settings["solver"]),
        missing="drop",
        random_state=settings["seed"],
    )
    return m.fit(recording.x[:, None], recording.y, recording.weights)
