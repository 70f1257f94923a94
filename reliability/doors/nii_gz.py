"""Compressed NIfTI files: the damage is done within, to the stream, or to what comes after it."""

from __future__ import annotations

import gzip
import zlib

import atheris

from . import Door, nii
from .images import knock_with


def seeds() -> list[bytes]:
    """Return the volumes of the plain door, compressed, one of them followed by a thousandfold of itself."""
    plain = nii.seeds()
    return [*(gzip.compress(content, 1, mtime=0) for content in plain), gzip.compress(plain[0] + bytes(400_000), 9)]


def mutate(content: bytes, longest: int, seed: int) -> bytes:
    """Change the volume, or, every fourth time, the bytes of the stream: a checksum that fails ends every trial."""
    if seed % 4:
        try:
            within = zlib.decompressobj(31).decompress(content, 1024)
            return gzip.compress(atheris.Mutate(within, 768), 1, mtime=0)
        except zlib.error:
            pass
    return atheris.Mutate(content, longest)


DOOR = Door(seeds, knock_with("a.nii.gz"), mutate, longest=1024)
