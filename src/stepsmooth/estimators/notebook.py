"""A fitted estimator as a notebook shows it: its levels, a small picture, and scikit-learn's table of parameters."""

import struct
import zlib
from base64 import b64encode
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import estimator_html_repr

from stepsmooth.estimators.grid_image import to_layout

# Okabe and Ito's palette, told apart by everyone; more levels go round.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
WIDTH, HEIGHT, SIDE = 420, 90, 150  # pixels of a trace, and of an image's longer side
DOTS = 600


def notebook_html(m: Any) -> str:
    """Return scikit-learn's view of an estimator and, once it is fitted, what it found.

    Examples
    --------
    >>> from stepsmooth import decompose
    >>> m = decompose([0.0, 0.1, 3.0, 3.1, 2.9, 0.0, -0.1, 3.0], tau=1e3, start="kmeans")
    >>> page = notebook_html(m)
    >>> "<svg" in page, "50.0 %" in page, "sk-container" in page
    (True, True, True)
    """
    about: str = estimator_html_repr(m)
    return about if not hasattr(m, "labels_") else _found(m) + about


def mime_bundle(m: Any, shown: bool) -> dict[str, str]:
    """Return the estimator as text and, if diagrams are shown, as HTML: what IPython asks for."""
    return {"text/plain": repr(m)} | ({"text/html": notebook_html(m)} if shown else {})


def _found(m: Any) -> str:
    cells = 'style="padding: 2px 18px 2px 0; text-align: left"'
    heads = "".join(f"<th {cells}>{head}</th>" for head in ("level", "value", "share", "noise sd"))
    rows = "".join(
        f"<tr>{''.join(f'<td {cells}>{cell}</td>' for cell in _row(m, k))}</tr>" for k in range(len(m.levels_))
    )
    words = "<br>".join(escape(line) for line in m.summary().splitlines() if not line.startswith("  "))
    style = "border-collapse: collapse; margin: 6px 0; font-size: inherit"
    table = f'<table style="{style}"><tr>{heads}</tr>{rows}</table>'
    picture = _trace(m) if hasattr(m, "_data") else _slices(m)
    return f'<div style="font-family: sans-serif; font-size: 13px">{words}{table}{picture}</div>'


def _row(m: Any, k: int) -> tuple[str, ...]:
    level = ", ".join(f"{value:.4g}" for value in np.atleast_1d(m.levels_[k]))
    variance = np.asarray(m.noise_variance_)
    noise = ", ".join(f"{sd:.3g}" for sd in np.sqrt(np.atleast_1d(variance[k] if variance.ndim else variance)))
    chip = f'<svg width="11" height="11"><rect width="11" height="11" rx="2" fill="{_colour(k)}"/></svg>'
    return f"{chip} {k}", level, f"{100 * m.proportions_[k]:.1f} %", noise


def _colour(k: int) -> str:
    return COLOURS[k % len(COLOURS)]


def _trace(m: Any) -> str:
    """Return the first channel over the first axis as dots in the colours of their labels; nothing without points."""
    if m.__sklearn_tags__().input_tags.pairwise:
        return ""
    X, y = (np.asarray(a, dtype=np.float64).reshape(len(m.labels_), -1)[:, 0] for a in m._data)
    kept = np.flatnonzero((m.labels_ >= 0) & np.isfinite(y))
    kept = kept[np.unique(np.linspace(0, len(kept) - 1, min(DOTS, len(kept))).astype(np.int64))]
    across, up = (_scaled(a[kept], size) for a, size in ((X, WIDTH), (y, HEIGHT)))
    dots = "".join(
        f'<circle cx="{a:.1f}" cy="{HEIGHT - b:.1f}" r="1.6" fill="{_colour(k)}"/>'
        for a, b, k in zip(across, up, m.labels_[kept])
    )
    return f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="observations by level">{dots}</svg>'


def _scaled(values: NDArray[Any], size: int) -> NDArray[Any]:
    low, span = values.min(), np.ptp(values)
    return np.asarray(3.0 + (size - 6.0) * (values - low) / (span if span > 0.0 else 1.0))


def _slices(m: Any) -> str:
    """Return the middle slice of the corrected image and of the labels, side by side."""
    labels = np.asarray(m.labels_)
    corrected = to_layout(np.asarray(m.corrected_), *m._axes)[0, 0]
    labels = labels if m._axes[1] is None else np.take(labels, 0, m._axes[1])
    while labels.ndim > 2:
        corrected, labels = (a[..., a.shape[-1] // 2] for a in (corrected, labels))
    if labels.ndim < 2:
        return ""
    stride = max(-(-max(labels.shape) // (2 * SIDE)), 1)
    corrected, labels = corrected[::stride, ::stride], labels[::stride, ::stride]
    seen = corrected[labels >= 0] if np.any(labels >= 0) else corrected
    high = float(np.nanquantile(seen, 0.995))
    low = min(0.0, float(np.nanmin(seen)))
    grey = np.clip(np.nan_to_num((corrected - low) / (high - low or 1.0)), 0.0, 1.0)
    table = [(0, 0, 0), *(tuple(bytes.fromhex(_colour(k)[1:])) for k in range(len(m.levels_)))]
    pictures = (np.repeat((255 * grey).astype(np.uint8)[..., None], 3, axis=2), np.array(table, np.uint8)[labels + 1])
    return " ".join(_image(pixels, word) for pixels, word in zip(pictures, ("corrected", "labels")))


def _image(pixels: NDArray[np.uint8], word: str) -> str:
    height, width = (round(SIDE * size / max(pixels.shape[:2])) for size in pixels.shape[:2])
    source = b64encode(png(pixels)).decode()
    return f'<img src="data:image/png;base64,{source}" width="{width}" height="{height}" alt="{word}" title="{word}">'


def png(pixels: NDArray[np.uint8]) -> bytes:
    r"""Return (rows, columns, 3) pixels as a PNG file.

    Examples
    --------
    >>> png(np.zeros((2, 3, 3), dtype=np.uint8))[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    rows, columns = pixels.shape[:2]
    plain = np.concatenate([np.zeros((rows, 1), np.uint8), pixels.reshape(rows, -1)], axis=1).tobytes()

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">2I5B", columns, rows, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(plain)) + chunk(b"IEND", b"")
