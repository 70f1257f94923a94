"""PNG files: grey, colours, a palette, opacity; checksums of chunks are made right again after the damage."""

from __future__ import annotations

import io
import struct
import zlib

import atheris
import numpy as np
from PIL import Image

from . import Door
from .images import knock_with

_START = b"\x89PNG\r\n\x1a\n"


def seeds() -> list[bytes]:
    grey = np.arange(20, dtype=np.uint8).reshape(4, 5)
    pictures = [
        Image.fromarray(grey),
        Image.fromarray(grey.astype(np.uint16)),
        Image.fromarray(np.zeros((4, 5, 3), np.uint8)),
        Image.fromarray(np.zeros((4, 5, 4), np.uint8)),
        Image.fromarray(grey).convert("P"),
        Image.fromarray(grey).convert("1"),
        Image.fromarray(grey).convert("LA"),
    ]
    out = []
    for picture in pictures:
        buffer = io.BytesIO()
        picture.save(buffer, "png", dpi=(72, 72))
        out.append(buffer.getvalue())
    return out


def mutate(content: bytes, longest: int, seed: int) -> bytes:
    """Change bytes, and three times in four let every chunk have the checksum of its content."""
    changed = atheris.Mutate(content, longest)
    if not seed % 4:
        return changed
    out, place = bytearray(_START), len(_START)
    while place + 12 <= len(changed):
        (length,) = struct.unpack(">I", changed[place : place + 4])
        body = changed[place + 4 : place + 8 + length]
        out += struct.pack(">I", length) + body + struct.pack(">I", zlib.crc32(body))
        place += 12 + length
    return bytes(out[:longest])


DOOR = Door(
    seeds,
    knock_with("a.png"),
    mutate,
    (b"IHDR", b"IDAT", b"IEND", b"PLTE", b"tRNS", b"pHYs", b"iCCP", b"zTXt", b"eXIf", b"acTL"),
)
