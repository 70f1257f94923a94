"""Tables of columns: delimited text, Parquet, NPY and Axon recordings, read column by column."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stepsmooth.files.errors import InputError, NotNumbers, reason
from stepsmooth.files.images import check_readable
from stepsmooth.files.memory import check_room
from stepsmooth.files.pictures import open_npy

Floats = NDArray[np.float64]
# Bytes for each value of a Parquet file: as it was, and as float64.
_PARQUET = 16


class Columns(Protocol):
    """A table whose columns are numbers when asked for."""

    path: Path
    names: Sequence[str]

    def numbers(self, index: int) -> Floats:
        """Return a column, NaN where a cell is empty; text is refused with its line."""
        ...


def open_table(path: Path) -> Columns:
    r"""Open a table: CSV, TSV or other delimited text (.gz too), Parquet, or NPY.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    Columns

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "trace.csv"
    ...     _ = path.write_text("time,current\n0,1.5\n1,\n")
    ...     table = open_table(path)
    ...     list(table.names), table.numbers(1)
    (['time', 'current'], array([1.5, nan]))
    """
    check_readable(path)
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".csv", ".tsv", ".txt", ".tab", ".dat")):
        from stepsmooth.files.delimited import Delimited

        return Delimited(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        return ParquetTable(path)
    if path.suffix.lower() == ".npy":
        return NpyTable(path)
    raise InputError(f"{path} is of an unknown kind: CSV, TSV, Parquet, NPY and ABF are read.")


class NpyTable:
    """An NPY file: one column, columns along the second axis, or named fields."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._array = open_npy(path)
        fields = self._array.dtype.names
        if self._array.ndim not in (1, 2) or (fields and self._array.ndim != 1) or self._array.size == 0:
            raise InputError(f"{path} has the shape {self._array.shape}: a column, or rows by columns, is needed.")
        count = 1 if self._array.ndim == 1 else self._array.shape[1]
        self.names: Sequence[str] = list(fields) if fields else [f"column {i + 1}" for i in range(count)]
        self._fields = fields

    def numbers(self, index: int) -> Floats:
        """Return a column."""
        if self._fields:
            column = self._array[self._fields[index]]
        else:
            column = self._array if self._array.ndim == 1 else self._array[:, index]
        return _real(column, self.path, self.names[index])


class ParquetTable:
    """A Parquet file, through pyarrow or polars, whichever is installed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._columns = _read_parquet(path)
        except ImportError as error:
            raise InputError(f"{path} is a Parquet file: install pyarrow or polars to read it.") from error
        except InputError:
            raise
        except Exception as error:  # each library has its own
            raise InputError(f"{path} is not a Parquet file, or is damaged: {reason(error)}.") from error
        self.names: Sequence[str] = list(self._columns)

    def numbers(self, index: int) -> Floats:
        """Return a column."""
        return _real(self._columns[self.names[index]], self.path, self.names[index])


def write_table(path: Path, columns: dict[str, NDArray[Any]]) -> None:
    r"""Write columns as CSV, TSV or Parquet, as the ending says.

    Parameters
    ----------
    path : pathlib.Path
    columns : dict of (n,) arrays

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "t.tsv"
    ...     write_table(path, {"x": np.array([0.5, np.nan]), "label": np.array([1, 2])})
    ...     path.read_text()
    'x\tlabel\n0.5\t1\n\t2\n'
    """
    if path.suffix == ".parquet":
        path.write_bytes(_parquet_bytes(columns))
        return
    import csv

    cells = [_cells(values) for values in columns.values()]
    with open(path, "w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, delimiter="\t" if path.suffix == ".tsv" else ",", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*cells))


def _cells(values: NDArray[Any]) -> list[Any]:
    """Return numbers as Python writes them, the shortest that read back alike; NaN is an empty cell."""
    plain = values.tolist()
    if values.dtype.kind == "f":
        return ["" if v != v else v for v in plain]
    return ["true" if v else "false" for v in plain] if values.dtype.kind == "b" else plain


def _real(column: Any, path: Path, name: str) -> Floats:
    array = np.asarray(column)
    if array.dtype.kind == "O":
        array = np.array([np.nan if v is None else v for v in array])
    if array.dtype.kind not in "fiub":
        what = "complex numbers" if array.dtype.kind == "c" else "text or dates"
        raise NotNumbers(f"{path} holds {what} in the column {name!r}: real numbers are needed.")
    return np.ascontiguousarray(array, dtype=np.float64)


def _read_parquet(path: Path) -> dict[str, Any]:
    try:
        from pyarrow import parquet

        about = parquet.read_metadata(path)
        check_room(path, (about.num_rows, about.num_columns), _PARQUET)
        table = parquet.read_table(path)
        return {name: table.column(name).to_numpy() for name in table.column_names}
    except ImportError:
        import polars

        rows = polars.scan_parquet(path).select(polars.len()).collect().item()
        check_room(path, (rows, len(polars.read_parquet_schema(path))), _PARQUET)
        frame = polars.read_parquet(path)
        return {name: frame[name].to_numpy() for name in frame.columns}


def _parquet_bytes(columns: dict[str, NDArray[Any]]) -> bytes:
    """Return a table as the bytes of a Parquet file: writing them is then our own step, with its own errors."""
    import io

    buffer = io.BytesIO()
    try:
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.table(dict(columns)), buffer)
    except ImportError:
        import polars

        polars.DataFrame(dict(columns)).write_parquet(buffer)
    return buffer.getvalue()
