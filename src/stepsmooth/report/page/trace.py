"""The samples of a recording for the trace in the page: as few bytes as can be seen, every extreme kept."""

import numpy as np

from stepsmooth.estimators.recording import Recording
from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.report.page.pictures import in_text
from stepsmooth.report.palette import level_colours
from stepsmooth.report.thinning import thin_curve

ROOM = 9_000_000  # bytes before they are written as text
VERTICES = 2_000  # of the band: standard errors change slowly
LEVELS = 65_535


def trace_data(recording: Recording, band: Floats | None, room: int = ROOM) -> dict[str, Anything]:
    """Return what the trace draws, ready for JSON.

    Observations and smooth part are rounded to a 65,535th of their range. Of more samples than `room` holds, the first,
    last, lowest and highest of each short stretch are kept: the picture is the same until far into the zoom.

    Parameters
    ----------
    recording : Recording
    band : (n, p) array or None
        Standard errors of the smooth part, in the order of the recording.
    room : int
        Bytes.

    Examples
    --------
    >>> from stepsmooth import decompose
    >>> from stepsmooth.estimators.recording import read_recording
    >>> m = decompose([0.0, 0.1, 3.0, 3.1, 2.9, 0.0, -0.1, 3.0], tau=1e3, start="kmeans")
    >>> data = trace_data(read_recording(m, None, None, "trace"), None)
    >>> data["n"], data["kept"], data["first"], data["step"]
    (8, 8, 0.0, 1.0)
    """
    n, p = recording.steps.shape
    y = recording.steps + recording.smooth
    even = _even(recording.x)
    kept = np.arange(n)
    if n * (4 * p + 1 + (0 if even else 8)) > room:
        even = False  # what is left of equal steps is not
        kept = _extremes(recording.x, y, room // (4 * p + 9))
    x = recording.x[kept]
    data: dict[str, Anything] = {
        "n": n,
        "kept": len(kept),
        "first": float(x[0]),
        "last": float(x[-1]),
        "step": float(recording.step) if np.isfinite(recording.step) else 1.0,
        "x": None if even else in_text(x.astype("<f8")),
        "labels": in_text(recording.labels[kept].astype(np.uint8)),
        "colours": level_colours(len(recording.levels)),
        "channels": [],
    }
    at = np.unique(np.linspace(0, n - 1, min(n, VERTICES)).astype(np.int64))
    data["at"] = in_text(recording.x[at].astype("<f8"))
    for c in range(p):
        channel: dict[str, Anything] = {
            "y": _rounded(y[kept, c]),
            "f": _rounded(recording.smooth[kept, c]),
            "levels": recording.levels[:, c].tolist(),
        }
        if band is not None:
            errors = np.broadcast_to(band, (n, p))[at, c]
            channel["se"] = in_text(np.nan_to_num(errors).astype("<f4"))
        data["channels"].append(channel)
    return data


def _even(x: Floats) -> bool:
    """Say whether x goes in equal steps, to within a thousandth of one over the whole length."""
    if len(x) < 2 or not x[-1] > x[0]:
        return False
    ideal = np.linspace(x[0], x[-1], len(x))
    return bool(np.max(np.abs(x - ideal)) <= 1e-3 * (x[-1] - x[0]) / (len(x) - 1))


def _extremes(x: Floats, y: Floats, count: int) -> Ints:
    """Return indices of at most so many samples that decide the picture of every channel."""
    columns = max(count // (4 * y.shape[1]), 1)
    return np.unique(np.concatenate([thin_curve(x, channel, columns) for channel in y.T]))


def _rounded(values: Floats) -> dict[str, Anything]:
    low, high = float(values.min()), float(values.max())
    step = (high - low) / LEVELS or 1.0
    return {"low": low, "step": step, "values": in_text(np.rint((values - low) / step).astype("<u2"))}
