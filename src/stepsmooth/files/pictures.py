"""TIFF, PNG and NPY files: pictures without a place in the world."""

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stepsmooth.files.errors import InputError, guarded, reason
from stepsmooth.files.image_file import WORKING_COPIES, Array, ImageFile, to_stored, working_type
from stepsmooth.files.listening import heard
from stepsmooth.files.memory import check_room
from stepsmooth.files.png_chunks import check_chunks
from stepsmooth.files.tiff_pages import check_pages
from stepsmooth.files.unpacking import check_segments

# What tifffile calls an axis, and what it is to us: samples, wavelengths and channels have a level each.
_TIFF_AXES = {"S": "C", "C": "C", "E": "C", "H": "C", "T": "T", "A": "T", "I": "Z", "Q": "Z", "P": "T"}


class PictureHeader(NamedTuple):
    """What a TIFF or PNG file said besides the numbers: its resolution, ImageJ's metadata, and a channel of opacity."""

    resolution: tuple[float, float] | None = None
    unit: int | None = None
    metadata: dict[str, Any] | None = None
    alpha: Array | None = None


def read_tiff(path: Path) -> ImageFile:
    """Read a TIFF file; its size is looked at before anything is allocated.

    Examples
    --------
    >>> import tempfile
    >>> import tifffile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "cells.tif"
    ...     tifffile.imwrite(path, np.ones((40, 50), np.uint16))
    ...     image = read_tiff(path)
    >>> image.array.shape, image.axes, str(image.dtype)
    ((40, 50), 'YX', 'uint16')
    """
    with guarded(path):
        return _read_tiff(path)


def _read_tiff(path: Path) -> ImageFile:
    import tifffile

    check_pages(path)
    try:
        with heard("tifffile") as told, tifffile.TiffFile(path) as tiff:
            if not tiff.series:
                raise InputError(f"{path} holds no image.")
            series: Any = tiff.series[0]
            dtype = np.dtype(series.dtype).newbyteorder("=")
            precision = working_type(dtype, path)
            check_room(path, series.shape, WORKING_COPIES * precision.itemsize)
            check_segments(path, series.pages)
            array = np.asarray(series.asarray(), dtype=precision)
            page: Any = series.pages[0]
            header = _tiff_header(tiff, page)
            axes = "".join(_TIFF_AXES.get(a, a) for a in series.axes)
            photometric = int(page.photometric)
    except tifffile.TiffFileError as error:
        raise InputError(f"{path} is not a TIFF image, or is damaged: {reason(error)}.") from error
    except (ValueError, NotImplementedError) as error:
        if "imagecodecs" not in str(error):
            raise
        raise InputError(f"{path} is compressed: install imagecodecs to read it.") from error
    if array.size == 0 or array.ndim != len(axes):
        raise InputError(f"{path} is cut short or damaged: it says to hold {axes}, but has the shape {array.shape}.")
    if photometric == 3:
        raise InputError(f"{path} is a picture with a palette: save it as grey values or RGB.")
    return ImageFile(path, "tiff", array, _distinct(axes, path), dtype, header=header, remarks=tuple(told))


def read_png(path: Path) -> ImageFile:
    """Read a PNG file; a channel of opacity is kept aside and stays as it is.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "page.png"
    ...     Image.fromarray(np.full((40, 50, 3), 7, np.uint8)).save(path)
    ...     image = read_png(path)
    >>> image.array.shape, image.axes
    ((40, 50, 3), 'YXC')
    """
    with guarded(path):
        return _read_png(path)


def _read_png(path: Path) -> ImageFile:
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own check knows the memory
            check_chunks(path)
            # Whatever else calls itself PNG stays outside: some formats start other programs.
            with Image.open(path, formats=("PNG",)) as picture:
                check_room(path, (picture.height, picture.width, 4), 4 * WORKING_COPIES)
                dpi = picture.info.get("dpi")
                indexed = picture.mode in ("P", "PA", "CMYK", "YCbCr")
                mode = "RGBA" if "transparency" in picture.info else "RGB"
                values = np.asarray(picture.convert(mode) if indexed else picture)
    except UnidentifiedImageError as error:
        raise InputError(f"{path} is not a PNG image.") from error
    if values.dtype == np.int32:
        values = values.astype(np.uint16)  # how the library hands out 16-bit grey values
    alpha = None
    if values.ndim == 3 and values.shape[2] in (2, 4):
        values, alpha = values[..., :-1], values[..., -1]
    if values.ndim == 3 and values.shape[2] == 1:
        values = values[..., 0]
    header = PictureHeader(None if dpi is None else (float(dpi[0]), float(dpi[1])), alpha=alpha)
    precision = working_type(values.dtype, path)
    return ImageFile(path, "png", values.astype(precision), "YXC"[: values.ndim], np.dtype(values.dtype), header=header)


