"""TIFF files: strips and tiles, pages and series, compressed and not, ImageJ's and OME's."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import tifffile

from . import Door
from .images import knock_with

_GREY, _DEEP = np.arange(20, dtype=np.uint8).reshape(4, 5), np.arange(60, dtype=np.uint16).reshape(3, 4, 5)
_KINDS: tuple[tuple[Any, dict[str, Any]], ...] = (
    (_GREY, {}),
    (_GREY, {"bigtiff": True}),
    (_GREY, {"byteorder": ">"}),
    (_GREY, {"compression": "zlib"}),
    (_GREY, {"compression": "lzma"}),
    (_GREY.astype(np.float32), {"resolution": (72, 72), "resolutionunit": 2}),
    (_GREY > 3, {}),
    (_DEEP, {"metadata": {"axes": "ZYX"}}),
    (_DEEP, {"imagej": True, "metadata": {"axes": "ZYX", "spacing": 2.0, "unit": "um"}}),
    (_DEEP, {"ome": True, "metadata": {"axes": "TYX"}}),
    (np.zeros((4, 5, 3), np.uint8), {"photometric": "rgb"}),
    (_GREY, {"photometric": "palette", "colormap": np.zeros((3, 256), np.uint16)}),
    (np.zeros((16, 16), np.uint8), {"tile": (16, 16)}),
)


def seeds() -> list[bytes]:
    out = []
    for values, options in _KINDS:
        buffer = io.BytesIO()
        tifffile.imwrite(buffer, values, **options)
        out.append(buffer.getvalue())
    return out


DOOR = Door(
    seeds,
    knock_with("a.tif"),
    words=(b"II*\0", b"MM\0*", b"ImageJ=1.11a\nimages=3\n", b"<OME", b'{"shape": [4, 5]}'),
    longest=1536,
)
