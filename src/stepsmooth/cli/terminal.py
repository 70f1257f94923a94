"""What all commands share at the terminal: a console, progress, and errors in one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


def refuse(sentence: str) -> NoReturn:
    """Say in one sentence what is wrong with the arguments, and end with exit code 2.

    Parameters
    ----------
    sentence : str
        What is wrong and what would be right.

    Examples
    --------
    >>> try:
    ...     refuse("--out is a file.")
    ... except typer.Exit as end:
    ...     print(end.exit_code)
    2
    """
    typer.echo(sentence, err=True)
    raise typer.Exit(2)


def output_folder(out: Path) -> Path:
    """Create the folder for results, or refuse in one sentence.

    Parameters
    ----------
    out : pathlib.Path
        The folder asked for.

    Returns
    -------
    pathlib.Path
        The same folder, which now exists.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     output_folder(Path(folder) / "new" / "one").is_dir()
    True
    """
    if out.exists() and not out.is_dir():
        refuse(f"--out {out} is a file: name a folder.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refuse(f"--out {out} cannot be made a folder: {error.strerror}.")
    return out


class Steps:
    """A progress bar over steps that are named as they begin."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar = bar
        self._task = task
        self._begun = False
        self._name = ""

    def begin(self, name: str) -> None:
        """Move on to the next step."""
        self._bar.update(self._task, description=name, advance=1 if self._begun else 0)
        self._begun = True
        self._name = name

    def begin_fit(self, package: str) -> None:
        """Load what fits, then move on to fitting; the first time, its loops are compiled, and the bar says so."""
        self.begin("Loading")
        import stepsmooth.estimators  # noqa: F401
        from stepsmooth.model.compiled import compiled_before

        self.begin("Fitting" if compiled_before(package) else "Fitting (compiling, the first time)")

    def round(self, state: object) -> None:
        """Show which round of a fit is done; this is a callback of the estimators."""
        number = getattr(state, "round", None) or getattr(state, "iteration", None)
        if number is not None:
            self._bar.update(self._task, description=f"{self._name}, round {number}")


@contextmanager
def progress(total: int, *, quiet: bool = False) -> Iterator[Steps]:
    """Show a bar while a command works; it leaves nothing behind, and stays away from files and pipes.

    Parameters
    ----------
    total : int
        The number of steps.
    quiet : bool
        Show nothing.

    Yields
    ------
    Steps
        Call its ``begin`` at each step.

    Examples
    --------
    >>> with progress(total=2) as steps:
    ...     steps.begin("first")
    ...     steps.begin("second")
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        yield Steps(bar, bar.add_task("", total=total))
