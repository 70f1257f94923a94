"""Methods of the volume benchmark: peers with their best settings, and ours, all asked the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from stepsmooth import peers

from .volume_cases import OURS, PLAIN, POTTS, Task

CLUSTERERS = tuple((method, domain) for method in ("kmeans", "mixture") for domain in ("raw", "log"))
N4, PATIENT = "N4", "N4, to 1e-6"
# The settings between which csaps and LapGM may choose in hindsight, knowing the answer.
CSAPS_P = (1e-5, 1e-4, 1e-3)
LAPGM_TAU = (3e-4, 1e-3, 3e-3)


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method found."""

    labels: np.ndarray  # on the grid, -1 outside the mask and for air
    smooth: np.ndarray | None  # log field on the grid, or None
    levels: np.ndarray | None
    seconds: float
    converged: bool = True
    field_seconds: float | None = None  # of `seconds`, those for the field


Method = Callable[[Task], Iterable[Answer]]  # several answers: the best in hindsight counts


def methods(threads: int, *, slow: bool) -> dict[str, Method]:
    """Name every method; `slow` leaves out those that a volume is too large for."""
    fields = {"": no_field, N4: partial(n4, threads=threads), PATIENT: partial(n4_patient, threads=threads)}
    out: dict[str, Method] = {
        f"{name + ' + ' if name else ''}{method} {domain}": partial(
            clustered, field=field, method=method, domain=domain
        )
        for name, field in fields.items()
        for method, domain in CLUSTERERS
    }
    if not slow:
        out["LapGM + kmeans raw, best tau in hindsight"] = lapgm
        out["csaps AltMin, best p in hindsight"] = csaps
    return out | {
        OURS: ours,
        PLAIN: partial(ours, label_prior="proportions"),
        POTTS: partial(ours, label_prior="potts"),
    }


def tissue_mask(task: Task) -> np.ndarray:
    """The mask that was told, or what k-means with two classes takes for the head."""
    if task.masked:
        return task.scan.mask
    return peers.cluster_volume(first_sequence(task), 2).labels.reshape(task.scan.mask.shape) == 1


def first_sequence(task: Task) -> np.ndarray:
    """The one sequence that N4 and csaps look at."""
    return task.scan.image if task.scan.channel_axis is None else task.scan.image[..., 0]


def no_field(task: Task) -> np.ndarray | None:
    """Correct nothing."""
    return None


_kept: dict[tuple[int, str], tuple[Task, np.ndarray, float]] = {}


def once(task: Task, name: str, estimate: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    """Estimate a field once for all clusterers that follow; its seconds count for each."""
    key = (id(task), name)
    if key not in _kept:
        for old in [k for k in _kept if k[0] != id(task)]:
            del _kept[old]
        start = time.perf_counter()
        _kept[key] = (task, estimate(), time.perf_counter() - start)
    return _kept[key][1:]


def n4(task: Task, threads: int | None = None) -> tuple[np.ndarray, float]:
    """N4 as it comes."""
    return once(task, N4, lambda: n4_call(task, threads)())


def n4_patient(task: Task, threads: int | None = None) -> tuple[np.ndarray, float]:
    """N4 that goes on until the field hardly changes: slower, and better on strong fields."""
    return once(task, PATIENT, lambda: n4_call(task, threads)(iterations=100, tolerance=1e-6))


def n4_call(task: Task, threads: int | None) -> Callable[..., np.ndarray]:
    """N4 on a volume thinned to 4 mm, or on a whole slice."""
    spacing = task.scan.spacing
    shrink = max(1, round(4 / min(spacing))) if task.scan.mask.ndim == 3 else 1
    image, mask = first_sequence(task), tissue_mask(task)
    return partial(peers.n4_field, image, mask=mask, spacing=spacing, shrink=shrink, threads=threads)


def clustered(task: Task, *, field: Callable[[Task], object], method: str, domain: str) -> list[Answer]:
    """Correct by a field, then cluster; without a mask, air is one class more."""
    given = field(task)
    smooth, spent = given if isinstance(given, tuple) else (None, 0.0)
    return [cluster(task, smooth, spent, method, domain)]


def cluster(task: Task, smooth: np.ndarray | None, spent: float, method: str, domain: str) -> Answer:
    """Cluster what was corrected."""
    scan, start = task.scan, time.perf_counter()
    air = 0 if task.masked else 1
    found = peers.cluster_volume(
        scan.image,
        task.n_levels + air,
        mask=scan.mask if task.masked else None,
        channel_axis=scan.channel_axis,
        smooth=smooth,
        method=method,
        domain=domain,
    )
    seconds = spent + time.perf_counter() - start
    levels = found.levels[air:]
    if smooth is not None and not task.masked:  # the gauge is the head's, not that of the air around it
        levels = levels * np.exp(smooth[scan.mask].mean() - smooth.mean())
    return Answer(on_grid(task, found.labels - air), smooth, levels, seconds, found.converged, spent)


def on_grid(task: Task, labels: np.ndarray) -> np.ndarray:
    """Put labels of the voxels looked at back into the image."""
    if not task.masked:
        return labels.reshape(task.scan.mask.shape)
    out = np.full(task.scan.mask.shape, -1, dtype=np.int64)
    out[task.scan.mask] = labels
    return out


def lapgm(task: Task) -> Iterable[Answer]:
    """LapGM at each tau, then k-means."""
    scan = task.scan
    for tau in LAPGM_TAU:
        start = time.perf_counter()
        try:
            smooth = peers.lapgm_field(
                scan.image, task.n_levels, mask=scan.mask, channel_axis=scan.channel_axis, tau=tau
            )
        except FloatingPointError:  # a class died out at this tau
            continue
        yield cluster(task, smooth, time.perf_counter() - start, "kmeans", "raw")


def csaps(task: Task) -> Iterable[Answer]:
    """The paper's alternation at each p, to convergence, from both starts."""
    scan = task.scan
    for p in CSAPS_P:
        for begin in ("smooth", "kmeans"):
            start = time.perf_counter()
            found = peers.grid_csaps_altmin(
                first_sequence(task), task.n_levels, mask=scan.mask, spacing=scan.spacing, p=p, start=begin
            )
            smooth = np.zeros(scan.mask.shape)
            smooth[scan.mask] = found.smooth
            seconds = time.perf_counter() - start
            levels = found.levels if scan.channel_axis is None else None
            yield Answer(on_grid(task, found.labels), smooth, levels, seconds, found.converged)


def ours(task: Task, **parameters: object) -> list[Answer]:
    """Ours, as it comes but for the prior on labels."""
    from stepsmooth import GridStepSmooth

    scan = task.scan
    model = GridStepSmooth(task.n_levels, channel_axis=scan.channel_axis, spacing=scan.spacing, **parameters)
    start = time.perf_counter()
    model.fit(scan.image, mask=scan.mask if task.masked else None)
    seconds = time.perf_counter() - start
    return [Answer(model.labels_, model.smooth_, model.levels_, seconds, bool(model.converged_))]
