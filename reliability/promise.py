"""A promise, and how thoroughly it is checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Profile:
    """How much to run, and where to leave what broke.

    Attributes
    ----------
    quick : bool
        A hundredth of the cases.
    jobs : int
        Processes side by side.
    seed : int
        Of what is drawn at random.
    out : Path
        Folder for logs and failing inputs.
    """

    quick: bool
    jobs: int
    seed: int
    out: Path

    def cases(self, n: int) -> int:
        """Number of cases of which the whole check runs `n`."""
        return max(n // 100, 1) if self.quick else n


@dataclass(frozen=True)
class Promise:
    """What was promised, whether it was kept, and the count behind that.

    Attributes
    ----------
    text : str
        The promise, in the words of docs/reliability.md.
    kept : bool
        Whether no case broke it.
    count : str
        What was counted: "0 of 10,000 cases", "96.1 % of lines".
    """

    text: str
    kept: bool
    count: str

    def __str__(self) -> str:
        return f"{self.text}: {self.count}"
