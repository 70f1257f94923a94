"""The options that commands share, each told once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stepsmooth.cli.exits import ExitCode, end


class Solver(StrEnum):
    """Solvers of the estimators."""

    AUTO = "auto"
    JOINT = "joint"
    ALTMIN = "altmin"


class ImagePrior(StrEnum):
    """Priors of labels on grids."""

    AUTO = "auto"
    UNIFORM = "uniform"
    PROPORTIONS = "proportions"
    POTTS = "potts"


class SignalPrior(StrEnum):
    """Priors of labels along a line."""

    AUTO = "auto"
    UNIFORM = "uniform"
    PROPORTIONS = "proportions"
    MARKOV = "markov"


Levels = Annotated[
    str | None,
    typer.Option(
        "--levels", metavar="N|auto", help="The number of levels, or auto: chosen from the data (the default)."
    ),
]
SolverOption = Annotated[Solver | None, typer.Option("--solver", help="How to fit; altmin is the paper's algorithm.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="For what is random; the same seed, the same bits.")]
Threads = Annotated[int | None, typer.Option("--threads", min=1, help="How many threads to use; all by default.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="The folder for the results; by default NAME_stepsmooth right here."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier result.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout, and nothing else there.")]
Probabilities = Annotated[bool, typer.Option("--probabilities", help="Write the probability of every label too.")]
Force = Annotated[bool, typer.Option("--force", help="Write the corrected image even if the fit made it worse.")]
Result = Annotated[Path, typer.Argument(metavar="RESULT", help="An output folder of stepsmooth.")]


def level_count(levels: str) -> int | str:
    """Return the number of levels, or "auto"; anything else ends with a sentence.

    Examples
    --------
    >>> level_count("3"), level_count("AUTO")
    (3, 'auto')
    """
    if levels.lower() == "auto":
        return "auto"
    if levels.isdecimal() and int(levels) >= 1:
        return int(levels)
    end(ExitCode.ARGUMENTS, f"--levels must be a whole number of at least 1, or auto, got {levels!r}.")


def numbers(option: str, text: str | None) -> tuple[float, ...] | None:
    """Return numbers that commas part; anything else ends with a sentence.

    Examples
    --------
    >>> numbers("--spacing", "1,1,3")
    (1.0, 1.0, 3.0)
    """
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        end(ExitCode.ARGUMENTS, f"{option} must be numbers with commas between them, such as 1,1,3, got {text!r}.")


def use_threads(threads: int | None) -> None:
    """Let compiled loops use so many threads."""
    if threads is None:
        return
    import numba

    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if threads > most:
        end(ExitCode.ARGUMENTS, f"--threads {threads} is more than this machine has: at most {most}.")
    numba.set_num_threads(threads)
