"""A signal from a file: which column is y, what is x, which sweep."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepsmooth.files.errors import InputError, NotNumbers
from stepsmooth.files.image_file import checksum
from stepsmooth.files.images import check_readable
from stepsmooth.files.tables import Columns, open_table

Floats = NDArray[np.float64]
# Sweeps that begin at the same x are laid one after the other, this many steps apart: longer than a pause of `events`.
APART = 50


@dataclass(frozen=True, eq=False)
class SignalFile:
    """A signal and where in its file it came from.

    Attributes
    ----------
    path : pathlib.Path
    x : (n,) array
    y : (n,) or (n, p) array
    weights : (n,) array or None
    x_name : str
    y_names : tuple of str
    remarks : tuple of str
        What was taken for what, where the user did not say.
    """

    path: Path
    x: Floats
    y: Floats
    weights: Floats | None
    x_name: str
    y_names: tuple[str, ...]
    remarks: tuple[str, ...]

    def facts(self) -> dict[str, Any]:
        """Return what identifies the file, ready for JSON."""
        return {
            "name": self.path.name,
            "format": self.path.suffix.lower().lstrip("."),
            "shape": list(self.y.shape),
            "x": self.x_name,
            "y": list(self.y_names),
            "sha256": checksum(self.path),
        }


def read_signal(
    path: Path,
    *,
    x: str | None = None,
    y: Sequence[str] = (),
    rate: float | None = None,
    weights: str | None = None,
    sweep: str | None = None,
    sweep_column: str | None = None,
) -> SignalFile:
    r"""Read a signal from a table or an Axon recording.

    Parameters
    ----------
    path : pathlib.Path
    x, weights, sweep_column : str, optional
        Columns, by name or by number from 1.
    y : sequence of str
        Columns; several are channels. By default the only one that is not x.
    rate : float, optional
        Samples per unit of time, instead of `x`. Without either, x is the first of several columns if it rises from row
        to row, else the number of the row.
    sweep : str, optional
        The sweep to take, or "all" for all, one after the other.

    Returns
    -------
    SignalFile

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "trace.csv"
    ...     _ = path.write_text("time,current\n0.0,1.5\n0.1,2.5\n")
    ...     signal = read_signal(path)
    >>> signal.x_name, signal.x, signal.y_names
    ('time', array([0. , 0.1]), ('current',))
    """
    if x is not None and rate is not None:
        raise InputError("--x and --rate exclude each other: x is a column, or it follows from the rate.")
    if rate is not None and not (np.isfinite(rate) and rate > 0.0):
        raise InputError(f"--rate must be a number above 0, got {rate:g}.")
    if path.suffix.lower() == ".abf":
        if x or weights or sweep_column:
            raise InputError(
                f"{path} is a recording with its own time: --x, --weights and --sweep-column do not apply."
            )
        from stepsmooth.files.axon import read_axon

        check_readable(path)
        return read_axon(path, y=y, rate=rate, sweep=sweep)
    table = open_table(path)
    remarks: list[str] = []
    named = {
        option: _find(table, option, value)
        for option, value in (("--x", x), ("--weights", weights), ("--sweep-column", sweep_column))
        if value is not None
    }
    columns = [_find(table, "--y", value) for value in y]
    twice = [table.names[i] for i in columns if columns.count(i) > 1]
    if twice:
        raise InputError(f"--y names the column {twice[0]!r} of {path} more than once: each channel is one column.")
    x_values, x_name, x_index = _axis(table, named.get("--x"), rate, columns, list(named.values()), remarks)
    taken = {x_index, *named.values()}
    if not columns:
        free = [i for i in range(len(table.names)) if i not in taken]
        if len(free) != 1:
            raise InputError(f"{path} has several columns: name one with --y ({_listed(table.names)}).")
        columns = free
    values = np.column_stack([table.numbers(i) for i in columns])
    if not remarks and x is None and rate is None and not y and len(table.names) > 1:
        remarks.append(f"x is the column {x_name!r}, y the column {table.names[columns[0]]!r}.")
    mass = table.numbers(named["--weights"]) if "--weights" in named else None
    x_values = np.arange(len(values), dtype=np.float64) / (rate or 1.0) if x_values is None else x_values
    rows = np.arange(len(values))
    if sweep_column is not None:
        rows, shift = _rows_of_sweep(table, named["--sweep-column"], sweep, x_values)
        x_values = x_values + shift
    elif sweep is not None:
        raise InputError("--sweep needs --sweep-column, the column that tells the sweeps apart.")
    _check(path, x_name, x_values[rows], values[rows], table.names, columns)
    return SignalFile(
        path=path,
        x=x_values[rows],
        y=values[rows, 0] if len(columns) == 1 else values[rows],
        weights=None if mass is None else mass[rows],
        x_name=x_name,
        y_names=tuple(table.names[i] for i in columns),
        remarks=tuple(remarks),
    )


def find_name(names: Sequence[str], wanted: str) -> int | None:
    """Return the column of a name, or of a number counted from 1.

    Examples
    --------
    >>> find_name(["time", "current"], "current"), find_name(["time", "current"], "1"), find_name(["a"], "b")
    (1, 0, None)
    """
    if wanted in names:
        return list(names).index(wanted)
    alike = [i for i, name in enumerate(names) if name.lower() == wanted.lower()]
    if len(alike) == 1:
        return alike[0]
    return int(wanted) - 1 if wanted.isdecimal() and 1 <= int(wanted) <= len(names) else None


def _find(table: Columns, option: str, wanted: str) -> int:
    found = find_name(table.names, wanted)
    if found is None:
        raise InputError(f"{option} {wanted}: {table.path} has no such column ({_listed(table.names)}).")
    return found


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"{i + 1} {name!r}" for i, name in enumerate(names[:12]))
    return f"it has {shown}" + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def _axis(
    table: Columns, index: int | None, rate: float | None, columns: list[int], named: list[int], remarks: list[str]
) -> tuple[Floats | None, str, int | None]:
    """Return x (None: from the row's number), its name, and its column."""
    if index is not None:
        return table.numbers(index), table.names[index], index
    if rate is not None:
        return None, "time", None
    if len(table.names) > 1 and 0 not in columns and 0 not in named:
        try:
            first = table.numbers(0)
        except NotNumbers:
            first = np.zeros(2)
        if len(first) > 1 and np.all(np.isfinite(first)) and np.all(np.diff(first) > 0.0):
            return first, table.names[0], 0
    remarks.append("x is the number of the row, from 0: name --x or --rate for another.")
    return None, "row", None


def _rows_of_sweep(table: Columns, index: int, sweep: str | None, x: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return the rows of a sweep, and by how much x is to be shifted if all are taken."""
    which = table.numbers(index)
    known = np.unique(which[np.isfinite(which)])
    if not len(known):
        raise InputError(f"{table.path}: the column {table.names[index]!r} has no numbers to tell sweeps apart.")
    shift = np.zeros(len(x))
    if sweep is None and len(known) > 1:
        raise InputError(f"{table.path} has {len(known)} sweeps: take one with --sweep {known[0]:g}, or --sweep all.")
    if sweep is not None and sweep.lower() != "all":
        try:
            rows = np.flatnonzero(which == float(sweep))
        except ValueError:
            rows = np.empty(0, dtype=np.intp)
        if not len(rows):
            raise InputError(f"--sweep {sweep}: {table.path} has the sweeps {', '.join(f'{k:g}' for k in known[:12])}.")
        return rows, shift
    groups = [np.flatnonzero(which == k) for k in known]
    rows = np.concatenate(groups)
    if np.any(np.diff(x[rows]) <= 0.0):
        steps = np.concatenate([np.diff(x[g]) for g in groups])
        step = float(np.median(steps[steps > 0.0])) if np.any(steps > 0.0) else 1.0
        end = 0.0
        for number, group in enumerate(groups):
            if number:
                shift[group] = end + APART * step - x[group].min()
            end = float((x[group] + shift[group]).max())
    return rows, shift


def _check(path: Path, x_name: str, x: Floats, y: Floats, names: Sequence[str], columns: list[int]) -> None:
    if not np.all(np.isfinite(x)):
        row = int(np.flatnonzero(~np.isfinite(x))[0]) + 1
        raise InputError(f"{path}: the column {x_name!r} (x) has no number in row {row}: x must be known everywhere.")
    if np.any(np.isinf(y)):
        raise InputError(f"{path}: y holds infinity: leave cells empty where nothing was measured.")
    for column, values in zip(columns, y.T):
        if np.all(np.isnan(values)):
            raise InputError(f"{path}: the column {names[column]!r} has no numbers.")
