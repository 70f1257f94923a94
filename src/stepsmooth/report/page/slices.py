"""Slices of a volume, and the layers of an image, as pictures: original, corrected, field, labels."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.report.page.content import Row
from stepsmooth.report.page.pictures import (
    Bytes3,
    Picture,
    array_picture,
    grey_pixels,
    label_pixels,
    mapped_pixels,
)
from stepsmooth.report.page.scan import Scan
from stepsmooth.report.palette import SEQUENTIAL, level_colours

Array = NDArray[Any]
Taker = Callable[[Array], Array]
LAYERS = ("Original", "Corrected", "Field", "Labels")
LONGEST = 1_400  # pixels of an image in the page
SLICE = 360  # pixels of a slice
PLANES = (("Axial", 2, 0, 1), ("Coronal", 1, 0, 2), ("Sagittal", 0, 1, 2))  # cut, to the right, up


def image_layers(scan: Scan, channels: int, upright: bool, longest: int = LONGEST) -> list[tuple[str, Picture]]:
    """Return the layers of an image, each with its key, such as ``"original-0"`` for the first channel.

    Parameters
    ----------
    scan : Scan
        Of two dimensions.
    channels : int
        How many of the channels to show.
    upright : bool
        The first axis runs to the right and the second up, as in scans; else the first runs down, as in photographs.
    longest : int
        Pixels of the longer side, at most.
    """
    spacing = scan.spacing[::-1] if not upright else scan.spacing

    def lay(array: Array) -> Array:
        return array.T[::-1] if upright else array

    layers = []
    for c in range(channels):
        low, high = scan.window(c)
        for word, values in (("Original", scan.original[c]), ("Corrected", scan.corrected[c])):
            pixels = _sized(grey_pixels(lay(values), low, high), spacing, longest)
            layers.append((f"{word.lower()}-{c}", array_picture(pixels, f"{word} image", word)))
    for key, pixels in zip(("field", "labels"), _coloured(scan, lay)):
        picture = array_picture(_sized(pixels, spacing, longest, smooth=key == "field"), key, key.capitalize())
        layers.append((key, picture))
    return layers


def slice_rows(scan: Scan, affine: Floats, named: bool, only: Callable[[Taker], Bytes3] | None = None) -> list[Row]:
    """Return a row of pictures for each plane through the middle of the labelled voxels.

    Parameters
    ----------
    scan : Scan
        Of three dimensions.
    affine : (4, 4) array
        Axes are turned and flipped so that right is right, forward is up, as the affine says.
    named : bool
        Whether planes may be called by their anatomical names.
    only : callable, optional
        Makes one picture of a slice, instead of the four layers.
    """
    order, flips = _to_canonical(affine)
    middle = _middle(scan.inside)
    rows = []
    for number, (name, cut, right, up) in enumerate(PLANES):
        axes = [order[a] for a in (cut, right, up)]

        def take(array: Array, axes: list[int] = axes, right: int = right, up: int = up) -> Array:
            plane = np.take(array, middle[axes[0]], axes[0])
            rest = sorted(axes[1:])
            plane = plane if rest == axes[1:] else plane.T  # now (right, up)
            plane = plane[:: -1 if flips[right] else 1, :: -1 if flips[up] else 1]
            return np.asarray(plane.T[::-1])

        spacing = (scan.spacing[axes[1]], scan.spacing[axes[2]])
        title = name if named else f"Slice {number + 1}"
        if only is not None:
            pictures = [array_picture(_sized(only(take), spacing, SLICE, grow=True), f"{title}, in place", title)]
        else:
            pictures = _layers_of(scan, take, spacing, title)
        rows.append(Row(title, tuple(pictures)))
    return rows


def _middle(inside: Array) -> Ints:
    """Return the voxel in the middle of those inside, or of all if none is."""
    sides = [np.count_nonzero(inside, axis=tuple(b for b in range(inside.ndim) if b != a)) for a in range(inside.ndim)]
    means = [np.average(np.arange(len(side)), weights=side) if side.any() else len(side) // 2 for side in sides]
    return np.round(means).astype(np.int64)


def _layers_of(scan: Scan, take: Taker, spacing: tuple[float, ...], title: str) -> list[Picture]:
    low, high = scan.window(0)
    made = [(word, grey_pixels(take(v[0]), low, high)) for word, v in zip(LAYERS, (scan.original, scan.corrected))]
    made += list(zip(LAYERS[2:], _coloured(scan, take)))
    return [
        array_picture(_sized(pixels, spacing, SLICE, smooth=word != "Labels", grow=True), f"{word}, {title}", word)
        for word, pixels in made
    ]


def _coloured(scan: Scan, take: Taker) -> tuple[Bytes3, Bytes3]:
    """Return the field and the labels in colour."""
    field = mapped_pixels(take(scan.field), *scan.field_range(), take(scan.inside), SEQUENTIAL)
    return field, label_pixels(take(scan.labels), level_colours(len(scan.levels)))


def _to_canonical(affine: Floats) -> tuple[list[int], list[bool]]:
    """Return which axis of the array runs right, forward and up, and whether it does so backwards."""
    from nibabel.orientations import io_orientation

    turn: Anything = io_orientation  # nibabel is typed in part
    codes = turn(np.asarray(affine))
    order = [int(np.flatnonzero(codes[:, 0] == world)[0]) for world in range(3)]
    return order, [bool(codes[axis, 1] < 0) for axis in order]


def _sized(
    pixels: Bytes3, spacing: tuple[float, ...], longest: int, *, smooth: bool = True, grow: bool = False
) -> Bytes3:
    """Return pixels at most so long, and square whatever the spacing, (across, down)."""
    from PIL import Image

    rows, columns = pixels.shape[:2]
    width, height = columns * spacing[0], rows * spacing[1]
    # As fine as the finer axis, so that nothing is lost that fits.
    scale = 1.0 / min(spacing)
    most = longest / max(width, height)
    scale = most if grow else min(scale, most)
    size = max(round(scale * width), 1), max(round(scale * height), 1)
    if size == (columns, rows):
        return pixels
    shrinks = size[0] < columns or size[1] < rows
    how = (Image.Resampling.BOX if shrinks else Image.Resampling.BICUBIC) if smooth else Image.Resampling.NEAREST
    return np.asarray(Image.fromarray(np.ascontiguousarray(pixels)).resize(size, how))
