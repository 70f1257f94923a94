"""One page that shows every experiment beside the paper's claims; and the claims alone, as Markdown."""

from __future__ import annotations

import math
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from stepsmooth.experiments.catalogue import EXPERIMENTS
from stepsmooth.experiments.outcome import VERDICTS, Settings
from stepsmooth.experiments.storing import stored, write_atomically

TONES = dict(zip(VERDICTS, ("good", "bad", "plain")))


def write_page(folder: Path, settings: Settings, failures: Mapping[str, str] | None = None) -> Path:
    """Write ``index.html``: pictures are in it, numbers and vector graphics lie beside it.

    Parameters
    ----------
    folder : pathlib.Path
        With the results of experiments; all that are finished are shown, the others are named.
    settings : Settings
        Of the last run, for the page's first lines.
    failures : mapping of str to str, optional
        Experiments of that run that failed, and why.

    Returns
    -------
    pathlib.Path
        The page.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from stepsmooth import __version__

    environment = Environment(
        loader=PackageLoader("stepsmooth.experiments"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cell"] = cell
    style = files("stepsmooth.experiments").joinpath("templates/index.css").read_text("utf-8")
    records = [record for e in EXPERIMENTS if (record := stored(e.name, folder)) is not None]
    there = {record["name"] for record in records}
    counts = Counter(claim["verdict"] for record in records for claim in record["claims"])
    page = environment.get_template("index.html").render(
        records=[_section(record, folder) for record in records],
        counts=[(verdict, counts[verdict], TONES[verdict]) for verdict in VERDICTS],
        failures=sorted((failures or {}).items()),
        absent=[e for e in EXPERIMENTS if e.name not in there and e.name not in (failures or {})],
        quick=settings.quick,
        data=settings.data is not None,
        version=__version__,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        style=style,
        style_hash="sha256-" + b64encode(sha256(style.encode()).digest()).decode(),
        tones=TONES,
    )
    return write_atomically(folder / "index.html", page)


def _section(record: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Put the pictures of an experiment into its record."""
    pictures = []
    for name, caption in record["figures"].items():
        file = folder / record["name"] / f"{name}.png"
        if file.exists():
            data = b64encode(file.read_bytes()).decode()
            pictures.append({"name": name, "caption": caption, "source": f"data:image/png;base64,{data}"})
    tables = [
        {"name": name, **table, "columns": _used(table)} | {"rows": _kept(table)}
        for name, table in record["shown"].items()
    ]
    return {**record, "pictures": pictures, "printed": tables}


def _used(table: dict[str, Any]) -> list[str]:
    """Return the columns of a printed table that are not empty."""
    return [c for i, c in enumerate(table["columns"]) if any(row[i] not in (None, "") for row in table["rows"])]


def _kept(table: dict[str, Any]) -> list[list[Any]]:
    used = [i for i, c in enumerate(table["columns"]) if c in _used(table)]
    return [[row[i] for i in used] for row in table["rows"]]


def cell(value: object) -> str:
    """Write one value as people read it.

    Examples
    --------
    >>> cell(0.123456), cell(1234), cell(True), cell(None)
    ('0.1235', '1,234', 'yes', '')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return str(value)


def write_claims(folder: Path) -> Path:
    """Write ``claims.md``: every claim with its verdict and the figure behind it."""
    return write_atomically(folder / "claims.md", claims_table(folder))


def claims_table(folder: Path) -> str:
    """Return the claims of all finished experiments as a Markdown table.

    Examples
    --------
    >>> print(claims_table(Path("no such folder")).splitlines()[0])
    | in the paper | it says | verdict | found here | figure or table |
    """
    lines = ["| in the paper | it says | verdict | found here | figure or table |", "|---|---|---|---|---|"]
    for experiment in EXPERIMENTS:
        record = stored(experiment.name, folder)
        for claim in [] if record is None else record["claims"]:
            place = f"{experiment.name}/{claim['figure']}" if claim["figure"] else experiment.name
            cells = (claim["where"], claim["paper"], f"*{claim['verdict']}*", claim["ours"], f"`{place}`")
            lines.append("| " + " | ".join(text.replace("|", "\\|").replace("\n", " ") for text in cells) + " |")
    return "\n".join(lines) + "\n"
