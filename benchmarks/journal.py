"""Scores of single datasets, kept as they come: a long run that is cut off goes on where it was.

A journal belongs to the code that wrote it: another digest of the sources, another file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .harness import Row

ROOT = Path(__file__).parents[1]


@cache
def digest_of_sources() -> str:
    """Digest of every source that a score could depend on."""
    digest = hashlib.sha256()
    for path in sorted(p for part in ("src", "benchmarks") for p in (ROOT / part).rglob("*.py")):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


class Journal:
    """The scores of one task, told by its name: a line of JSON for each dataset. Without a folder nothing is kept."""

    def __init__(self, folder: Path | None, name: str) -> None:
        digest = hashlib.sha256(name.encode()).hexdigest()[:16]
        self.path = folder / digest_of_sources() / f"{digest}.jsonl" if folder else None

    def read(self) -> dict[int, dict[str, Row]]:
        """Return the scores by the number of their dataset; a line that was cut off is left out."""
        found: dict[int, dict[str, Row]] = {}
        for line in self.path.read_text().splitlines() if self.path and self.path.exists() else ():
            try:
                number, scores = json.loads(line)
            except ValueError:
                continue
            found[number] = scores
        return found

    def add(self, number: int, scores: dict[str, Row]) -> None:
        """Append the scores of a dataset; one on which a method failed is to be tried again."""
        if not self.path or any("error" in row for row in scores.values()):
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write("\n" + json.dumps([number, scores], default=lambda value: value.tolist()))


def name_of(task: Callable[..., object]) -> str:
    """Name a task by its function and by what is bound to it."""
    if isinstance(task, partial):
        return f"{name_of(task.func)}{task.args!r}{task.keywords!r}"
    return f"{task.__module__}.{task.__qualname__}"
