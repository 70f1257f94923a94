"""Bias fields: slow log fields over a grid, with a given ratio of the largest to the smallest value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import Seed, generator, real_number

FieldKind = Literal["poly", "coil", "smooth", "rough"]
FIELD_KINDS: tuple[str, ...] = get_args(FieldKind)

_WIDTH = {"smooth": 30.0, "rough": 16.0}  # mm, standard deviation of the Gaussian filter
_CELLS = 3  # lattice points of the white noise per standard deviation of the filter

Floats = NDArray[np.float64]


def make_field(
    mask: ArrayLike,
    kind: FieldKind = "coil",
    ratio: float = 5.0,
    *,
    spacing: Sequence[float] | None = None,
    random_state: Seed = None,
) -> NDArray[np.float32]:
    """Draw a log bias field whose largest value over the mask is `ratio` times its smallest.

    Parameters
    ----------
    mask : array-like of bool
        The tissue: where the ratio is taken and where the log field has mean 0. Any number of dimensions.
    kind : {"poly", "coil", "smooth", "rough"}, default "coil"
        ``"poly"`` is a random cubic; ``"coil"`` the summed sensitivity 1/r^2 of four or five surface coils around
        the tissue; ``"smooth"`` and ``"rough"`` are white noise under a Gaussian filter of 30 and 16 mm.
    ratio : float, default 5.0
        Largest over smallest value of ``exp(field)`` over the mask, at least 1; 1 is no field.
    spacing : sequence of float, optional
        Size of a voxel along each axis, in mm; 1 by default. The field is drawn in mm: another resolution of
        the same mask gives the same field, up to the sampling of the mask.
    random_state : int, Generator or None, default None
        A number gives the same field every time.

    Returns
    -------
    ndarray of float32, of the shape of the mask
        The log field, everywhere on the grid.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.datasets import make_field
    >>> mask = np.ones((40, 50), dtype=bool)
    >>> field = make_field(mask, "coil", 12.0, spacing=(4.0, 4.0), random_state=0)
    >>> round(float(np.exp(np.ptp(field))), 4), bool(abs(field.mean()) < 1e-6)
    (12.0, True)
    """
    tissue = np.asarray(mask)
    if tissue.dtype != np.bool_ or tissue.ndim == 0 or not tissue.any():
        raise ValueError(
            "mask must be an array of booleans that is somewhere true; "
            f"found dtype {tissue.dtype}, shape {tissue.shape}, {int(np.count_nonzero(tissue))} true."
        )
    if kind not in FIELD_KINDS:
        raise ValueError(f"field must be one of {', '.join(FIELD_KINDS)}; found {kind!r}.")
    span = math.log(real_number("ratio", ratio, least=1))
    rng = generator(random_state)
    size = voxel_size(spacing, tissue.ndim)
    axes = _centred_axes(tissue, size)
    half = np.array([max(-a[0][0], a[0][1]) for a in axes])  # of the box around the tissue
    places = [a[1] for a in axes]
    if kind == "poly":
        field = _cubic(places, half, rng)
    elif kind == "coil":
        field = _coils(places, half, rng)
    else:
        field = _filtered_noise(places, _WIDTH[kind], rng)
    inside = field[tissue]
    reach = float(np.ptp(inside))
    if reach == 0:  # a single voxel, or a field constant over the tissue, has no ratio to scale
        return np.zeros(tissue.shape, dtype=np.float32)
    field -= inside.mean()
    field *= span / reach
    return field.astype(np.float32)


def voxel_size(spacing: object, ndim: int) -> tuple[float, ...]:
    """Return the size of a voxel along each axis, 1 mm when none is given.

    Examples
    --------
    >>> voxel_size((1, 2), 2)
    (1.0, 2.0)
    >>> voxel_size((1, 2), 3)
    Traceback (most recent call last):
    ...
    ValueError: spacing must be one positive number for each of 3 axes; found (1, 2).
    """
    if spacing is None:
        return (1.0,) * ndim
    wanted = f"spacing must be one positive number for each of {ndim} axes; found {spacing!r}."
    try:
        size = np.asarray(spacing, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(wanted) from None
    if size.shape != (ndim,) or not np.all(np.isfinite(size) & (size > 0)):
        raise ValueError(wanted)
    return tuple(float(s) for s in size)


def _centred_axes(tissue: NDArray[np.bool_], size: Sequence[float]) -> list[tuple[tuple[float, float], Floats]]:
    """Return, along each axis, the ends of the tissue and the voxels' places, in mm from the tissue's middle."""
    out = []
    for axis, step in enumerate(size):
        others = tuple(a for a in range(tissue.ndim) if a != axis)
        held = np.flatnonzero(tissue.any(axis=others))
        middle = (held[0] + held[-1]) / 2
        reach = max(float(held[-1] - middle), 0.5) * step
        out.append(((-reach, reach), (np.arange(tissue.shape[axis]) - middle) * step))
    return out


def _cubic(places: Sequence[Floats], half: Floats, rng: np.random.Generator) -> Floats:
    """Return a polynomial of total degree 3 with standard normal coefficients, the tissue's box being [-1, 1]^d."""
    powers = [np.vander(p / h, 4, increasing=True).T for p, h in zip(places, half)]
    field = np.zeros([len(p) for p in places])
    for degrees in product(range(4), repeat=len(places)):
        if 1 <= sum(degrees) <= 3:
            field += rng.standard_normal() * _outer([powers[a][k] for a, k in enumerate(degrees)])
    return field


