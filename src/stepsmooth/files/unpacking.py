"""What compressed data become when they are unpacked: counted piece by piece, before anybody keeps them."""

import gzip
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepsmooth.files import memory
from stepsmooth.files.errors import InputError
from stepsmooth.files.memory import in_words

_PIECE = 1 << 20
# No stream unpacks to more times its length: 1032 is deflate's limit, the other is beyond what xz reaches.
_MOST = {"deflate": 1032, "lzma": 10_000}


def unpacked_size(path: Path, most: float = float("inf")) -> int:
    """Return how many bytes a gz file unpacks to, its checksum looked at; stop when there are more than `most`.

    Parameters
    ----------
    path : pathlib.Path
        Ends in .gz.
    most : float
        Whoever wants no more than that does not wait for the rest.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "zeros.gz"
    ...     _ = path.write_bytes(gzip.compress(bytes(5_000_000)))
    ...     path.stat().st_size < 10_000, unpacked_size(path), unpacked_size(path, 1000) < 2_000_000
    (True, 5000000, True)
    """
    size = 0
    with gzip.open(path) as handle:
        while size <= most and (piece := handle.read(_PIECE)):
            size += len(piece)
    return size


def check_text(path: Path) -> None:
    """Refuse a text file, compressed or not, that would not fit into memory as numbers.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "trace.csv"
    ...     _ = path.write_text("1,2")
    ...     check_text(path)
    """
    free = memory.available_memory()
    if free is None:
        return
    # The shortest row, a digit and the end of its line, becomes a float64; shorter columns are kept as text meanwhile.
    most = free / 8
    packed = path.name.lower().endswith(".gz")
    size = unpacked_size(path, most) if packed else path.stat().st_size
    if size > most:
        raise InputError(
            f"{path} holds {'more than ' if packed else ''}{in_words(size)} of text, too much for the "
            f"{in_words(free)} of memory that are free: take fewer rows."
        )


def check_segments(path: Path, pages: Any) -> None:
    """Refuse a TIFF file one of whose strips or tiles is longer than the file, or unpacks to more than memory can hold.

    Parameters
    ----------
    path : pathlib.Path
    pages : sequence of tifffile pages
    """
    size, free = path.stat().st_size, memory.available_memory()
    for page in pages:
        kind = {8: "deflate", 32946: "deflate", 34925: "lzma"}.get(int(getattr(page, "compression", 1)))
        for place, length in zip(getattr(page, "dataoffsets", ()), getattr(page, "databytecounts", ())):
            if length > size:
                raise InputError(
                    f"{path} is cut short or damaged: it claims a strip of {length} bytes, and has {size}."
                )
            if kind is None or free is None or length * _MOST[kind] <= free:
                continue
            if _grows_beyond(path, kind, place, length, free):
                raise InputError(
                    f"{path} is damaged: {in_words(length)} of it unpack to more than the {in_words(free)} of memory "
                    "that are free."
                )


def _grows_beyond(path: Path, kind: str, place: int, length: int, most: int) -> bool:
    stream: Any = zlib.decompressobj() if kind == "deflate" else lzma.LZMADecompressor()
    size = 0
    for piece in _pieces(path, place, length):
        while size <= most and not stream.eof:
            try:
                got = len(stream.decompress(piece, _PIECE))
            except (zlib.error, lzma.LZMAError):
                return False  # whoever unpacks it will say so
            size += got
            piece = stream.unconsumed_tail if kind == "deflate" else b""  # lzma keeps its own
            if not got and not piece:
                break
    return size > most


def _pieces(path: Path, place: int, length: int) -> Iterator[bytes]:
    with open(path, "rb") as handle:
        handle.seek(place)
        while length > 0 and (piece := handle.read(min(length, _PIECE))):
            length -= len(piece)
            yield piece
