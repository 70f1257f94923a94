"""The doors through which files come in, each with seeds and a way to knock, for a fuzzer to try.

`python -m reliability.doors NAME --runs 10000 --out DIR` tries one. What may come out of a door is an answer, or an
`InputError`: one printable sentence that names the file, raised before memory was asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# In the order of docs/reliability.md: one file each, with a `DOOR`.
NAMES = ("nii", "nii_gz", "tiff", "png", "npy", "table", "record")


@dataclass(frozen=True)
class Door:
    """A kind of file.

    Attributes
    ----------
    seeds : callable
        Returns contents that are whole: what is tried begins with them.
    knock : callable
        Is given a folder and a content, and reads it as a user's file; returns what would be told to the user.
    mutate : callable, optional
        As atheris has it: content, longest length, seed. Where bytes alone would not get far.
    words : tuple of bytes
        What the format is made of.
    longest : int
        Length of the contents, in bytes.
    """

    seeds: Callable[[], list[bytes]]
    knock: Callable[[Path, bytes], list[str]]
    mutate: Callable[[bytes, int, int], bytes] | None = None
    words: tuple[bytes, ...] = ()
    longest: int = 1024
