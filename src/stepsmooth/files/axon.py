"""Axon recordings (.abf), through pyabf if it is installed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stepsmooth.files.errors import InputError, reason
from stepsmooth.files.signals import SignalFile, find_name


def read_axon(path: Path, *, y: Sequence[str] = (), rate: float | None = None, sweep: str | None = None) -> SignalFile:
    """Read channels and sweeps of an ABF file.

    Parameters
    ----------
    path : pathlib.Path
    y : sequence of str
        Channels, by name or by number from 1; the first by default.
    rate : float, optional
        Samples per second, instead of what the file says.
    sweep : str, optional
        The sweep, from 1, or "all" for all of them at the times at which they were recorded.

    Returns
    -------
    SignalFile
        With x in seconds.
    """
    try:
        with np.printoptions():  # the library changes how arrays are printed, for everybody
            import pyabf
    except ImportError as error:
        raise InputError(f"{path} is an ABF file: install pyabf to read it.") from error
    try:
        abf: Any = pyabf.ABF(str(path))
    except Exception as error:  # the library raises whatever its parsing meets
        raise InputError(f"{path} is not an ABF file, or is damaged: {reason(error)}.") from error
    names = [str(name).strip() or f"channel {i + 1}" for i, name in enumerate(abf.adcNames)]
    chosen = []
    for wanted in y or ["1"]:
        index = find_name(names, wanted)
        if index is None:
            raise InputError(f"--y {wanted}: {path} has the channels {', '.join(map(repr, names))}.")
        chosen.append(index)
    remarks = [] if y or len(names) == 1 else [f"y is the channel {names[0]!r} of {len(names)}."]
    sweeps = _sweeps(path, abf.sweepCount, sweep)
    step = 1.0 / (rate or float(abf.dataRate))
    length = float(getattr(abf, "sweepIntervalSec", 0.0) or 0.0)
    x, values = [], []
    for number in sweeps:
        columns = []
        for channel in chosen:
            abf.setSweep(number, channel=channel)
            columns.append(np.array(abf.sweepY, dtype=np.float64))
        n = len(columns[0])
        start = number * max(length, n * step) if len(sweeps) > 1 else 0.0
        x.append(start + step * np.arange(n))
        values.append(np.column_stack(columns))
    y_all = np.concatenate(values)
    return SignalFile(
        path=path,
        x=np.concatenate(x),
        y=y_all[:, 0] if len(chosen) == 1 else y_all,
        weights=None,
        x_name="time",
        y_names=tuple(names[c] for c in chosen),
        remarks=tuple(remarks),
    )


def _sweeps(path: Path, count: int, sweep: str | None) -> list[int]:
    if sweep is None:
        if count > 1:
            raise InputError(f"{path} has {count} sweeps: take one with --sweep 1, or --sweep all.")
        return [0]
    if sweep.lower() == "all":
        return list(range(count))
    if not sweep.isdecimal() or not 1 <= int(sweep) <= count:
        raise InputError(f"--sweep {sweep}: {path} has the sweeps 1 to {count}.")
    return [int(sweep) - 1]
