"""The command line: one module per command, each registered here.

Commands import numerics and pictures when they run, so that ``stepsmooth --help`` answers at once.
"""

from typing import Annotated

import typer

from stepsmooth.cli.demo import demo

app = typer.Typer(name="stepsmooth", no_args_is_help=True, add_completion=False, rich_markup_mode=None)
app.command(short_help="Decompose two data sets whose answer is known.")(demo)


def _version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        from stepsmooth import __version__

        typer.echo(f"stepsmooth {__version__}")
        raise typer.Exit


@app.callback()
def stepsmooth(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Take data apart:  observation = smooth part + one of a few levels + noise.

    Every observation gets a label, every label a level; the smooth part is recovered with them.

    Begin with:  stepsmooth demo
    """
