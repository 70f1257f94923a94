"""Volumes for the viewer in the page: NIfTI in memory, coarser where the file would grow too large."""

import gzip
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.report.page.pictures import in_text
from stepsmooth.report.page.scan import Scan

Array = NDArray[Any]
# Steps from black to the largest intensity: finer ones cannot be seen, and noise in them does not compress.
STEPS = 2_000
EFFORT = 4  # of the compression: more takes longer, and saves one byte in a hundred
EACH = 8  # one plane in so many tells beforehand how large the whole would be


@dataclass(frozen=True)
class ViewerVolumes:
    """What the viewer draws, ready for JSON, its size in bytes and the factor along each axis."""

    data: dict[str, Anything]
    size: int
    factors: tuple[int, ...]


def viewer_volumes(scan: Scan, affine: Floats, names: Anything, colours: Anything, room: int) -> ViewerVolumes:
    """Return original, corrected, field and labels as compressed volumes that fit into `room` bytes of text.

    Parameters
    ----------
    scan : Scan
        Of three dimensions.
    affine : (4, 4) array
        From voxels to millimetres.
    names : sequence of str
        Of the channels.
    colours : sequence of str
        Of the levels.
    room : int
        Bytes of text; intensities are averaged over ever larger blocks until it is enough.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> image = rng.random((1, 30, 30, 30))
    >>> scan = Scan(image, image, image[0], (image[0] > 0.5).astype(int), np.array([[0.2], [0.8]]), (1.0,) * 3, True)
    >>> packed = viewer_volumes(scan, np.eye(4), ["T1w"], ["#0072B2", "#E69F00"], 60_000)
    >>> packed.size <= 60_000, packed.factors
    (True, (2, 2, 2))
    """
    factors = (1,) * scan.n_axes
    excess = _foreseen(scan) / room
    if excess > 1.0:
        factors = _coarser(factors, scan.spacing, excess)
    while True:
        packed = _pack(scan, affine, names, colours, factors)
        if packed.size <= room or max(scan.labels.shape) <= min(factors):
            return packed
        factors = _coarser(factors, scan.spacing, packed.size / room)


def _foreseen(scan: Scan) -> float:
    """Return about how many bytes of text the intensities take at full resolution: what some planes of them take."""
    some = slice(None, None, EACH)
    return float(sum(EACH * len(_intensities(v[..., some], np.eye(4), (1,) * scan.n_axes)) for v in scan.original) * 2)


def _coarser(factors: tuple[int, ...], spacing: tuple[float, ...], excess: float) -> tuple[int, ...]:
    """Return the next factors: the axes with the finest voxels first, until the excess is made good."""
    best = np.array(factors)
    while np.prod(best / factors) < excess:
        sizes = best * spacing
        best[sizes <= 1.01 * sizes.min()] += 1
    return tuple(int(k) for k in best)


def block_means(values: Array, factors: tuple[int, ...]) -> Array:
    """Return the means over blocks of voxels; blocks at the far end may be smaller.

    Examples
    --------
    >>> block_means(np.arange(5.0), (2,))
    array([0.5, 2.5, 4. ], dtype=float32)
    """
    total = block_sums(values, factors)
    for axis, (n, factor) in enumerate(zip(values.shape, factors)):
        if factor > 1:
            sizes = np.minimum(factor, n - np.arange(0, n, factor)).astype(np.float32)
            total = total / sizes.reshape([-1 if a == axis else 1 for a in range(values.ndim)])
    return total


def block_sums(values: Array, factors: tuple[int, ...]) -> Array:
    """Return the sums over blocks of voxels, in single precision if there are any.

    Examples
    --------
    >>> block_sums(np.arange(5.0), (2,))
    array([1., 5., 4.], dtype=float32)
    """
    for axis, factor in enumerate(factors):
        if factor > 1:
            first, *others = (np.moveaxis(values, axis, 0)[start::factor] for start in range(factor))
            total = first.astype(np.float32)
            for other in others:
                total[: len(other)] += other
            values = np.moveaxis(total, 0, axis)
    return values


def block_majority(codes: Array, count: int, factors: tuple[int, ...]) -> Array:
    """Return the commonest of the codes 0..count-1 in each block; of equally common ones the first.

    Examples
    --------
    >>> block_majority(np.array([0, 2, 2, 1, 1, 1]), 3, (3,))
    array([2, 1], dtype=uint8)
    """
    if max(factors) == 1:
        return codes.astype(np.uint8)
    best = block_sums(codes == 0, factors)
    winner = np.zeros(best.shape, dtype=np.uint8)
    for code in range(1, count):
        count_of = block_sums(codes == code, factors)
        winner[count_of > best] = code
        best = np.maximum(best, count_of)
    return winner


def _pack(scan: Scan, affine: Floats, names: Anything, colours: Anything, factors: tuple[int, ...]) -> ViewerVolumes:
    placed = np.array(affine, dtype=np.float64) @ np.diag([*factors, 1])
    placed[:3, 3] += np.asarray(affine)[:3, :3] @ ((np.array(factors) - 1) / 2.0)
    channels, size = [], 0
    for c, name in enumerate(names):
        low, high = scan.window(c)
        both = [_intensities(v, placed, factors) for v in (scan.original[c], scan.corrected[c])]
        channels.append({"name": name, "original": both[0], "corrected": both[1], "low": low, "high": high})
        size += sum(map(len, both))
    count = len(scan.levels)
    codes = np.where(scan.labels < 0, 0, scan.labels + 1)
    majority = block_majority(codes, count + 1, factors)
    labels = _nifti(majority, placed, 1.0, 0.0)
    low, high = scan.field_range()
    # Zero is kept for voxels without a label, which are drawn transparent.
    step = (high - low) / 254.0
    coded = np.rint((np.clip(block_means(scan.field, factors), low, high) - low) / step).astype(np.uint8) + 1
    field = _nifti(np.where(majority > 0, coded, 0).astype(np.uint8), placed, step, low - step)
    data = {
        "channels": channels,
        "labels": {"volume": labels, "colours": list(colours)},
        "field": {"volume": field, "low": low, "high": high, "outside": low - step},
    }
    return ViewerVolumes(data, size + len(labels) + len(field), factors)


def _intensities(values: Array, affine: Floats, factors: tuple[int, ...]) -> str:
    reduced = block_means(np.nan_to_num(values.astype(np.float32, copy=False)), factors)
    low, high = float(reduced.min()), float(reduced.max())
    step = (high - low) / STEPS or 1.0
    return _nifti(np.rint((reduced - low) / step).astype(np.int16), affine, step, low)


def _nifti(values: Array, affine: Floats, slope: float, intercept: float) -> str:
    """Return a compressed NIfTI file as text."""
    from nibabel import Nifti1Image

    make: Anything = Nifti1Image  # nibabel is typed in part
    image = make(values, affine)
    image.header.set_xyzt_units("mm")
    # nibabel writes the slope it is given only through the raw header: the bytes are put together here.
    header = image.header.copy()
    header["scl_slope"], header["scl_inter"], header["vox_offset"] = slope, intercept, 352
    content = header.binaryblock + b"\0\0\0\0" + values.tobytes(order="F")
    return in_text(gzip.compress(content, compresslevel=EFFORT, mtime=0))
