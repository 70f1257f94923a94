"""The extensions of a NIfTI header: how long each claims to be, looked at before anybody reads it."""

import gzip
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from stepsmooth.files import memory
from stepsmooth.files.errors import InputError


def check_extensions(path: Path, kind: Any) -> None:
    r"""Refuse a file whose header claims extensions that it cannot have, or that do not fit into memory.

    Parameters
    ----------
    path : pathlib.Path
    kind : type
        The class of nibabel that will read it.

    Examples
    --------
    >>> import tempfile
    >>> import nibabel
    >>> header = nibabel.Nifti1Header()
    >>> header["magic"], header["vox_offset"] = b"n+1", 1e9
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "T1w.nii"
    ...     _ = path.write_bytes(header.binaryblock + b"\1\0\0\0" + np.array([2_000_000_000, 6], "=i4").tobytes())
    ...     check_extensions(path, nibabel.Nifti1Image)
    Traceback (most recent call last):
    stepsmooth.files.errors.InputError: ...T1w.nii is cut short or damaged: an extension ... claims 2000000000 bytes...
    """
    parts = kind.filespec_to_file_map(str(path))
    place = Path(parts["header" if "header" in parts else "image"].filename)
    packed = place.name.lower().endswith(".gz")
    size = None if packed else place.stat().st_size
    with cast(BinaryIO, gzip.open(place)) if packed else open(place, "rb") as handle:
        head = handle.read(kind.header_class.template_dtype.itemsize)
        if len(head) < kind.header_class.template_dtype.itemsize or handle.read(4)[:1] in (b"", b"\0"):
            return
        header = kind.header_class(head, check=False)
        number = np.dtype(np.int32).newbyteorder(header.endianness)
        at = len(head) + 4
        # As the reader goes: up to the image, or, where that begins before or elsewhere, to the end of the file.
        left = float(header["vox_offset"]) - at if header.is_single else -1.0
        while left >= 16 or left < 0:
            claim = handle.read(8)
            if len(claim) < 8:
                return
            claimed = int(np.frombuffer(claim, number)[0])
            # What is packed may be longer than the file, but not than memory, in which it is kept twice.
            most = size - at if size is not None else (memory.available_memory() or 1 << 31) // 2
            if not 8 <= claimed <= most:
                raise InputError(
                    f"{path} is cut short or damaged: an extension of its header claims {claimed} bytes, "
                    f"8 to {most} can be."
                )
            handle.seek(claimed - 8, 1)
            at, left = at + claimed, left - claimed
