"""The way in that all image files share. Imported by their doors, so that a fuzzer sees what the readers do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from stepsmooth.files import lay_out, read_image_file


def knock_with(name: str) -> Callable[[Path, bytes], list[str]]:
    """Return the way to knock with an image file of this name."""

    def knock(folder: Path, content: bytes) -> list[str]:
        path = folder / name
        path.write_bytes(content)
        return list(lay_out([read_image_file(path)]).remarks)

    return knock