def read_npy(path: Path) -> ImageFile:
    """Read an NPY file: up to three axes of space, and a series along a fourth.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "image.npy"
    ...     np.save(path, np.ones((40, 50)))
    ...     read_npy(path).axes
    'XY'
    """
    stored = open_npy(path)
    if not 1 <= stored.ndim <= 4 or stored.size == 0:
        raise InputError(f"{path} has the shape {stored.shape}: one to four axes, none empty, are understood.")
    precision = working_type(stored.dtype, path)
    check_room(path, stored.shape, WORKING_COPIES * precision.itemsize)
    array = np.ascontiguousarray(stored, dtype=precision)
    return ImageFile(path, "npy", array, "XYZT"[: stored.ndim], stored.dtype.newbyteorder("="))


def open_npy(path: Path) -> Array:
    """Return the array of an NPY file, still on the disk."""
    with open(path, "rb") as handle:
        if handle.read(6) != b"\x93NUMPY":
            raise InputError(f"{path} is not an NPY file.")
        later = handle.read(2)[:1] > b"\x01"
        claimed = int.from_bytes(handle.read(4 if later else 2), "little")
    if claimed > path.stat().st_size:
        raise InputError(f"{path} is cut short or damaged: it claims a header of {claimed} bytes.")
    with guarded(path):
        return np.asanyarray(np.load(path, mmap_mode="r", allow_pickle=False))


def write_tiff(path: Path, values: Array, like: ImageFile, *, keep_dtype: bool = False) -> int:
    """Write values as TIFF, float32 or in the type of the file that was read; return how many did not fit."""
    import tifffile

    values, held = to_stored(values, like.dtype) if keep_dtype else (_single(values), 0)
    header = like.header if isinstance(like.header, PictureHeader) else PictureHeader()
    options: dict[str, Any] = {}
    if header.resolution is not None:
        options = {"resolution": header.resolution, "resolutionunit": header.unit or 2}
    colours = values.ndim == 3 and values.shape[2] == 3 and like.axes.endswith("C")
    photometric = "rgb" if colours else "minisblack"
    metadata = {"axes": _axes_of(values, like), **(header.metadata or {})}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # axes of length one, and the like
        tifffile.imwrite(path, values, photometric=photometric, metadata=metadata, **options)
    return held


def write_png(path: Path, values: Array, like: ImageFile) -> int:
    """Write values as PNG in the type of the file that was read; return how many did not fit."""
    from PIL import Image

    stored, held = to_stored(values, like.dtype)
    header: PictureHeader = like.header
    if header.alpha is not None:
        alpha = header.alpha[..., None]
        stored = np.concatenate([stored if stored.ndim == 3 else stored[..., None], alpha.astype(stored.dtype)], axis=2)
    options: dict[str, Any] = {} if header.resolution is None else {"dpi": header.resolution}
    Image.fromarray(stored).save(path, **options)
    return held


def write_npy(path: Path, values: Array, like: ImageFile, *, keep_dtype: bool = False) -> int:
    """Write values as NPY, float32 or in the type of the file that was read; return how many did not fit."""
    values, held = to_stored(values, like.dtype) if keep_dtype else (_single(values), 0)
    np.save(path, values, allow_pickle=False)
    return held


def _single(values: Array) -> Array:
    return values.astype(np.float32, copy=False) if values.dtype.kind == "f" else values


def _axes_of(values: Array, like: ImageFile) -> str:
    """Return the axes in TIFF's letters: those of the file, or what is left of them, or plain ones."""
    if values.ndim == len(like.axes):
        return like.axes.replace("C", "S") if like.axes.endswith("C") and values.shape[-1] <= 4 else like.axes
    space = "".join(a for a in like.axes if a in "XYZ")
    return space if values.ndim == len(space) else "QQQQQYX"[-values.ndim :]


def _tiff_header(tiff: Any, page: Any) -> PictureHeader:
    resolution = page.get_resolution() if "XResolution" in page.tags else None
    unit = int(page.resolutionunit) if "ResolutionUnit" in page.tags else None
    known = tiff.imagej_metadata or {}
    kept = {name: known[name] for name in ("spacing", "unit", "finterval") if name in known}
    return PictureHeader(resolution, unit, kept or None)


def _distinct(axes: str, path: Path) -> str:
    """Return axes of which one at most is a series, and one at most channels; further ones are refused."""
    free = iter("ZWV")
    out = ""
    for axis in axes:
        letter = axis if axis in "XYZTC" else "Z"
        out += letter if letter not in out else next((f for f in free if f not in axes and f not in out), "W")
    if any(a not in "XYZTC" for a in out):
        raise InputError(f"{path} has the axes {axes}: space, one series and one axis of channels are understood.")
    return out
