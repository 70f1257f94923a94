"""An image as a file had it: numbers, axes, its place in the world, and what it takes to write another like it."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepsmooth.files.errors import InputError

Array = NDArray[Any]
# While an image is worked on, there are so many values for each voxel: measured, 45 bytes for a float32 image.
WORKING_COPIES = 11


@dataclass(frozen=True, eq=False)
class ImageFile:
    """An image and everything that its file said.

    Attributes
    ----------
    path : pathlib.Path
    format : {"nifti", "tiff", "png", "npy"}
    array : array of float32, or float64 where the file has more digits
        In the units of the file, scaling applied, with the file's axes.
    axes : str
        A letter for each axis: X, Y, Z are space, T is a series, C are channels.
    dtype : numpy dtype
        What the file stores.
    spacing : tuple of float or None
        The size of a voxel along each axis of space, in mm.
    affine : (4, 4) array or None
        From voxels to the world in mm, if the file says so.
    header : object
        Whatever the writer of this format wants to know.
    remarks : tuple of str
        What the reader should be told.
    """

    path: Path
    format: str
    array: Array
    axes: str
    dtype: np.dtype[Any]
    spacing: tuple[float, ...] | None = None
    affine: Array | None = None
    header: Any = None
    remarks: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        """The file's name without its endings."""
        return stem(self.path)

    @property
    def space(self) -> tuple[int, ...]:
        """The lengths of the axes of space."""
        return tuple(n for n, axis in zip(self.array.shape, self.axes) if axis in "XYZ")

    def facts(self) -> dict[str, Any]:
        """Return what identifies the file, ready for JSON."""
        return {
            "name": self.path.name,
            "format": self.format,
            "shape": list(self.array.shape),
            "axes": self.axes,
            "dtype": str(self.dtype),
            "spacing": None if self.spacing is None else list(self.spacing),
            "sha256": checksum(self.path),
        }


def stem(path: Path) -> str:
    """Return a file's name without its endings.

    Examples
    --------
    >>> stem(Path("scans/sub-01_T1w.nii.gz")), stem(Path("v1.2 trace.csv"))
    ('sub-01_T1w', 'v1.2 trace')
    """
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    return Path(name).stem


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file's bytes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "empty").write_bytes(b"")
    ...     checksum(Path(folder) / "empty")[:8]
    'e3b0c442'
    """
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def working_type(dtype: np.dtype[Any], path: Path) -> np.dtype[Any]:
    """Return the precision in which numbers of this type are worked on, or refuse the type.

    Examples
    --------
    >>> working_type(np.dtype("int16"), Path("a.nii")), working_type(np.dtype("int32"), Path("a.nii"))
    (dtype('float32'), dtype('float64'))
    """
    if dtype.kind not in "fiub":
        kind = "complex numbers" if dtype.kind == "c" else "colours" if dtype.fields else str(dtype)
        raise InputError(f"{path} holds {kind}: save the magnitude, or one channel, as plain numbers.")
    exact = dtype.itemsize <= 4 if dtype.kind == "f" else dtype.itemsize <= 2
    return np.dtype(np.float32 if exact else np.float64)


def to_stored(values: Array, dtype: np.dtype[Any]) -> tuple[Array, int]:
    """Return values in the type of a file, rounded and held within its range, and how many had to be held.

    Examples
    --------
    >>> to_stored(np.array([1.6, -3.0, 300.0]), np.dtype("uint8"))
    (array([  2,   0, 255], dtype=uint8), 2)
    """
    if dtype.kind == "f":
        return values.astype(dtype), 0
    if dtype.kind == "b":
        return values > 0.5, 0
    limits = np.iinfo(dtype)
    rounded = np.nan_to_num(np.rint(values), nan=0.0)
    held = int(np.count_nonzero((rounded < limits.min) | (rounded > limits.max)))
    out = np.clip(rounded, limits.min, limits.max).astype(np.float64)
    # The largest int64 is no float64: the last step stays within the type by hand.
    whole = np.where(out >= float(limits.max), limits.max, np.minimum(out, np.nextafter(float(limits.max), 0)))
    return whole.astype(dtype), held
