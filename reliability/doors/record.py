"""`result.json` of a signal and of an image, as every command reads it, with the other files of the folder whole."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from pathlib import Path
from typing import Any

import atheris
import numpy as np

from stepsmooth.files import OutputError, ResultFolder
from stepsmooth.files.record import read_record
from stepsmooth.files.record_parts import told_certificate
from stepsmooth.files.stored import certify_stored

from . import Door

_CERTIFICATE = {"verdict": "identified", "margin": 1.5, "words": "The labels are identified."}
_COMMON: dict[str, Any] = {
    "levels": [{"label": 1, "level": 1.0}, {"label": 2, "level": 2.0}],
    "noise": {"variance": [1e-6, 1e-6], "of": "values"},
    "quality": {"verdict": "helped"},
    "certificate": _CERTIFICATE,
    "remarks": [],
}
_SIGNAL = _COMMON | {
    "stepsmooth": {"version": "0.1.0", "format": 1, "kind": "signal"},
    "settings": {},
    "outputs": ["decomposition.csv", "result.json"],
}
_IMAGE = _COMMON | {
    "stepsmooth": {"version": "0.1.0", "format": 1, "kind": "image"},
    "settings": {"additive": True, "channel_axis": None, "keep_dtype": False},
    "layout": {"axes": "XY", "spacing": [1.0, 1.0], "corrected": ["a_corrected"]},
    "outputs": ["a_corrected.npy", "field.npy", "labels.npy", "result.json"],
}
_HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 3.5, 1e308, -1e308, 10**30, float("nan"), float("inf")),
    *("", "a", "../a", "/etc/passwd", "\x00", "\x1b[31m", "\ud800", "identified", "image", "signal", "logarithms"),
    *([], {}, [[]], [[1.0, 2.0], [3.0, 4.0]], [1.0], [1.0] * 3, {"a": 1}, ["a"] * 300),
)


def seeds() -> list[bytes]:
    return [json.dumps(record).encode() for record in (_SIGNAL, _IMAGE)] + [b"[" * 500]


def knock(folder: Path, content: bytes) -> list[str]:
    """Read the record, tell its certificate, compute it anew, and look whether the folder could be overwritten."""
    place = folder / "result"
    if not place.exists():
        _furnish(place)
    (place / "result.json").write_bytes(content)
    with contextlib.suppress(OutputError):
        ResultFolder(place, overwrite=True)._check_target()
    told_certificate(place, read_record(place))
    certify_stored(place)
    return []


def _furnish(place: Path) -> None:
    place.mkdir()
    rows = "\n".join(f"{i},{i % 2 + 1.01},0.0,{i % 2 + 1},{i % 2 + 1}" for i in range(8))
    (place / "decomposition.csv").write_text(f"x,y,smooth,step,label\n{rows}\n")
    labels = np.indices((3, 4)).sum(axis=0) % 2
    np.save(place / "a_corrected.npy", labels + 1.01)
    np.save(place / "field.npy", np.zeros((3, 4)))
    np.save(place / "labels.npy", (labels + 1).astype(np.uint8))


def mutate(content: bytes, longest: int, seed: int) -> bytes:
    """Put something hostile somewhere into the record, or, every fourth time, change bytes."""
    draw = random.Random(seed)
    if draw.random() < 0.75:
        try:
            record = json.loads(content)
            for _ in range(draw.randint(1, 3)):
                record = _replaced(record, draw)
            return json.dumps(record).encode()[:longest]
        except (ValueError, RecursionError):
            pass
    return atheris.Mutate(content, longest)


def _replaced(node: Any, draw: random.Random) -> Any:
    if not node or not isinstance(node, (dict, list)) or draw.random() < 0.15:
        return copy.deepcopy(draw.choice(_HOSTILE))
    key = draw.choice(list(node) if isinstance(node, dict) else range(len(node)))
    if draw.random() < 0.1:
        del node[key]
    else:
        node[key] = _replaced(node[key], draw)
    return node


DOOR = Door(seeds, knock, mutate, longest=2048)
