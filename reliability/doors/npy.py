"""NPY files, as images and as tables: the header is Python text, and may name any type."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from stepsmooth.files import lay_out, read_image_file, read_signal

from . import Door


def seeds() -> list[bytes]:
    arrays = [
        np.arange(20, dtype=np.uint8).reshape(4, 5),
        np.arange(24.0).reshape(12, 2),
        np.asfortranarray(np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)),
        np.arange(9, dtype=">i2"),
        np.array([(0.0, 1), (1.0, 2)], dtype=[("x", "f8"), ("y", "i4")]),
        np.array([1 + 2j, 3]),
        np.array(["a", "b"]),
        np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"),
        np.array([{"an": "object"}], dtype=object),
    ]
    out = []
    for array in arrays:
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=True)
        out.append(buffer.getvalue())
    return out


def knock(folder: Path, content: bytes) -> list[str]:
    """Read the first half of the contents as images, the others as tables: the last bit says which."""
    path = folder / "a.npy"
    path.write_bytes(content)
    if content[-1:] and content[-1] & 1:
        return list(read_signal(path).remarks)
    return list(lay_out([read_image_file(path)]).remarks)


_WORDS = (
    b"'descr': ",
    b"'fortran_order': True",
    b"'shape': (4, 5)",
    b"'<f8'",
    b"'|O'",
    b"[('x', '<f8'), ('y', '<i4')]",
    b"'<m8[ns]'",
)
DOOR = Door(seeds, knock, words=_WORDS, longest=512)
