"""Volumes of 64^3 to 512^3 voxels: seconds, growth, and memory per voxel, beside N4.

One head of fixed size at ever finer resolution: three tissues in folds, a field that varies fivefold, 3 % noise, half
of the cube in the mask. Seconds are of one fit after a warm-up; peak memory is what a fit adds, in a fresh process, to
imports, compiled code and the image, in bytes a voxel of the cube; the image itself has four. N4 works at shrink factor
4, and is left out where it would take many minutes. Three sequences of the same head, tissues bright in turn, up to the
same size.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np

from . import fresh
from .harness import SEED, Row, Settings, attempt, best_of, find, growth_exponent, quotient
from .limit import beside_limit, speed_note
from .tables import Claim, Result

OURS, THREE, N4 = "stepsmooth", "stepsmooth, three sequences", "N4, shrink 4"
SIDE = 180.0  # of the cube, in mm
COARSE = 64
LEVELS = np.array([[0.35, 1.0, 0.9], [0.65, 0.7, 1.0], [1.0, 0.45, 0.75]], dtype=np.float32)  # tissues, sequences
LARGEST = 256  # of all but the first method
CASE = "benchmarks.volume_scale:case"
# Image and field in single precision, labels of two bytes, the mask of one.
BYTES = 4 + 4 + 2 + 1


def head(size: int, *, three: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Image, mask and labels: folds drawn on a coarse cube, each voxel of it cut into size / 64 a side.

    Three sequences lie along a last axis.
    """
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(SEED + 7)
    folds = gaussian_filter(rng.normal(size=(COARSE,) * 3), 2.0)
    labels = np.searchsorted(np.quantile(folds, (0.3, 0.65)), folds).astype(np.int8)
    at = (np.arange(COARSE) + 0.5) / COARSE - 0.5
    inside = at[:, None, None] ** 2 + at[:, None] ** 2 + at**2 < 0.49**2
    for axis in range(3):
        labels, inside = (np.repeat(v, size // COARSE, axis=axis) for v in (labels, inside))
    fine = (np.arange(size, dtype=np.float32) + 0.5) / size
    waves = [np.exp(0.27 * np.cos(np.pi * (fine - shift))) for shift in (0.0, 0.2, 0.4)]
    image = (LEVELS if three else LEVELS[:, 0])[labels]
    for axis, wave in enumerate(waves):
        image *= wave.reshape([-1 if a == axis else 1 for a in range(image.ndim)])
    noise = np.random.default_rng(SEED + 8)
    for plane in image:  # a plane at a time: noise of the whole cube in double precision would be the largest array
        plane += 0.03 * noise.standard_normal(plane.shape, dtype=np.float32)
    return image, inside, labels


def case(size: int, method: str, threads: int) -> Callable[[], np.ndarray]:
    """Make the data; the call fits, and gives labels or, for N4, the field."""
    from stepsmooth import GridStepSmooth, peers

    image, mask, _ = head(size, three=method == THREE)
    spacing = (SIDE / size,) * 3
    if method != N4:
        axis = -1 if method == THREE else None
        return lambda: GridStepSmooth(len(LEVELS), spacing=spacing, channel_axis=axis).fit(image, mask=mask).labels_
    return lambda: peers.n4_field(image, mask=mask, spacing=spacing, shrink=4, threads=threads)


def timed(size: int, method: str, settings: Settings) -> Row:
    """Time one fit here, and weigh one in a fresh process."""
    fit = case(size, method, settings.threads)
    timing = best_of(lambda _: fit(), repeat=min(settings.repeat, 3), budget=20.0, warm=size <= 128)
    found: Row = {**timing.columns()}
    if method != N4:
        _, mask, labels = head(size)
        found["accuracy"] = float(np.mean(timing.last[mask] == labels[mask]))
    asked = {"method": method, "threads": settings.threads}
    apart = fresh.run(CASE, {"size": size, **asked}, small={"size": COARSE, **asked}, threads=settings.threads)
    row = {**found, "peak_mb": apart.peak_mb, "bytes_per_voxel": apart.peak_mb * 2**20 / size**3}
    return beside_limit(row, BYTES * float(size**3), settings.threads)


def run(settings: Settings) -> Result:
    """Time every size."""
    sizes = (COARSE, 128) if settings.quick else (COARSE, 128, 256, 512)
    rows: list[Row] = []
    for size in sizes:
        block: list[Row] = []
        for method in (OURS, THREE, N4) if size <= LARGEST else (OURS,):
            settings.say(f"{size}^3: {method}")
            keys: Row = {"size": size, "voxels": size**3, "method": method}
            block.append(attempt(keys, partial(timed, size, method, settings)))
        for row in block:
            row["ratio"] = quotient(find([row], "seconds"), find(block, "seconds", method=OURS))
        rows += block
    own = [r for r in rows if r["method"] == OURS]
    for smaller, larger in pairwise(own):
        counts = [int(str(r["voxels"])) for r in (smaller, larger)]
        larger["exponent"] = growth_exponent(counts, [find([r], "seconds") for r in (smaller, larger)])
    weights = [find([r], "bytes_per_voxel") for r in own[1:]]
    growth = growth_exponent([s**3 for s in sizes], [find([r], "seconds") for r in own])
    claims = [
        Claim(f"growth exponent of seconds over voxels, {sizes[0]}^3 to {sizes[-1]}^3", growth, 1.05, "at most"),
        Claim(
            "peak memory in single-precision images, most from 128^3 on",
            None if None in weights else max(w for w in weights if w is not None) / 4.0,
            6.0,
            "at most",
        ),
    ]
    largest = max(size for size in sizes if size <= LARGEST)
    claims.append(
        Claim(
            f"three sequences over one, seconds, {largest}^3",
            find(rows, "ratio", size=largest, method=THREE),
            1.5,
            "at most",
        )
    )
    columns = (
        "size", "method", "seconds", "ratio", "exponent", "limit_s", "times_limit", "accuracy", "peak_mb",
        "bytes_per_voxel",
    )  # fmt: skip
    return Result(rows, claims, [speed_note(settings.threads)], columns)
