"""From the axes of files to those of a fit, and back: channels in front, axes of length one put aside."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stepsmooth.files.errors import InputError
from stepsmooth.files.image_file import Array, ImageFile
from stepsmooth.files.spaces import Match, match


@dataclass(frozen=True, eq=False)
class ImageLayout:
    """One image or several as a fit wants them.

    Attributes
    ----------
    files : tuple of ImageFile
    image : array
        All channels on the grid of the first file: (*space), with channels in front and a series last if there are.
    channel_axis, series_axis : int or None
        For `GridStepSmooth`.
    spacing : tuple of float
        For each axis of space that the fit sees, in mm or, where the first file does not say, in voxels.
    in_mm : bool
    matches : tuple of Match
        How each file lies on the grid of the first.
    remarks : tuple of str
    """

    files: tuple[ImageFile, ...]
    image: Array
    channel_axis: int | None
    series_axis: int | None
    spacing: tuple[float, ...]
    in_mm: bool
    matches: tuple[Match, ...]
    remarks: tuple[str, ...]

    @property
    def grid(self) -> tuple[int, ...]:
        """The lengths of the axes of space of the first file, those of length one included."""
        return self.files[0].space

    def on_grid(self, extra: ImageFile, what: str) -> tuple[Array, str | None]:
        """Return a mask or weights on the grid of the fit, and what a user should be told."""
        plain = _space_first(extra)
        values = plain.array
        while values.ndim > len(plain.space) and values.shape[-1] == 1:
            values = values[..., 0]
        if values.ndim != len(plain.space):
            raise InputError(f"{what} {extra.path} has the shape {extra.array.shape}: one volume is needed.")
        found = match(plain, _space_first(self.files[0]))
        return np.ascontiguousarray(self._squeeze(found.to_grid(values))), found.remark

    def space_only(self, values: Array) -> Array:
        """Return (*space) of the fit, further axes last, with the axes of space of the first file."""
        return np.ascontiguousarray(values.reshape(*self.grid, *values.shape[len(self._kept) :]))

    def each_frame(self, values: Array) -> Array:
        """Return (*space), or (*space, series) if the fit has one, with the first file's axes but its channels."""
        full = self.space_only(values)
        if self.series_axis is None:
            return full
        place = self.files[0].axes.replace("C", "").index("T")
        return np.ascontiguousarray(np.moveaxis(full, len(self.grid), place))

    def channel(self, values: Array, index: int) -> Array:
        """Return one file's share of an image like `image`, with the axes of that file."""
        file = self.files[index]
        own = values
        if self.channel_axis is not None:
            own = values[index] if len(self.files) > 1 else np.moveaxis(values, 0, -1)
        plain = _space_first(file)
        full = self.matches[index].from_grid(self.space_only(own))
        back = np.argsort(_order(file.axes))
        return np.ascontiguousarray(np.transpose(full.reshape(plain.array.shape), back))

    @property
    def _kept(self) -> tuple[int, ...]:
        return _long(self.grid)

    def _squeeze(self, values: Array) -> Array:
        rest = values.shape[len(self.grid) :]
        return values.reshape(*(self.grid[a] for a in self._kept), *rest)


def lay_out(files: list[ImageFile], *, channel_axis: int | None = None, spacing: Any = None) -> ImageLayout:
    """Return images as a fit wants them.

    Parameters
    ----------
    files : list of ImageFile
        Several are channels that share one field.
    channel_axis : int, optional
        The axis of the channels of a single file, where the format does not say.
    spacing : tuple of float, optional
        In mm, instead of what the first file says.

    Examples
    --------
    >>> from pathlib import Path
    >>> flat = ImageFile(Path("slice.nii"), "nifti", np.zeros((40, 50, 1)), "XYZ", np.dtype("int16"))
    >>> both = lay_out([flat, flat])
    >>> both.image.shape, both.channel_axis, both.channel(both.image, 1).shape, both.spacing
    ((2, 40, 50), 0, (40, 50, 1), (1.0, 1.0))
    """
    if channel_axis is not None:
        files = [_with_channels(file, channel_axis) for file in files]
    plain = [_space_first(file) for file in files]
    first = plain[0]
    if not _long(first.space):
        raise InputError(f"{first.path} has one voxel only.")
    matches = [Match(tuple(range(len(first.space))), ()), *(match(p, first) for p in plain[1:])]
    remarks = [r for f in files for r in f.remarks] + [m.remark for m in matches if m.remark is not None]
    extra = ["".join(a for n, a in zip(p.array.shape, p.axes) if a in "TC" and n > 1) for p in plain]
    if len(files) > 1 and any("C" in e for e in extra):
        raise InputError("several files are channels of one image, so that none may have channels of its own.")
    if len(set(extra)) > 1 or len({_series_length(p) for p in plain}) > 1:
        raise InputError("several files are channels of one image: all need the same number of volumes.")
    kept = _long(first.space)
    shape = tuple(first.space[a] for a in kept)
    channels = []
    for p, m in zip(plain, matches):
        rest = tuple(n for n, a in zip(p.array.shape, p.axes) if a in "TC" and n > 1)
        channels.append(m.to_grid(p.array).reshape(*shape, *rest))
    if len(files) > 1:
        image, axis = np.stack(channels), 0
    elif "C" in extra[0]:
        image, axis = np.ascontiguousarray(np.moveaxis(channels[0], -1, 0)), 0
    else:
        image, axis = np.ascontiguousarray(channels[0]), None
    series = image.ndim - 1 if "T" in extra[0] else None
    in_mm = first.spacing is not None or spacing is not None
    return ImageLayout(
        tuple(files), image, axis, series, _sizes(first, kept, spacing), in_mm, tuple(matches), tuple(remarks)
    )


def _sizes(first: ImageFile, kept: tuple[int, ...], spacing: Any) -> tuple[float, ...]:
    if spacing is not None:
        given = tuple(float(h) for h in spacing)
        given = given * len(first.space) if len(given) == 1 else given
        if len(given) not in (len(first.space), len(kept)) or not all(np.isfinite(h) and h > 0 for h in given):
            raise InputError(f"--spacing needs {len(first.space)} positive numbers, one for each axis of space.")
        return given if len(given) == len(kept) else tuple(given[a] for a in kept)
    return tuple((first.spacing or (1.0,) * len(first.space))[a] for a in kept)


def _with_channels(file: ImageFile, axis: int) -> ImageFile:
    if not -file.array.ndim <= axis < file.array.ndim:
        raise InputError(f"--channel-axis {axis} is no axis of {file.path}, which has {file.array.ndim}.")
    letters = ["Z" if a == "C" else a for a in file.axes]
    letters[axis] = "C"
    space = iter("XYZ")
    axes = "".join(next(space, "T") if a in "XYZ" else a for a in letters)
    return replace(file, axes=axes)


def _space_first(file: ImageFile) -> ImageFile:
    """Return the same image with space first, then the series, then channels."""
    if sum(a in "XYZ" for a in file.axes) > 3:
        raise InputError(f"{file.path} has more than three axes of space: name --channel-axis.")
    order = _order(file.axes)
    return replace(file, array=np.transpose(file.array, order), axes="".join(file.axes[a] for a in order))


def _order(axes: str) -> list[int]:
    space = [i for i, a in enumerate(axes) if a in "XYZ"]
    return space + [i for i, a in enumerate(axes) if a == "T"] + [i for i, a in enumerate(axes) if a == "C"]


def _long(space: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a for a, n in enumerate(space) if n > 1)


def _series_length(file: ImageFile) -> int:
    return max((n for n, a in zip(file.array.shape, file.axes) if a == "T"), default=1)
