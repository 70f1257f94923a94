"""Delimited text as a signal. The first byte of a content chooses an ending and options, the others are the file."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from stepsmooth.files import read_signal

from . import Door

_ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz")
_OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"y": ["2"]},
    {"y": ["2", "3"], "rate": 10.0},
    {"x": "1", "y": ["2"], "weights": "3"},
    {"y": ["2"], "sweep_column": "3", "sweep": "all"},
    {"y": ["2"], "sweep_column": "1"},
)
_TEXTS = (
    b"time,current\n0.0,1.5\n0.1,2.5\n0.2,NA\n",
    b"# Lab 3\nZeit;Strom;Gewicht\n0;1,5;1\n1;2,5;1\n2;3,5;0\n",
    b"0\t1\t1\n1\t2\t1\n2\t3\t2\n3\t5\t2\n",
    b'"a, b","c ""d"""\n1,2\n3,\n',
    b"\xef\xbb\xbfx,y\r\n0,1e308\r\n1,-inf\r\n",
    b"1 2 3\n4 5 6\n7 8 9\n",
    b"x\n1\n2\n\n3\n",
)
_RAW = 64  # the file ends in .gz, and is what stands there, compressed or not


def seeds() -> list[bytes]:
    out = []
    for number, text in enumerate(_TEXTS):
        for options in range(len(_OPTIONS)):
            out.append(bytes([number % 4 + 4 * options]) + text)
    return [*out, bytes([3 + _RAW]) + gzip.compress(_TEXTS[0], 1, mtime=0)]


def knock(folder: Path, content: bytes) -> list[str]:
    choice, text = (content[0] if content else 0), content[1:]
    ending = _ENDINGS[choice % 4]
    path = folder / f"a{ending}"
    path.write_bytes(gzip.compress(text, 1, mtime=0) if ending == ".csv.gz" and not choice & _RAW else text)
    return list(read_signal(path, **_OPTIONS[(choice >> 2) % 16 % len(_OPTIONS)]).remarks)


_WORDS = (
    b"NA",
    b"nan",
    b"inf",
    b"1e308",
    b"-1e-308",
    b"0x1p3",
    b"1_0",
    b"\r\n",
    b"\r",
    b'"',
    b'""',
    b";",
    b"\t",
    b"#",
    b"\xef\xbb\xbf",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
)
DOOR = Door(seeds, knock, words=_WORDS, longest=512)
