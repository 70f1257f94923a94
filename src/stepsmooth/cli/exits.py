"""How commands end: what each exit code means, and errors told in one sentence."""

import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from sys import UnraisableHookArgs


class ExitCode(IntEnum):
    """What a command ends with."""

    DONE = 0
    BUG = 1
    ARGUMENTS = 2
    INPUT = 3
    OUTPUT = 4
    WORSE = 5
    NOT_IDENTIFIED = 6
    INTERRUPTED = 130
    TERMINATED = 143


MEANINGS = {
    ExitCode.DONE: "done",
    ExitCode.BUG: "an error in stepsmooth: please report it",
    ExitCode.ARGUMENTS: "wrong options or arguments",
    ExitCode.INPUT: "an input cannot be used",
    ExitCode.OUTPUT: "the result cannot be written",
    ExitCode.WORSE: "the fit made it worse: no corrected image (--force writes it)",
    ExitCode.NOT_IDENTIFIED: "certify: the labels are not shown to be identified",
    ExitCode.INTERRUPTED: "interrupted by the user; nothing half-written is left",
    ExitCode.TERMINATED: "ended from outside; nothing half-written is left",
}
# \b keeps the lines of the list apart in a help text.
EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code:>3}  {words}" for code, words in MEANINGS.items())

# Sentences of the estimators name parameters; at the command line these are options.
_OPTIONS = (
    ("use multiplicative=False, or mask them out", "use --additive, or --mask them out"),
    ("multiplicative=False", "--additive"),
    ("multiplicative=True", "no --additive"),
    ("solver='altmin'", "--solver altmin"),
    ("solver='joint'", "--solver joint"),
    ("n_levels='auto'", "--levels auto"),
    ("n_levels=", "--levels "),
    ("label_prior=", "--prior "),
    ("channel_axis", "--channel-axis"),
)


def in_options(sentence: str) -> str:
    """Return a sentence of an estimator with options in the place of parameters.

    Examples
    --------
    >>> in_options("n_levels='auto' does not go with solver='altmin' on grids.")
    '--levels auto does not go with --solver altmin on grids.'
    """
    for parameter, option in _OPTIONS:
        sentence = sentence.replace(parameter, option)
    return sentence


def end(code: ExitCode, sentence: str) -> NoReturn:
    """Say what happened on the error stream, and end.

    Examples
    --------
    >>> try:
    ...     end(ExitCode.INPUT, "trace.csv does not exist.")
    ... except typer.Exit as stop:
    ...     print(stop.exit_code)
    3
    """
    typer.echo(sentence, err=True)
    raise typer.Exit(int(code))


@contextmanager
def sentences() -> Iterator[None]:
    """Turn what goes wrong inside into one sentence and an exit code.

    Examples
    --------
    >>> try:
    ...     with sentences():
    ...         raise ValueError("mask is empty: no voxel is inside.")
    ... except typer.Exit as stop:
    ...     print(stop.exit_code)
    3
    """
    from stepsmooth.files.errors import OutputError, reason

    try:
        with _heeded():
            yield
    except OutputError as error:
        end(ExitCode.OUTPUT, str(error))
    except ValueError as error:
        end(ExitCode.INPUT, in_options(str(error)))
    except MemoryError:
        end(ExitCode.INPUT, "There is not enough memory for this: crop the image, or lower its resolution.")
    except BrokenPipeError:
        raise  # whoever read our output has had enough of it
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        end(ExitCode.OUTPUT, f"The result cannot be written: {place}{reason(error)}.")
    except KeyboardInterrupt:
        end(ExitCode.INTERRUPTED, "Interrupted; nothing half-written is left.")
    except _Terminated:
        end(ExitCode.TERMINATED, "Ended from outside; nothing half-written is left.")


@contextmanager
def noted(remarks: list[str]) -> Iterator[None]:
    """Collect the warnings of a fit as remarks, each once.

    Examples
    --------
    >>> remarks: list[str] = []
    >>> with noted(remarks):
    ...     warnings.warn("mask is in 2 pieces.", stacklevel=1)
    >>> remarks
    ['mask is in 2 pieces.']
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        sentence = in_options(str(warning.message)).strip()
        # Those of libraries are for programmers; ours are sentences, and UserWarnings.
        if issubclass(warning.category, UserWarning) and sentence not in remarks:
            remarks.append(sentence)


class _Terminated(BaseException):
    """The process was asked to end."""


@contextmanager
def _heeded() -> Iterator[None]:
    """Let a request to end (SIGTERM) clean up as an interruption by hand does, and let neither be lost.

    Python drops what is raised in callbacks of its own (of weak references while it imports, say): there, the request
    is made again a moment later. Compiled code may turn it into an error of its own: whatever is raised after a
    request counts as that request.
    """
    requests: dict[int, type[BaseException]] = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: _Terminated}
    asked: list[type[BaseException]] = []
    others, main = sys.unraisablehook, threading.get_ident()

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        asked.append(requests[number])
        raise requests[number]

    def dropped(what: "UnraisableHookArgs") -> None:
        again = [number for number, request in requests.items() if request is what.exc_type]
        if again:
            threading.Timer(0.01, signal.pthread_kill, [main, *again]).start()
        else:
            others(what)

    if threading.current_thread() is not threading.main_thread():  # whoever runs it decides
        yield
        return
    # An interruption that is ignored, as in the background, stays so.
    heard = [n for n in requests if n == signal.SIGTERM or signal.getsignal(n) is signal.default_int_handler]
    before = {number: signal.signal(number, stop) for number in heard}
    if hasattr(signal, "pthread_kill"):  # not on Windows
        sys.unraisablehook = dropped
    try:
        yield
    except Exception as error:
        if asked:
            raise asked[0] from error
        raise
    finally:
        sys.unraisablehook = others
        for number, handler in before.items():
            signal.signal(number, handler)
