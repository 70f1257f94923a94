"""What a benchmark returns, how it is printed, and how it is kept as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rich.console import Console
from rich.table import Table

from .harness import Row


@dataclass(frozen=True)
class Claim:
    """A sentence with a figure that was measured in this run, and the figure it must reach."""

    text: str
    value: float | None  # None: not measured, which is not met
    target: float
    sense: Literal["at least", "at most"] = "at least"

    @property
    def met(self) -> bool:
        """Whether the figure reaches the target."""
        if self.value is None or not math.isfinite(self.value):
            return False
        return self.value >= self.target if self.sense == "at least" else self.value <= self.target

    def as_row(self) -> Row:
        """Give the claim as a row of a table."""
        return {
            "claim": self.text,
            "value": self.value,
            "target": f"{'>=' if self.sense == 'at least' else '<='} {cell(self.target)}",
            "met": "met" if self.met else "NOT met",
        }


@dataclass
class Result:
    """Rows and claims of one benchmark."""

    rows: list[Row]
    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    columns: Sequence[str] = ()  # which columns to print, in order; all are kept in the JSON


@dataclass
class Record:
    """A result with everything needed to judge it later."""

    name: str
    title: str
    result: Result
    machine: Mapping[str, object]
    settings: Mapping[str, object]
    load: Mapping[str, object]
    seconds: float
    error: str | None = None


def cell(value: object) -> str:
    """Write one value as people read it."""
    if value is None:
        return "-"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return f"{number:.4g}" if abs(number) < 1e4 or not math.isfinite(number) else f"{number:,.0f}"
    return str(value)


def table(rows: Iterable[Row], title: str, columns: Sequence[str] = ()) -> Table:
    """Lay rows out; an error takes the place of the figures it prevented."""
    rows = list(rows)
    names = [c for c in columns if any(c in r for r in rows)] or list(dict.fromkeys(k for r in rows for k in r))
    if any("error" in r for r in rows) and "error" not in names:
        names.append("error")
    out = Table(title=title, title_justify="left", show_edge=False)
    for name in names:
        numeric = any(isinstance(r.get(name), (int, float, np.number)) for r in rows)
        out.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for r in rows:
        out.add_row(*(cell(r.get(name)) if name != "error" else str(r.get(name, "")) for name in names))
    return out


def show(record: Record, console: Console) -> None:
    """Print a benchmark's table, claims and notes."""
    if record.error:
        console.print(f"[bold]{record.name}[/bold] failed: {record.error}", markup=True)
    if record.result.rows:
        console.print(table(record.result.rows, record.title, record.result.columns))
    for note in record.result.notes:
        console.print(note, markup=False, highlight=False)
    show_claims({record.name: record.result.claims}, console)


def show_claims(claims: Mapping[str, Sequence[Claim]], console: Console) -> None:
    """Print claims as met or NOT met."""
    rows = [{"benchmark": name, **c.as_row()} for name, group in claims.items() for c in group]
    if rows:
        console.print()
        console.print(table(rows, "Claims"))
        console.print()


def write(record: Record, folder: Path) -> Path:
    """Keep a record as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record.name}.json"
    content = asdict(record)
    for kept, claim in zip(content["result"]["claims"], record.result.claims):
        kept["met"] = claim.met
    path.write_text(json.dumps(plain(content), indent=1, allow_nan=False) + "\n")
    return path


def read(path: Path) -> Record:
    """Give back what `write` kept."""
    content: dict[str, Any] = json.loads(path.read_text())
    result = content.pop("result")
    result["claims"] = [Claim(**{k: v for k, v in c.items() if k != "met"}) for c in result["claims"]]
    return Record(result=Result(**result), **content)


def plain(value: Any) -> Any:
    """Turn numpy values, tuples and non-finite numbers into what JSON has."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