def _coils(places: Sequence[Floats], half: Floats, rng: np.random.Generator) -> Floats:
    """Return log sum 1/r^2 over four or five coils, evenly around the first two axes, somewhat astray."""
    count = int(rng.integers(4, 6))
    angles = 2 * np.pi * (np.arange(count) + rng.uniform(-0.25, 0.25, count)) / count + rng.uniform(0, 2 * np.pi)
    sensitivity = np.zeros([len(p) for p in places])
    for angle in angles:
        where = rng.uniform(-0.6, 0.6, len(half)) * half  # along the axes beyond the first two
        away = rng.uniform(1.25, 1.6)
        for axis, part in zip(range(min(2, len(half))), (math.cos(angle), math.sin(angle))):
            where[axis] = away * half[axis] * part
        if len(half) == 1:  # on a line a coil stands on either side
            where[0] = math.copysign(away * half[0], math.cos(angle))
        squared = np.zeros_like(sensitivity)
        for axis, p in enumerate(places):
            squared += ((p - where[axis]) ** 2).reshape([-1 if a == axis else 1 for a in range(len(half))])
        # A coil is not a point: without its size the field would be infinite at a voxel it lies on.
        sensitivity += rng.uniform(0.7, 1.3) / (squared + (0.15 * half.max()) ** 2)
    return np.log(sensitivity)


def _filtered_noise(places: Sequence[Floats], width: float, rng: np.random.Generator) -> Floats:
    """Return white noise under a Gaussian filter: a lattice of noise, and the filter at each voxel along each axis."""
    step = width / _CELLS
    windows = []
    for p in places:
        # Whole numbers of steps, so that a larger grid around the same tissue only adds to the lattice.
        knots = step * np.arange(math.floor((p[0] - 4 * width) / step), math.ceil((p[-1] + 4 * width) / step) + 1)
        windows.append(np.exp(-0.5 * ((p[:, None] - knots) / width) ** 2))
    field = rng.standard_normal([w.shape[1] for w in windows])
    for window in windows:  # the first axis is filtered and goes last, so that all come round in order
        field = np.tensordot(field, window, axes=(0, 1))
    return field


def _outer(factors: Sequence[Floats]) -> Floats:
    out = factors[0]
    for factor in factors[1:]:
        out = np.multiply.outer(out, factor)
    return out
