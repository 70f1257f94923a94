"""The tables that a decomposed signal becomes."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepsmooth.estimators import events
from stepsmooth.files.signals import SignalFile
from stepsmooth.files.tables import write_table

Columns = dict[str, NDArray[Any]]


def table_ending(path: Path) -> str:
    """Return the ending of the tables for an input: that of the input if it is TSV or Parquet, else CSV.

    Examples
    --------
    >>> [table_ending(Path(name)) for name in ("a.tsv", "a.tsv.gz", "a.parquet", "a.abf")]
    ['.tsv', '.tsv', '.parquet', '.csv']
    """
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    return {".tsv": ".tsv", ".tab": ".tsv", ".parquet": ".parquet", ".pq": ".parquet"}.get(ending, ".csv")


def signal_columns(signal: SignalFile, m: Any, *, probabilities: bool = False) -> Columns:
    """Return the decomposition row by row: x, y, smooth, step, label, probability, residual.

    Parameters
    ----------
    signal : SignalFile
    m : StepSmooth
        Fitted to the signal.
    probabilities : bool
        Add the probability of each label.

    Returns
    -------
    dict of (n,) arrays
        Labels count from 1; 0 is a row without an observation, whose step and probability are NaN. With several
        channels, y, step and residual are numbered from 0, as in `events`.

    Examples
    --------
    >>> from stepsmooth import decompose
    >>> y = np.array([0.0, 5.0, 0.1, 5.1, 0.0, 5.0, 0.2, 4.9])
    >>> signal = SignalFile(Path("a.csv"), np.arange(8.0), y, None, "row", ("y",), ())
    >>> table = signal_columns(signal, decompose(y, solver="altmin", tau=1e6))
    >>> list(table), table["label"]
    (['x', 'y', 'smooth', 'step', 'label', 'probability', 'residual'], array([1, 2, 1, 2, 1, 2, 1, 2]))
    """
    n = len(signal.x)
    present = m.labels_ >= 0
    y, levels = signal.y.reshape(n, -1), np.asarray(m.levels_).reshape(m.n_levels_, -1)
    smooth = np.asarray(m.smooth_).reshape(n, -1)
    step = np.where(present[:, None], levels[m.labels_], np.nan)
    best = np.where(present, m.probabilities_[np.arange(n), m.labels_], np.nan)
    vector = signal.y.ndim == 2
    columns: Columns = {"x": signal.x}
    columns |= _spread("y", y, vector)
    columns |= _spread("smooth", smooth, vector and smooth.shape[1] > 1)
    columns |= _spread("step", step, vector)
    columns |= {"label": m.labels_ + 1, "probability": best}
    columns |= _spread("residual", y - smooth - step, vector)
    if probabilities:
        columns |= {f"probability_{k + 1}": m.probabilities_[:, k] for k in range(m.n_levels_)}
    return columns


def write_signal_results(folder: Path, signal: SignalFile, m: Any, *, probabilities: bool = False) -> int:
    """Write the decomposition and the events of a signal, and return how many events there are."""
    ending = table_ending(signal.path)
    write_table(folder / f"decomposition{ending}", signal_columns(signal, m, probabilities=probabilities))
    table = events(m)
    columns = {name: table[name] for name in table.dtype.names or ()}
    columns["label"] = columns["label"] + 1
    write_table(folder / f"events{ending}", columns)
    return len(table)


def _spread(name: str, values: NDArray[Any], several: bool) -> Columns:
    return {f"{name}_{c}": values[:, c] for c in range(values.shape[1])} if several else {name: values[:, 0]}
