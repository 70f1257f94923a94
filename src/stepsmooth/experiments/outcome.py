"""What an experiment is asked, and what it gives back: figures, numbers, and the paper's claims with a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, object]
Verdict = Literal["holds", "does not hold", "cannot be checked"]
VERDICTS: tuple[Verdict, ...] = ("holds", "does not hold", "cannot be checked")


@dataclass(frozen=True)
class Settings:
    """What was asked for.

    Attributes
    ----------
    quick : bool
        Small sizes and few datasets: minutes instead of hours.
    seeds : int or None
        Datasets for each point of a curve or row of a table; None is the experiment's own number.
    data : pathlib.Path or None
        The folder of public data that STEPSMOOTH_DATA names, if there is one.

    Examples
    --------
    >>> Settings(quick=True).count(full=100, quick=4), Settings(seeds=7).count(full=100, quick=4)
    (4, 7)
    """

    quick: bool = False
    seeds: int | None = None
    data: Path | None = None

    def count(self, *, full: int, quick: int) -> int:
        """Return how many datasets to draw."""
        return self.seeds if self.seeds is not None else (quick if self.quick else full)

    def file(self, *parts: str) -> Path | None:
        """Return a file of the data folder, or None where there is none."""
        path = None if self.data is None else self.data.joinpath(*parts)
        return path if path is not None and path.exists() else None


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that data can bear out or not.

    Attributes
    ----------
    where : str
        Section, figure or table of the paper.
    paper : str
        What it says.
    ours : str
        What was found here, with the figures.
    verdict : {"holds", "does not hold", "cannot be checked"}
        Computed from the figures.
    figure : str
        Name of the figure or table in which it is seen.
    """

    where: str
    paper: str
    ours: str
    verdict: Verdict
    figure: str = ""


def judge(found: bool | None) -> Verdict:
    """Turn a comparison into a verdict; None is one that could not be made.

    Examples
    --------
    >>> judge(True), judge(False), judge(None)
    ('holds', 'does not hold', 'cannot be checked')
    """
    return "cannot be checked" if found is None else "holds" if found else "does not hold"


@dataclass
class Outcome:
    """What an experiment found.

    Attributes
    ----------
    figures : dict of str to matplotlib.figure.Figure
        By name; each is written as PNG and SVG.
    captions : dict of str to str
        What each figure shows.
    tables : dict of str to list of rows
        The numbers behind the figures; each is written as CSV.
    shown : dict of str to sequence of str
        Of tables that the page prints: their columns.
    claims : list of Claim
    choices : list of str
        What was chosen where the paper is silent.
    missing : list of str
        What could not be run, with the reason.
    settings : dict
        Sizes, seeds and parameters.
    pages : dict of str to callable
        Pages of their own: functions that write themselves to a path.
    """

    figures: dict[str, Figure] = field(default_factory=dict)
    captions: dict[str, str] = field(default_factory=dict)
    tables: dict[str, list[Row]] = field(default_factory=dict)
    shown: dict[str, Sequence[str]] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    choices: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    settings: Row = field(default_factory=dict)
    pages: dict[str, Callable[[Path], object]] = field(default_factory=dict)
