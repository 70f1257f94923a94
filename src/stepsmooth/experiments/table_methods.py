"""The methods of the paper's table, each with the settings between which it may choose, all asked the same way.

Defined once: :mod:`stepsmooth.experiments.table` and the benchmark harness both run these.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from stepsmooth.datasets import StepImage

Setting = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method found.

    Attributes
    ----------
    labels : array of ints, on the grid
        -1 outside the mask.
    levels : (M,) or (M, p) array
        In the units of the image, for a log field of mean zero over the mask.
    smooth : array or None
        The log field on the grid; None if the method has none.
    converged : bool
    """

    labels: np.ndarray
    levels: np.ndarray
    smooth: np.ndarray | None
    converged: bool = True


@dataclass(frozen=True)
class Method:
    """A method by name, how to ask it, and between which settings it may choose."""

    name: str
    fit: Callable[[StepImage, Setting], Answer]
    settings: tuple[Setting, ...]
    quick: tuple[Setting, ...] = ()

    def choices(self, quick: bool) -> tuple[Setting, ...]:
        """Return the settings to try."""
        return self.quick if quick and self.quick else self.settings


def words(setting: Setting) -> str:
    """Write a setting in words.

    Examples
    --------
    >>> words({"tau": 0.001, "start": "smooth"}), words({})
    ('tau 0.001, start smooth', 'as it comes')
    """
    return ", ".join(f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}" for k, v in setting.items()) or "as it comes"


def first_sequence(scan: StepImage) -> np.ndarray:
    """Return the T1-weighted image, the one that N4 looks at."""
    return scan.image if scan.channel_axis is None else scan.image[..., 0]


def clustered(scan: StepImage, smooth: np.ndarray | None, domain: str) -> Answer:
    """Cluster the voxels of the mask by k-means, after division by a field where there is one."""
    from stepsmooth import peers

    found = peers.cluster_volume(
        scan.image,
        len(scan.levels),
        mask=scan.mask,
        channel_axis=scan.channel_axis,
        smooth=smooth,
        domain=domain,  # type: ignore[arg-type]
    )
    labels = np.full(scan.mask.shape, -1, dtype=np.int64)
    labels[scan.mask] = found.labels
    return Answer(labels, np.asarray(found.levels), smooth, found.converged)


def by_kmeans(scan: StepImage, setting: Setting) -> Answer:
    """Cluster the image as it is."""
    return clustered(scan, None, setting["domain"])


def by_n4(scan: StepImage, setting: Setting) -> Answer:
    """Correct every sequence by N4's field of the first, then cluster."""
    from stepsmooth import peers

    field = peers.n4_field(
        first_sequence(scan),
        mask=scan.mask,
        spacing=scan.spacing,
        shrink=1,
        iterations=setting["iterations"],
        tolerance=setting["tolerance"],
        threads=1,
    )
    return clustered(scan, field, setting["domain"])


def by_lapgm(scan: StepImage, setting: Setting) -> Answer:
    """Correct by LapGM's field of all sequences, then cluster."""
    from stepsmooth import peers

    field = peers.lapgm_field(
        scan.image, len(scan.levels), mask=scan.mask, channel_axis=scan.channel_axis, tau=setting["tau"]
    )
    return clustered(scan, field, setting["domain"])


def by_altmin(scan: StepImage, setting: Setting) -> Answer:
    """Alternate smoothing splines and k-means, as the paper does."""
    return by_grid(scan, {"solver": "altmin", **setting, "tau": len(scan.contrasts) * setting["tau"]})


def by_grid(scan: StepImage, setting: Setting) -> Answer:
    """Ask our estimator."""
    from stepsmooth import GridStepSmooth

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # kept as `converged`
        model = GridStepSmooth(len(scan.levels), channel_axis=scan.channel_axis, spacing=scan.spacing, **setting)
        model.fit(scan.image, mask=scan.mask)
    return Answer(model.labels_, np.asarray(model.levels_), np.asarray(model.smooth_), bool(model.converged_))


_DOMAINS = ("raw", "log")
_PATIENCE = ({"iterations": 50, "tolerance": 1e-3}, {"iterations": 100, "tolerance": 1e-6})

METHODS = (
    Method("k-means", by_kmeans, tuple({"domain": d} for d in _DOMAINS)),
    Method(
        "N4ITK + k-means",
        by_n4,
        tuple({**p, "domain": d} for p in _PATIENCE for d in _DOMAINS),
        tuple({**_PATIENCE[1], "domain": d} for d in _DOMAINS),
    ),
    Method(
        "LapGM",
        by_lapgm,
        tuple({"tau": t, "domain": d} for t in (3e-4, 1e-3, 3e-3, 1e-2) for d in _DOMAINS),
        tuple({"tau": t, "domain": "log"} for t in (3e-4, 3e-3)),
    ),
    Method(
        "AltMin",
        by_altmin,
        tuple({"tau": t, "start": s} for t in (0.1, 1.0, 10.0, 100.0) for s in ("smooth", "kmeans")),
        ({"tau": 1.0, "start": "smooth"}, {"tau": 10.0, "start": "smooth"}, {"tau": 10.0, "start": "kmeans"}),
    ),
    Method("joint", by_grid, ({},)),
)
