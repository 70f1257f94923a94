"""The events of a recording: how long each level lasted, one row an event."""

from typing import Any

import numpy as np

from stepsmooth.estimators import parameters
from stepsmooth.estimators.recording import Recording, median_step, read_recording
from stepsmooth.model.arrays import Anything, Floats, Ints

# A pause in the recording is a step in x of more than so many median steps; a few blanked samples are none, and
# neither is the longest of a hundred thousand random steps.
PAUSE = 20.0


def events(
    m: Anything, X: Anything = None, y: Anything = None, *, gap: float | None = None, min_dwell: float = 0.0
) -> np.ndarray[Any, Any]:
    """Return the events of a fitted recording: the longest runs of one label in the order of x.

    Parameters
    ----------
    m : StepSmooth
        Fitted on one axis, such as time.
    X, y : arrays, optional
        The data it was fitted on, by default those that it keeps; needed only where the kernel was a matrix.
    gap : float, optional
        A step in x longer than this is a pause in the recording. It ends an event, and the events on both sides are
        incomplete. By default 20 median steps; `numpy.inf`: there are no pauses.
    min_dwell : float, default=0.0
        The dead time: complete events shorter than this become part of the event before them.

    Returns
    -------
    structured array, one row an event, ready for `pandas.DataFrame`
        `start`, `end`: x of the first sample, and x where the next event begins; before a pause and at the end of
        the recording, x of the last sample plus the median step (NaN if there is only one x). `dwell`: end - start.
        `label`, `level`: of the event. `mean`: mean of y minus the smooth part. `n`: samples. `probability`: mean
        probability of the label. `complete`: False for events that the recording or a pause cuts off. For y with
        columns there are `level_0`, `level_1`, ... and `mean_0`, `mean_1`, ...

    Notes
    -----
    Samples that the fit left out (NaN in y, weight 0) are holes in x: a short one changes nothing, a long one is a
    pause. Samples at the same x are one instant, which has the label that is most probable on average.

    Examples
    --------
    >>> from stepsmooth import decompose, events
    >>> x = np.arange(8) / 10
    >>> y = np.array([0.0, 0.1, 3.0, 3.1, 2.9, 0.0, -0.1, 3.0])
    >>> table = events(decompose(y, x, tau=1e3, start="kmeans"))
    >>> table["label"], table["n"], table["complete"]
    (array([0, 1, 0, 1]), array([2, 3, 2, 1]), array([False,  True,  True, False]))
    >>> table["dwell"].round(3)
    array([0.2, 0.3, 0.2, 0.1])
    """
    recording = read_recording(m, X, y, "events")
    if gap is not None and gap != np.inf:
        parameters.check_number("gap", gap, 0.0, strict=True, also=", numpy.inf or None")
    shortest = parameters.check_number("min_dwell", min_dwell, 0.0)
    return tabulate(recording, gap, shortest)


def tabulate(recording: Recording, gap: float | None, min_dwell: float) -> np.ndarray[Any, Any]:
    """Return the events of a recording as a structured array."""
    x, instant = np.unique(recording.x, return_inverse=True)
    step = median_step(x)
    pauses = np.diff(x) > (PAUSE * step if gap is None else gap)
    labels = _label_instants(recording, instant, len(x))
    first = _first_of_runs(labels, pauses)
    start, end, complete = _spans(x, first, pauses, step)
    # Only of a complete event is it known that it was short.
    short = complete & (end - start < min_dwell)
    if short.any():
        labels = _absorb(labels, first, short)
        first = _first_of_runs(labels, pauses)
        start, end, complete = _spans(x, first, pauses, step)
    sizes = np.diff(np.append(first, len(x)))
    event = np.repeat(np.arange(len(first)), sizes)[instant]
    label, n = labels[first], np.bincount(event)
    columns: dict[str, Anything] = {"start": start, "end": end, "dwell": end - start, "label": label}
    columns |= _channels("level", recording.levels[label], recording.vector)
    sums = np.stack([np.bincount(event, channel) for channel in recording.steps.T], axis=1)
    columns |= _channels("mean", sums / n[:, None], recording.vector)
    own = recording.probabilities[np.arange(len(recording)), label[event]]
    columns |= {"n": n, "probability": np.bincount(event, own) / n, "complete": complete}
    table = np.empty(len(first), dtype=[(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        table[name] = values
    return table


def _label_instants(recording: Recording, instant: Ints, count: int) -> Ints:
    """Return the label of each distinct x."""
    if count == len(recording):
        return recording.labels
    # A sample with x to itself keeps its label, whatever ties of probability may say.
    mass = np.stack([np.bincount(instant, q, minlength=count) for q in recording.probabilities.T], axis=1)
    # Sums in another order differ by rounding: that must not decide between labels that are equally probable.
    labels: Ints = mass.round(9).argmax(axis=1).astype(np.int64)
    alone = np.bincount(instant, minlength=count)[instant] == 1
    labels[instant[alone]] = recording.labels[alone]
    return labels


def _first_of_runs(labels: Ints, pauses: Anything) -> Ints:
    return np.flatnonzero(np.append(True, (labels[1:] != labels[:-1]) | pauses)).astype(np.int64)


def _spans(x: Floats, first: Ints, pauses: Anything, step: float) -> tuple[Floats, Floats, Anything]:
    """Return start, end and completeness of the runs that begin at `first`."""
    last = np.append(first[1:], len(x)) - 1
    cut_before = np.append(True, pauses)[first]
    cut_after = np.append(pauses, True)[last]
    end = np.where(cut_after, x[last] + step, np.append(x, np.nan)[last + 1])
    return x[first], end, ~(cut_before | cut_after)


def _absorb(labels: Ints, first: Ints, short: Anything) -> Ints:
    """Give short runs the label of the last run before them that is not short."""
    # A run after a cut is never complete, hence never short: none reaches across a pause.
    host = np.maximum.accumulate(np.where(short, 0, np.arange(len(first))))
    return np.repeat(labels[first][host], np.diff(np.append(first, len(labels)))).astype(np.int64)


def _channels(name: str, values: Floats, vector: bool) -> dict[str, Floats]:
    """Name the columns of (n, p) values: a frame holds one number in a cell."""
    if not vector:
        return {name: values[:, 0]}
    return {f"{name}_{channel}": values[:, channel] for channel in range(values.shape[1])}
