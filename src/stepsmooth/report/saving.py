"""Write a picture so that no reader ever sees half of it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(figure: "Figure", path: str | os.PathLike[str], *, dpi: int = 150, colours: int | None = None) -> Path:
    """Save a figure under a temporary name beside its target, then move it there in one step.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to save.
    path : path-like
        Where; the ending (``.png``, ``.pdf``, ``.svg``) decides the format.
    dpi : int
        Pixels per inch.
    colours : int, optional
        At most so many colours in a PNG file: the file becomes a third as large.

    Returns
    -------
    pathlib.Path
        The path written.

    Examples
    --------
    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(save_figure(Figure(), Path(folder) / "empty.png").name)
    empty.png
    """
    target = Path(path)
    temporary = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        # Without the writer's version in it, the same picture is the same file.
        metadata = {"Software": None} if target.suffix.lower() == ".png" else None
        figure.savefig(temporary, dpi=dpi, metadata=metadata)
        if colours is not None:
            _reduce(temporary, colours, dpi)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def _reduce(path: Path, colours: int, dpi: int) -> None:
    """Rewrite a PNG file with a palette; no dithering, so that plain areas stay plain."""
    from PIL import Image

    with Image.open(path) as picture:
        plain = picture.convert("RGB")
    method, dither = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
    reduced = plain.quantize(colours, method=method, kmeans=1, dither=dither)
    reduced.save(path, optimize=True, dpi=(dpi, dpi))
