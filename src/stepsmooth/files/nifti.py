"""NIfTI files, their headers kept."""

import gzip
import zlib
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stepsmooth.files.errors import InputError, guarded, reason
from stepsmooth.files.image_file import WORKING_COPIES, Array, ImageFile, to_stored, working_type
from stepsmooth.files.listening import heard
from stepsmooth.files.memory import check_room
from stepsmooth.files.nifti_extensions import check_extensions
from stepsmooth.files.unpacking import unpacked_size

# A gz file may hold so much besides its image: what else is there is not worth the time to unpack it.
_SLACK = 1 << 28
_MM = {"meter": 1000.0, "mm": 1.0, "micron": 0.001}


class NiftiHeader(NamedTuple):
    """A header as nibabel has it, the affine in its units, and the scaling of the file."""

    header: Any
    affine: Array
    slope: float
    inter: float


def read_nifti(path: Path) -> ImageFile:
    """Read a NIfTI file; its header is looked at before anything is allocated.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    ImageFile
        Axes beyond the third are a series (fourth) and channels (fifth), as the standard has it.

    Examples
    --------
    >>> import tempfile
    >>> import nibabel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "T1w.nii.gz"
    ...     nibabel.save(nibabel.Nifti1Image(np.ones((4, 5, 6), np.int16), np.diag([2.0, 2, 3, 1])), path)
    ...     image = read_nifti(path)
    >>> image.array.shape, image.axes, image.spacing, str(image.array.dtype)
    ((4, 5, 6), 'XYZ', (2.0, 2.0, 3.0), 'float32')
    """
    with guarded(path):
        return _read(path)


def _read(path: Path) -> ImageFile:
    import nibabel

    with heard("nibabel.global") as told:
        try:
            kind = _kind(path)
            check_extensions(path, kind)
            image: Any = kind.from_filename(path)
        except InputError:
            raise
        except (nibabel.filebasedimages.ImageFileError, nibabel.spatialimages.HeaderDataError) as error:
            _refuse_damage(path)
            raise InputError(f"{path} is not a NIfTI image: {reason(error)}.") from error
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise InputError(f"{path} cannot be read: {reason(error)}.") from error
    header: Any = image.header
    stored_values: Any = image.dataobj
    shape = tuple(int(n) for n in image.shape)
    if not shape or min(shape) < 1 or len(shape) > 5:
        raise InputError(f"{path} has the shape {shape} by its header: two to five axes, none empty, are understood.")
    stored = np.dtype(header.get_data_dtype()).newbyteorder("=")
    precision = working_type(stored, path)
    check_room(path, shape, WORKING_COPIES * precision.itemsize)
    try:
        for part in image.file_map.values():
            _check_sum(Path(part.filename), 2 * stored.itemsize * prod(shape) + _SLACK)
        array = np.asanyarray(stored_values, dtype=precision)
    except InputError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise InputError(f"{path} is cut short or damaged: {reason(error)}.") from error
    known = int(header["sform_code"]) > 0 or int(header["qform_code"]) > 0
    scale = _MM.get(header.get_xyzt_units()[0], 1.0)
    affine = np.asarray(image.affine, dtype=np.float64)
    affine = np.vstack([affine[:3] * scale, affine[3:]])
    sizes = np.linalg.norm(affine[:3, :3], axis=0)
    if known and not (np.all(np.isfinite(affine)) and abs(np.linalg.det(affine[:3, :3])) > 0.0):
        told.append(f"{path.name} has an affine that cannot be inverted; it is kept, but not used.")
        known = False
    if not known:
        zooms = np.abs(np.asarray(header.get_zooms()[:3], dtype=np.float64)) * scale
        sizes = np.append(zooms, np.ones(3))[:3]
    sizes = np.where(np.isfinite(sizes) & (sizes > 0.0), sizes, 1.0)
    space = min(len(shape), 3)
    return ImageFile(
        path=path,
        format="nifti",
        array=np.ascontiguousarray(array),
        axes="XYZTC"[: len(shape)],
        dtype=stored,
        spacing=tuple(float(s) for s in sizes[:space]),
        affine=affine if known else None,
        header=NiftiHeader(header, image.affine, float(stored_values.slope), float(stored_values.inter)),
        remarks=tuple(told),
    )


def write_nifti(path: Path, values: Array, like: ImageFile, *, purpose: str = "", keep_dtype: bool = False) -> int:
    """Write values on the grid of another image, and return how many did not fit its type.

    Parameters
    ----------
    path : pathlib.Path
        Ends in .nii or .nii.gz.
    values : array
        On the axes of `like`; axes after the third may differ.
    like : ImageFile
        Whose header is kept: affine, codes, units, zooms, extensions.
    purpose : str
        Empty for an image like the other; what it is otherwise ("field", "labels"), which then stands in the header.
    keep_dtype : bool
        Round to the type and scaling of the file that was read; else floats become float32 with slope 1.
    """
    import nibabel

    kept: NiftiHeader = like.header
    header = kept.header.copy()
    slope, inter, held = 1.0, 0.0, 0
    if keep_dtype:
        slope, inter = kept.slope, kept.inter
        values, held = to_stored((values - inter) / slope if (slope, inter) != (1.0, 0.0) else values, like.dtype)
    elif values.dtype.kind == "f":
        values = values.astype(np.float32, copy=False)
    header.set_data_dtype(values.dtype)
    if purpose:
        header["descrip"] = f"stepsmooth {purpose}".encode()
        header["cal_min"] = header["cal_max"] = 0.0
        header.set_intent("label" if purpose == "labels" else "none")
    single: Any = nibabel.Nifti2Image if isinstance(header, nibabel.Nifti2Header) else nibabel.Nifti1Image
    image = single(values, kept.affine, _single(header, single), dtype=values.dtype)
    image.header.set_slope_inter(slope, inter)
    with heard("nibabel.global"):
        nibabel.save(image, path)
    return held


def _kind(path: Path) -> Any:
    """Return the class of nibabel that reads a file."""
    import nibabel

    sniff = None
    for kind in nibabel.imageclasses.all_image_classes:
        right, sniff = kind.path_maybe_image(str(path), sniff)
        if right and issubclass(kind, nibabel.Nifti1Pair):
            return kind
        if right:
            raise InputError(f"{path} is {kind.__name__} data, not NIfTI: convert it to .nii.gz.")
    raise nibabel.filebasedimages.ImageFileError("its header is none of that kind")


def _refuse_damage(path: Path) -> None:
    """Refuse a gz file that cannot be read to its end: that is the trouble, whatever else is said of its content."""
    try:
        if path.name.lower().endswith(".gz"):
            unpacked_size(path, _SLACK)
    except gzip.BadGzipFile as error:
        raise InputError(f"{path} is not a NIfTI image: {reason(error)}.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} is cut short or damaged: {reason(error)}.") from error


def _check_sum(path: Path, most: int) -> None:
    """Read a gz file to its end, where its checksum is: whoever stops before does not notice damage."""
    if path.name.lower().endswith(".gz") and unpacked_size(path, most) > most:
        raise InputError(f"{path} is damaged: it unpacks to more than twice what its header promises.")


def _single(header: Any, kind: Any) -> Any:
    """Return the header of a pair of files as that of a single one, extensions included."""
    if type(header) is kind.header_class:
        return header
    out = kind.header_class.from_header(header)
    for name in header.keys():  # noqa: SIM118  # a header is no dict
        if name not in ("magic", "vox_offset", "sizeof_hdr"):
            out[name] = header[name]
    out.extensions = header.extensions
    return out
