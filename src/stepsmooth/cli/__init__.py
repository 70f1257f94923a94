"""The command line: one module per command, each registered here.

Commands import numerics and pictures when they run, so that ``stepsmooth --help`` answers at once.
"""

from typing import Annotated

import typer

from stepsmooth.cli.apply import apply
from stepsmooth.cli.certify import certify
from stepsmooth.cli.demo import demo
from stepsmooth.cli.exits import EPILOG
from stepsmooth.cli.image import image
from stepsmooth.cli.reproduce import reproduce
from stepsmooth.cli.signal import signal

app = typer.Typer(name="stepsmooth", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)
app.command(short_help="Take a signal apart: CSV, TSV, Parquet, NPY, ABF.", epilog=EPILOG)(signal)
app.command(short_help="Remove the field from images: NIfTI, TIFF, PNG, NPY.", epilog=EPILOG)(image)
app.command(short_help="Remove a stored field from another image.", epilog=EPILOG)(apply)
app.command(short_help="Say whether the labels of a result can be trusted.", epilog=EPILOG)(certify)
app.command(short_help="Decompose four data sets whose answer is known.")(demo)
app.command(short_help="Run the paper's experiments again, on one page.")(reproduce)


def _version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        from stepsmooth import __version__

        typer.echo(f"stepsmooth {__version__}")
        raise typer.Exit


@app.callback(epilog=EPILOG)
def stepsmooth(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Take data apart:  observation = smooth part + one of a few levels + noise.

    Every observation gets a label, every label a level; the smooth part is recovered with them.

    \b
    Begin with:
      stepsmooth demo
      stepsmooth image T1w.nii.gz --mask brain.nii.gz --preset t1w-brain
      stepsmooth signal trace.csv --y current --rate 1000
    """  # noqa: D301
