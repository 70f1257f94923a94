"""Pictures that live inside the page: figures and images as data addresses, so that nothing is fetched."""

import io
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stepsmooth.model.arrays import Anything

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Bytes3 = NDArray[np.uint8]


@dataclass(frozen=True)
class Picture:
    """A picture as a data address, what it shows in words, its caption, and its size in pixels."""

    source: str
    alt: str
    caption: str = ""
    width: int = 0
    height: int = 0


def figure_picture(figure: "Figure", alt: str, caption: str = "") -> Picture:
    """Return a figure as a drawing that stays sharp at any size and on paper; the figure is closed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> picture = figure_picture(Figure(figsize=(2, 1)), "nothing")
    >>> picture.source[:26], picture.width
    ('data:image/svg+xml;base64,', 192)
    """
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    stream = io.BytesIO()
    # Without a date and with a fixed salt the same figure is the same file.
    with mpl.rc_context({"svg.hashsalt": "stepsmooth"}):
        figure.savefig(stream, format="svg", metadata={"Date": None}, dpi=150)
    plt.close(figure)
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    return Picture(data_address(stream.getvalue(), "image/svg+xml"), alt, caption, width, height)


def array_picture(pixels: Bytes3, alt: str, caption: str = "") -> Picture:
    """Return pixels, (rows, columns) grey or (rows, columns, 3 or 4) in colour, as a picture.

    Examples
    --------
    >>> picture = array_picture(np.zeros((2, 3), dtype=np.uint8), "black")
    >>> picture.source[:22], picture.width, picture.height
    ('data:image/png;base64,', 3, 2)
    """
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, format="PNG")
    return Picture(data_address(stream.getvalue(), "image/png"), alt, caption, pixels.shape[1], pixels.shape[0])


def data_address(content: bytes, kind: str) -> str:
    """Return content as an address that needs no network.

    Examples
    --------
    >>> data_address(b"a", "text/plain")
    'data:text/plain;base64,YQ=='
    """
    return f"data:{kind};base64,{in_text(content)}"


def in_text(content: bytes | NDArray[Any]) -> str:
    """Return bytes, or the bytes of an array, as base64 text.

    Examples
    --------
    >>> in_text(np.array([1, 2], dtype="<u2"))
    'AQACAA=='
    """
    return b64encode(content if isinstance(content, bytes) else content.tobytes()).decode()


def grey_pixels(values: NDArray[Any], low: float, high: float) -> Bytes3:
    """Return values as grey from black at `low` to white at `high`; missing values are black.

    Examples
    --------
    >>> grey_pixels(np.array([[0.0, 1.0, np.nan, 9.0]]), 0.0, 2.0)
    array([[  0, 128,   0, 255]], dtype=uint8)
    """
    span = high - low if high > low else 1.0
    return np.asarray(np.rint(255.0 * np.clip(np.nan_to_num((values - low) / span), 0.0, 1.0)), dtype=np.uint8)


def mapped_pixels(values: NDArray[Any], low: float, high: float, inside: NDArray[Any], name: str) -> Bytes3:
    """Return values in the colours of a map, black where there is nothing to show.

    Examples
    --------
    >>> mapped_pixels(np.array([[0.0, 1.0]]), 0.0, 1.0, np.array([[True, False]]), "cividis").tolist()
    [[[0, 34, 78], [0, 0, 0]]]
    """
    from matplotlib import colormaps

    colours = (255.0 * colormaps[name](np.linspace(0.0, 1.0, 256))[:, :3]).round().astype(np.uint8)
    return np.asarray(np.where(inside[..., None], colours[grey_pixels(values, low, high)], 0), dtype=np.uint8)


def label_pixels(labels: NDArray[Any], colours: Anything) -> Bytes3:
    """Return labels in the colours of their levels, black where there is none.

    Examples
    --------
    >>> label_pixels(np.array([[-1, 0]]), ["#0072B2"]).tolist()
    [[[0, 0, 0], [0, 114, 178]]]
    """
    table = np.array([(0, 0, 0), *(rgb(colour) for colour in colours)], dtype=np.uint8)
    return np.asarray(table[labels + 1])


def rgb(colour: str) -> tuple[int, int, int]:
    """Return the parts of a hexadecimal colour.

    Examples
    --------
    >>> rgb("#0072B2")
    (0, 114, 178)
    """
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
