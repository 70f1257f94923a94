"""The page of the benchmarks: every kept record as Markdown, what was lost before what was won.

`python -m benchmarks --page docs/benchmarks.md` writes it from the records in the folder of results, whatever they say,
and keeps them in a folder beside the page, so that one benchmark can be run anew, on another machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from .harness import Row, find
from .tables import Record, cell, read, write

INTRODUCTION = """# Benchmarks

Written by `python -m benchmarks --page docs/benchmarks.md` from what the benchmarks kept; do not edit. Run them with
`python -m benchmarks NAME ...` (`--list` names them; those on real data need `STEPSMOOTH_DATA`). All methods of a table
are timed with the same number of threads, one after the other on one machine; peers have their best settings. Seeds
were not used for tuning, with three exceptions: both ion-channel traces are tuning data, and images of `icbm152` and
`head-9` were looked at while constants were chosen. A run that was cut off goes on from kept scores: then *load* and
*took* are those of its last part, and single times may hold a compilation. "Without huge pages" says that NumPy did not
ask for them, for any method: their first touch can take longer than the work on them. A *ratio* is the seconds of a
method in units of ours.

Of signals, "(3,3)" is three levels under three periods of a sine; *accuracy* is best matched, *in_order* in the order
of the levels, *all_right* the share of datasets without a wrong label. Of images, "raw" and "log" say what is
clustered; *bayes_gap* is the accuracy less that of Bayes' rule for single voxels that knows everything; *loss* the
accuracy lost to the same clusterer without a correction (ours: to k-means of the raw image); *inconsistent* the error
in finding a field that was put onto a scan; *times_n4* N4's seconds for the field alone over ours for everything, the
median over images.
"""


def page(records: Sequence[Record], names: Sequence[str] = ()) -> str:
    """Give the page as Markdown; of `names`, benchmarks without a record are said to be missing."""
    claims = [(record.name, claim) for record in records for claim in record.result.claims]
    lost = [{"benchmark": name, **claim.as_row()} for name, claim in claims if not claim.met]
    won = [{"benchmark": name, **claim.as_row()} for name, claim in claims if claim.met]
    absent = [f"`{name}`" for name in names if name not in {record.name for record in records}]
    missing = f"Not on this page, for want of a quiet run of all of it: {', '.join(absent)}.\n" if absent else ""
    parts = [INTRODUCTION, missing, machines(records), "## Peers, in our seconds\n", table(peers(records))]
    parts += [f"## What is not reached ({len(lost)} of {len(claims)})\n", table(lost, "met") or "Nothing.\n"]
    parts += [f"## What is reached ({len(won)} of {len(claims)})\n", table(won, "met")]
    for record in records:
        parts.append(f"## `{record.name}`\n\n{record.title}.\n")
        if record.error:
            parts.append(f"Failed: {record.error}\n")
        parts.append(table(record.result.rows, columns=record.result.columns))
        parts += [f"{note}\n" for note in record.result.notes]
    return "\n".join(part for part in parts if part)


def machines(records: Iterable[Record]) -> str:
    """Say on what, when and beside what load each benchmark ran."""
    rows: list[Row] = []
    for record in records:
        machine, load, only = record.machine, record.load.get("before"), record.settings.get("only")
        rows.append(
            {
                "benchmark": f"`{record.name}`",
                "when": str(machine.get("when", ""))[:10],
                "machine": f"{machine.get('cpu')}, {machine.get('cores')} cores, Python {machine.get('python')}"
                + ("" if machine.get("huge_pages", True) else ", without huge pages"),
                "threads": record.settings.get("threads"),
                "load": load[0] if isinstance(load, list) and load else None,
                "took, s": round(record.seconds),
                "only": ", ".join(str(part) for part in only) if isinstance(only, list) and only else "all of it",
            }
        )
    return "## Where\n\n" + table(rows)


def peers(records: Iterable[Record]) -> list[Row]:
    """Give the least and the largest ratio of every peer, over all rows of a benchmark."""
    rows: list[Row] = []
    for record in records:
        ratios: dict[str, list[float]] = {}
        for row in record.result.rows:
            ratio = find([row], "ratio")
            if ratio is not None and not str(row.get("method", "stepsmooth")).startswith("stepsmooth"):
                ratios.setdefault(str(row["method"]), []).append(ratio)
        for method, found in ratios.items():
            verdict = "ahead" if min(found) >= 1.0 else "behind" if max(found) < 1.0 else "ahead and behind"
            rows.append(
                {
                    "benchmark": f"`{record.name}`",
                    "peer": method,
                    "least ratio": min(found),
                    "largest": max(found),
                    "rows": len(found),
                    "we are": verdict,
                }
            )
    return rows


def table(rows: Sequence[Row], *without: str, columns: Sequence[str] = ()) -> str:
    """Lay rows out as Markdown; an error takes its own column."""
    if not rows:
        return ""
    names = [c for c in columns if any(c in r for r in rows)] or list(dict.fromkeys(k for r in rows for k in r))
    if any("error" in r for r in rows) and "error" not in names:
        names.append("error")
    names = [name for name in names if name not in without]
    numeric = {n: any(isinstance(r.get(n), (int, float)) for r in rows) for n in names}
    lines = [
        "| " + " | ".join(names) + " |",
        "|" + "|".join("---:" if numeric[n] else "---" for n in names) + "|",
        *("| " + " | ".join(_written(r.get(n)) for n in names) + " |" for r in rows),
    ]
    return "\n".join(lines) + "\n"


def _written(value: object) -> str:
    return "" if value is None else " ".join(cell(value).replace("|", "\\|").split())


def records_in(folder: Path, order: Sequence[str]) -> list[Record]:
    """Read the records of a folder, in the order of the benchmarks; quick ones say nothing and are left out."""
    found = [read(folder / f"{name}.json") for name in order if (folder / f"{name}.json").exists()]
    return [record for record in found if not record.settings.get("quick")]


def latest(records: Iterable[Record], order: Sequence[str]) -> list[Record]:
    """Give the last run of each benchmark, in the order of the benchmarks."""
    by_time = sorted(records, key=lambda record: str(record.machine.get("when", "")))
    last = {record.name: record for record in by_time}
    return [last[name] for name in order if name in last]


def write_page(path: Path, results: Path, order: Sequence[str]) -> int:
    """Write the page and keep what stands on it in the folder of its name; give the number of benchmarks."""
    kept = path.with_suffix("")
    records = latest([*records_in(kept, order), *records_in(results, order)], order)
    for record in records:
        write(record, kept)
    path.write_text(page(records, order))
    return len(records)
