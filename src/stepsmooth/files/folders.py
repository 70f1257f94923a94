"""Result folders that appear whole or not at all.

A run writes into a hidden folder beside its target, which takes the target's name in one step when everything is on the
disk. What a killed run leaves behind is a hidden folder that nobody has locked; the next run removes it.
"""

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from stepsmooth.files.errors import OutputError, reason
from stepsmooth.files.renaming import exchange, lock, sync

RESULT = "result.json"


class ResultFolder:
    """A folder of results in the making.

    Parameters
    ----------
    out : path-like
        The folder to be; it must not exist, be empty, or, with `overwrite`, hold an earlier result and nothing else.
    inputs : iterable of path-like
        The files that are read; none of them may lie in `out`.
    overwrite : bool
        Replace an earlier result.

    Attributes
    ----------
    path : pathlib.Path
        Where to write, once entered.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with ResultFolder(Path(place) / "out") as results:
    ...         _ = (results.path / "labels.tsv").write_text("index")
    ...         results.commit()
    ...     print(sorted(p.name for p in Path(place).rglob("*")))
    ['labels.tsv', 'out']
    """

    def __init__(
        self, out: str | os.PathLike[str], *, inputs: Iterable[str | os.PathLike[str]] = (), overwrite: bool = False
    ) -> None:
        self.out = Path(os.path.abspath(out))
        self._shown = out
        self._inputs = [Path(i).resolve() for i in inputs]
        self._overwrite = overwrite
        self.path = self._hidden()
        self._lock: int | None = None
        self._made: list[Path] = []

    def __enter__(self) -> Self:
        self._check_target()
        try:
            self._make_parents()
            _sweep(self.out)
            self._open()
        except BaseException as error:  # an interruption, too: nobody else would remove what was begun
            self._clear()
            if isinstance(error, OSError) and not isinstance(error, OutputError):
                raise OutputError(f"--out {self._shown} cannot be written: {reason(error)}.") from error
            raise
        return self

    def commit(self) -> None:
        """Give the folder its name, when all that is in it has reached the disk."""
        self._check_target()
        try:
            sync(self.path)
            if self.out.exists() and any(self.out.iterdir()):
                exchange(self.path, self.out)  # the earlier result is now at self.path, and goes with it
            else:
                os.rename(self.path, self.out)
            sync(self.out.parent, deep=False)
        except OSError as error:
            raise OutputError(f"--out {self._shown} cannot be written: {reason(error)}.") from error
        self._made = []

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clear()
        if isinstance(error, OSError) and not isinstance(error, OutputError):
            raise OutputError(f"--out {self._shown} cannot be written: {reason(error)}.") from error

    def _clear(self) -> None:
        try:
            shutil.rmtree(self.path, ignore_errors=True)
        except BaseException:  # an interruption while an earlier result goes: what was begun is finished first
            shutil.rmtree(self.path, ignore_errors=True)
            raise
        finally:
            self._let_go()

    def _let_go(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        for parent in reversed(self._made):
            with contextlib.suppress(OSError):
                parent.rmdir()

    def _check_target(self) -> None:
        out, shown = self.out, self._shown
        if os.path.lexists(out) and not out.is_dir():
            raise OutputError(f"--out {shown} is a file: name a folder.")
        if out.is_symlink():
            raise OutputError(f"--out {shown} is a link: name the folder that it points to.")
        if not out.exists():
            return
        within = [i for i in self._inputs if out.resolve() in i.parents]
        if within:
            raise OutputError(f"--out {shown} holds the input {within[0].name}: name another folder.")
        try:
            found = {p.name for p in out.iterdir()}
        except OSError as error:
            raise OutputError(f"--out {shown} cannot be read: {reason(error)}.") from error
        if not found:
            return
        foreign = sorted(found - _results_in(out))
        if foreign:
            raise OutputError(
                f"--out {shown} holds {foreign[0]}, which is not a result of stepsmooth: name another folder."
            )
        if not self._overwrite:
            raise OutputError(f"--out {shown} holds an earlier result: add --overwrite, or name another folder.")

    def _make_parents(self) -> None:
        missing = [p for p in (self.out.parent, *self.out.parent.parents) if not p.exists()]
        for parent in reversed(missing):
            parent.mkdir()
            self._made.append(parent)

    def _hidden(self) -> Path:
        return self.out.with_name(f".{self.out.name}.{secrets.token_hex(4)}.part")

    def _open(self) -> None:
        while True:
            self.path = self._hidden()
            self.path.mkdir()
            self._lock = lock(self.path, wait=True)
            # Between the two lines above, another run may have taken the folder for a leftover.
            if self.path.exists():
                return


def _results_in(out: Path) -> set[str]:
    """Return the names of the files that an earlier run wrote, by its own account."""
    try:
        told = json.loads((out / RESULT).read_text(encoding="utf-8"))
        return {RESULT, *(str(name) for name in told["outputs"])} if "stepsmooth" in told else set()
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()


def _sweep(out: Path) -> None:
    """Remove what killed runs have left: hidden folders that nobody has locked."""
    for left in out.parent.glob(f".{out.name}.????????.part"):
        held = lock(left, wait=False)
        if held is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(held)
