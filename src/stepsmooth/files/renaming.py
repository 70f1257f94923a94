"""Steps on the file system that happen whole or not at all."""

import contextlib
import ctypes
import errno
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from stepsmooth.files.errors import OutputError, reason

try:
    import fcntl
except ImportError:  # no locks on this system: leftovers are then left to the user
    fcntl = None  # type: ignore[assignment]

_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of linux/fs.h


def exchange(one: Path, other: Path) -> None:
    """Let two folders trade names, in one step where the system knows how.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     one, other = Path(place, "one"), Path(place, "other")
    ...     for folder in (one, other):
    ...         folder.mkdir()
    ...         _ = (folder / folder.name).touch()
    ...     exchange(one, other)
    ...     sorted(str(p.relative_to(place)) for p in Path(place).rglob("*/*"))
    ['one/other', 'other/one']
    """
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    if rename is not None:
        if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
            return
        number = ctypes.get_errno()
        if number not in (errno.EINVAL, errno.ENOSYS):
            raise OSError(number, os.strerror(number))
    aside = other.with_name(f".{other.name}.{secrets.token_hex(4)}.old")
    os.rename(other, aside)
    try:
        os.rename(one, other)
    except OSError:
        os.rename(aside, other)
        raise
    os.rename(aside, one)


def lock(folder: Path, *, wait: bool) -> int | None:
    """Return an open lock on a folder, or None if somebody else holds it or there are no locks here.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     mine = lock(Path(place), wait=True)
    ...     mine is None or lock(Path(place), wait=False) is None
    True
    """
    if fcntl is None:
        return None
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(handle)
        return None
    return handle


def sync(path: Path, *, deep: bool = True) -> None:
    """Wait until a file, or a folder and (if `deep`) what is in it, has reached the disk.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     sync(Path(place))
    """
    if path.is_dir():
        for child in path.iterdir() if deep else ():
            sync(child)
        if os.name != "posix":
            return  # folders cannot be opened there
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_file(target: Path, write: Callable[[Path], object], *, overwrite: bool = False) -> Path:
    """Write one file under a temporary name beside its target, then move it there in one step.

    Parameters
    ----------
    target : pathlib.Path
    write : callable
        Is given the temporary path, which has the endings of the target.
    overwrite : bool
        Replace a file that is there.

    Returns
    -------
    pathlib.Path
        The target.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     print(write_file(Path(place, "a.txt"), lambda p: p.write_text("whole")).read_text())
    whole
    """
    if target.is_dir():
        raise OutputError(f"{target} is a folder: name a file.")
    if os.path.lexists(target) and not overwrite:
        raise OutputError(f"{target} exists already: add --overwrite, or name another file.")
    temporary = target.with_name(f".{secrets.token_hex(4)}.part.{target.name}")
    try:
        try:
            write(temporary)
            sync(temporary)
            _place(temporary, target, overwrite)
            sync(target.parent, deep=False)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {reason(error)}.") from error
    return target


def _place(temporary: Path, target: Path, overwrite: bool) -> None:
    if not overwrite:
        try:
            os.link(temporary, target)  # unlike a renaming, fails if somebody was quicker
            return
        except FileExistsError as error:
            raise OutputError(f"{target} exists already: add --overwrite, or name another file.") from error
        except OSError:
            pass  # no hard links on this file system
    os.replace(temporary, target)
