"""Delimited text: CSV, TSV and their relatives."""

import csv
import gzip
import io
import warnings
import zlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from stepsmooth.files.errors import InputError, NotNumbers, reason
from stepsmooth.files.unpacking import check_text

_MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "-"))
_DELIMITERS = ",;\t"


class Delimited:
    r"""A file of delimited text, with or without a line of names.

    Lines that begin with # are comments. The delimiter is a tab (.tsv), or whichever of comma, semicolon, tab and blank
    the first line has; with semicolons, a comma may stand for the decimal point. Empty cells and NA are missing.

    Parameters
    ----------
    path : pathlib.Path

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "trace.csv"
    ...     _ = path.write_text("# Lab 3\nZeit;Strom\n0;1,5\n1;2,5\n")
    ...     table = Delimited(path)
    ...     table.names, table.numbers(1)
    (['Zeit', 'Strom'], array([1.5, 2.5]))
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._count: int | None = None
        try:
            check_text(path)
            with self._open() as handle:
                if "\0" in handle.read(4096):
                    raise InputError(f"{path} is not a table: it holds binary data.")
            first, line = self._first_row()
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is not a table of text: save it as UTF-8.") from error
        except (OSError, EOFError, zlib.error, csv.Error) as error:
            raise InputError(f"{path} cannot be read: {reason(error)}.") from error
        named = any(_number(cell, self._comma) is None for cell in first)
        self._skip = line if named else line - 1
        self.names: Sequence[str] = [
            cell.strip() if named and cell.strip() else f"column {i + 1}" for i, cell in enumerate(first)
        ]

    def numbers(self, index: int) -> NDArray[np.float64]:
        """Return a column as numbers, NaN where a cell is empty."""
        try:
            try:
                values = self._fast(index)
            except InputError:
                raise
            except ValueError:
                values = self._careful(index)
        except UnicodeDecodeError as error:
            raise InputError(f"{self.path} is not a table of text: save it as UTF-8.") from error
        except (OSError, EOFError, zlib.error, csv.Error) as error:
            raise InputError(f"{self.path} is cut short or damaged: {reason(error)}.") from error
        if self._count not in (None, len(values)):
            raise InputError(f"{self.path} has columns of {self._count} and {len(values)} rows: look for stray quotes.")
        self._count = len(values)
        return values

    def _fast(self, index: int) -> NDArray[np.float64]:
        if self._comma:
            raise ValueError("decimal commas are read carefully")
        with self._open() as handle, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a table without rows is refused below
            delimiter = None if self._delimiter == " " else self._delimiter
            # Quotes are left to the careful way, and comments are as there: both must see the same rows.
            rows = (text for line, text in self._lines(handle) if line > self._skip)
            source, skip = (rows, 0) if self._commented else (handle, self._skip)
            values = np.loadtxt(source, delimiter=delimiter, skiprows=skip, comments=None, usecols=[index], ndmin=1)
        if not len(values):
            raise InputError(f"{self.path} has names of columns, but no rows.")
        return np.asarray(values, dtype=np.float64)

    def _careful(self, index: int) -> NDArray[np.float64]:
        found: list[float] = []
        with self._open() as handle:
            for line, text in self._lines(handle):
                if line <= self._skip:
                    continue
                row = next(self._split([text]))
                cell = row[index] if index < len(row) else ""
                value = _number(cell, self._comma)
                if value is None:
                    raise NotNumbers(
                        f"{self.path}, line {line}: the column {self.names[index]!r} holds {cell.strip()!r}, "
                        "which is not a number."
                    )
                found.append(value)
        if not found:
            raise InputError(f"{self.path} has names of columns, but no rows.")
        return np.array(found)

    @cached_property
    def _commented(self) -> bool:
        with self._open() as handle:
            return any("#" in piece for piece in iter(lambda: handle.read(1 << 20), ""))

    def _first_row(self) -> tuple[list[str], int]:
        with self._open() as handle:
            for number, text in self._lines(handle):
                self._delimiter = self._guess(text)
                self._comma = self._delimiter == ";"
                return next(self._split([text])), number
        raise InputError(f"{self.path} has no rows.")

    def _guess(self, text: str) -> str:
        if self.path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")):
            return "\t"
        counts = {d: text.count(d) for d in _DELIMITERS}
        best = max(counts, key=lambda d: (counts[d], d == ";"))
        # A semicolon between decimal commas is the delimiter, however many commas there are.
        best = ";" if counts[";"] else best
        return best if counts[best] else " " if len(text.split()) > 1 else ","

    def _lines(self, handle: TextIO) -> Iterator[tuple[int, str]]:
        for number, text in enumerate(handle, start=1):
            if text.strip() and not text.startswith("#"):
                yield number, text

    def _split(self, lines: list[str]) -> Iterator[list[str]]:
        if self._delimiter == " ":
            return iter([line.split() for line in lines])
        return csv.reader(lines, delimiter=self._delimiter)

    def _open(self) -> TextIO:
        if self.path.name.lower().endswith(".gz"):
            return io.TextIOWrapper(gzip.open(self.path), encoding="utf-8-sig", newline="")
        return open(self.path, encoding="utf-8-sig", newline="")


def _number(cell: str, comma: bool) -> float | None:
    """Return the number in a cell, NaN if it is empty, None if it is text."""
    text = cell.strip()
    if text.lower() in _MISSING:
        return float("nan")
    if comma and text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None
