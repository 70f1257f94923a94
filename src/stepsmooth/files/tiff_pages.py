"""The chain of pages of a TIFF file: followed once before anybody reads them, since it may go round in a circle."""

from pathlib import Path
from typing import BinaryIO, Literal

from stepsmooth.files.errors import InputError

_ORDERS: dict[bytes, Literal["little", "big"]] = {b"II": "little", b"MM": "big"}


def check_pages(path: Path) -> None:
    r"""Refuse a TIFF file whose pages go round in a circle; whatever is no TIFF file is left to the reader.

    Parameters
    ----------
    path : pathlib.Path

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "cells.tif"
    ...     _ = path.write_bytes(b"II*\0" + b"\x08\0\0\0" + b"\0\0" + b"\x08\0\0\0")
    ...     check_pages(path)
    Traceback (most recent call last):
    stepsmooth.files.errors.InputError: ...cells.tif is damaged: after 1 page, it begins anew with an earlier one.
    """
    with open(path, "rb") as handle:
        order = _ORDERS.get(handle.read(2))
        if order is None:
            return
        # Classic TIFF counts tags of 12 bytes in 2 and places in 4 bytes; its larger brother has 20, 8 and 8.
        large = int.from_bytes(handle.read(2), order) in (43, 0x4E31)
        count_bytes, tag_bytes, place_bytes = (8, 20, 8) if large else (2, 12, 4)
        handle.seek(8 if large else 4)
        seen: set[int] = set()
        place = _number(handle, place_bytes, order)
        while place:
            if place in seen:
                pages = f"{len(seen)} page" + "s" * (len(seen) > 1)
                raise InputError(f"{path} is damaged: after {pages}, it begins anew with an earlier one.")
            seen.add(place)
            handle.seek(place)
            count = _number(handle, count_bytes, order)
            handle.seek(place + count_bytes + tag_bytes * count)
            place = _number(handle, place_bytes, order)


def _number(handle: BinaryIO, length: int, order: Literal["little", "big"]) -> int:
    """Return the next number of a file; past its end that is 0, which ends the chain."""
    found = handle.read(length)
    return int.from_bytes(found, order) if len(found) == length else 0
