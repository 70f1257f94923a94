"""What can be wrong with a file, told in one sentence."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """A file that cannot be used; the sentence names the file, what was found and what would be right."""


class NotNumbers(InputError):
    """A column that holds something else than numbers; it may still be that nobody asks for it."""


class OutputError(OSError):
    """A result that cannot be written; the sentence names the place and the reason."""


def reason(error: BaseException) -> str:
    """Return why an operation failed, without paths and numbers of errors, in words that end a sentence.

    Examples
    --------
    >>> reason(OSError(28, "No space left on device")), reason(EOFError("It ended early."))
    ('no space left on device', 'it ended early')
    >>> reason(ValueError("Found " + chr(27) + "[31m"))  # what a file says is not told to the terminal as it is
    'found ?[31m'
    """
    words = getattr(error, "strerror", None) or str(error).strip().split("\n")[0] or type(error).__name__
    words = "".join(letter if letter.isprintable() else "?" for letter in str(words).rstrip("."))
    # The first word loses its capital, unless it is an abbreviation.
    return words[:1].lower() + words[1:] if words[1:2].islower() or words[1:2] == " " else words


@contextmanager
def guarded(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever a library raises while it parses a file into one sentence: damage shows in many ways.

    Parameters
    ----------
    path : path-like
        The file that is read.

    Examples
    --------
    >>> try:
    ...     with guarded("T1w.nii.gz"):
    ...         raise ZeroDivisionError("division by zero")
    ... except ValueError as error:
    ...     print(error)
    T1w.nii.gz is cut short, damaged or of an unknown kind: division by zero.
    """
    try:
        yield
    except InputError:
        raise
    except MemoryError as error:
        raise InputError(f"{path} does not fit into memory.") from error
    except Exception as error:
        raise InputError(f"{path} is cut short, damaged or of an unknown kind: {reason(error)}.") from error
