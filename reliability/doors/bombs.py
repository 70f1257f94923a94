"""Small files that would become large: headers that claim terabytes, and data that unpack a thousandfold."""

from __future__ import annotations

import gzip
import io
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

# What counts as free memory while bombs are tried, so that small ones do: 64 MB.
ROOM = 64 << 20
_ZEROS = 80 << 20


def _packed(content: bytes) -> bytes:
    return gzip.compress(content, 1, mtime=0)


def _nifti(shape: tuple[int, ...], offset: float = 352.0) -> bytes:
    import nibabel

    header = nibabel.Nifti1Header()
    header.set_data_shape(shape)
    header["vox_offset"], header["magic"] = offset, b"n+1"
    return bytes(header.binaryblock)


def _tiff(width: int, height: int, *, compression: int = 1, strip: bytes = bytes(256), claimed: int = 0) -> bytes:
    """Return a TIFF file of one strip, whatever it says about itself."""
    tags = {
        256: width,
        257: height,
        258: 8,
        259: compression,
        262: 1,
        273: 200,
        278: height,
        279: claimed or len(strip),
    }
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in sorted(tags.items()))
    head = b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", len(tags)) + entries + struct.pack("<I", 0)
    return head.ljust(200, b"\0") + strip


def _circle() -> bytes:
    """Return a TIFF file whose second page is followed by its first."""
    import tifffile

    buffer = io.BytesIO()
    tifffile.imwrite(buffer, np.zeros((2, 4, 5), np.uint8), photometric="minisblack", metadata=None)
    content = bytearray(buffer.getvalue())
    with tifffile.TiffFile(io.BytesIO(bytes(content))) as tiff:
        first, second = (page.offset for page in tiff.pages)
    (count,) = struct.unpack_from("<H", content, second)
    struct.pack_into("<I", content, second + 2 + 12 * count, first)
    return bytes(content)


def _png(width: int, height: int) -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(64))) + chunk(b"IEND", b"")


def _npy(shape: str) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(64)


def _parquet() -> bytes:
    """Return a table of twenty million equal numbers."""
    import pyarrow
    from pyarrow import parquet

    part = pyarrow.table({"y": pyarrow.array(np.zeros(1_000_000))})
    buffer = io.BytesIO()
    with parquet.ParquetWriter(buffer, part.schema) as writer:
        for _ in range(20):
            writer.write_table(part)
    return buffer.getvalue()


_TERABYTE = (20_000, 20_000, 2_500)
_EXTENSION = b"\1\0\0\0" + struct.pack("<ii", 2_000_000_000, 6)
BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "NIfTI of 1 TB": ("a.nii", lambda: _nifti(_TERABYTE) + bytes(4)),
    "compressed NIfTI of 1 TB": ("a.nii.gz", lambda: _packed(_nifti(_TERABYTE) + bytes(4))),
    "NIfTI with an extension of 2 GB": ("a.nii", lambda: _nifti((4, 4, 4), 3e9) + _EXTENSION),
    "compressed NIfTI with an extension that unpacks": (
        "a.nii.gz",
        lambda: _packed(_nifti((4, 4, 4), 3e9) + _EXTENSION + bytes(_ZEROS)),
    ),
    "compressed NIfTI with zeros behind it": (
        "a.nii.gz",
        lambda: _packed(_nifti((4, 4, 4)) + bytes(400) + bytes(4 * _ZEROS)),
    ),
    "TIFF of 1 TB": ("a.tif", lambda: _tiff(1_000_000, 1_000_000)),
    "TIFF with a strip that claims 4 GB": ("a.tif", lambda: _tiff(16, 16, claimed=4_000_000_000)),
    "TIFF with a strip that unpacks": (
        "a.tif",
        lambda: _tiff(16, 16, compression=8, strip=zlib.compress(bytes(_ZEROS))),
    ),
    "TIFF whose pages go round in a circle": ("a.tif", _circle),
    "PNG of 1 TB": ("a.png", lambda: _png(1_000_000, 1_000_000)),
    "NPY of 1 TB": ("a.npy", lambda: _npy("(50000, 50000, 50)")),
    "NPY with a header of 4 GB": ("a.npy", lambda: b"\x93NUMPY\x02\x00" + b"\xf0" * 4 + b"{'descr': '<f8'"),
    "CSV in one line that unpacks": ("a.csv.gz", lambda: _packed(b"1" * _ZEROS)),
    "CSV of rows that unpack": ("a.csv.gz", lambda: _packed(b"1\n" * (_ZEROS // 2))),
    "result.json nested without end": ("result.json", lambda: b"[" * 1_000_000),
    "Parquet of equal numbers": ("a.parquet", _parquet),
}


def refused(name: str) -> tuple[str | None, float]:
    """Bring one bomb in a process of its own; return the sentence that refuses it, if any, and the MB that it took."""
    ending, make = BOMBS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ending
        path.write_bytes(make())
        done = subprocess.run(
            [sys.executable, "-c", _TRY, str(path), str(ROOM)], capture_output=True, text=True, timeout=120
        )
    kind, growth, sentence = (*done.stdout.rstrip("\n").split("\t", 2), "", "", "")[:3]
    return (sentence if kind == "refused" and done.returncode == 0 else None), float(growth or "inf")


# `ru_maxrss` is in kB; what is measured is how much the attempt adds to the largest size that the process had.
_TRY = """
import resource, sys
from pathlib import Path
from stepsmooth.files import InputError, memory, read_image_file, read_signal
from stepsmooth.files.record import read_record
import nibabel, tifffile, PIL.Image, pyarrow.parquet
memory.available_memory = lambda: int(sys.argv[2])
path = Path(sys.argv[1])
table = path.name.startswith("a.csv") or path.suffix == ".parquet"
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_record(path.parent) if path.suffix == ".json" else read_signal(path) if table else read_image_file(path)
    kind, told = "read", ""
except InputError as error:
    kind, told = "refused", str(error)
growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
print(kind, growth, told, sep="\\t")
"""
