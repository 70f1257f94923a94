"""The end of a run: a verdict, a report, a record, and what is said at the terminal."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from stepsmooth.cli.exits import ExitCode, end, in_options, noted

if TYPE_CHECKING:
    from stepsmooth.files import ResultFolder
    from stepsmooth.model.arrays import Anything

REPORT = "report.html"


class Verdicts(NamedTuple):
    """What is known of a fit without the truth: a certificate and figures of quality, None where there are none."""

    certificate: Any
    quality: Any

    @property
    def worse(self) -> bool:
        """Whether the fit made it worse."""
        return self.quality is not None and self.quality.verdict == "made worse"


def judge(m: "Anything", remarks: list[str]) -> Verdicts:
    """Return the certificate and the quality of a fit; where one cannot be given, a remark says why."""
    from stepsmooth.report import quality

    found: list[Any] = []
    with noted(remarks):
        for what, ask in (("certificate", m.certificate), ("figures of quality", lambda: quality(m))):
            try:
                found.append(ask())
            except ValueError as error:
                found.append(None)
                remarks.append(in_options(f"No {what}: {error}"))
    return Verdicts(*found)


def conclude(
    results: "ResultFolder",
    m: "Anything",
    verdicts: Verdicts,
    *,
    kind: str,
    title: str,
    settings: dict[str, Any],
    inputs: list[dict[str, Any]],
    remarks: list[str],
    seconds: float,
    more: dict[str, Any],
    **shown: Any,
) -> dict[str, Any]:
    """Write report and record into a folder of results, let the folder appear, and return the record.

    Parameters
    ----------
    results : ResultFolder
    m : StepSmooth or GridStepSmooth
        Fitted.
    verdicts : Verdicts
    kind : {"signal", "image"}
    title : str
        Of the report.
    settings, inputs, remarks, seconds
        As in :func:`stepsmooth.files.record.result_record`.
    more : dict
        What else belongs into the record.
    **shown
        What else the report should know.
    """
    from stepsmooth.files.record import read_record, result_record, write_record
    from stepsmooth.report import write

    certificate, quality = verdicts
    page = results.path / REPORT
    common = {"quality": quality, "certificate": certificate, "settings": settings, "inputs": inputs}
    with noted(remarks):
        write(m, page, title=title, **common, **shown)
    record = result_record(m, kind=kind, remarks=remarks, seconds=seconds, **common)
    write_record(results.path, record | more)
    results.commit()
    return read_record(results.out)


def tell(out: Path, m: "Anything", verdicts: Verdicts, record: dict[str, Any], *, quiet: bool, as_json: bool) -> None:
    """Print the outcome: for people, as JSON, or not at all."""
    if as_json:
        typer.echo(json.dumps(record | {"out": str(out)}, ensure_ascii=False, allow_nan=False))
        return
    if quiet:
        return
    typer.echo(from_one(m.summary()))
    if verdicts.quality is not None:
        typer.echo(f"verdict: {verdicts.quality.verdict}")
        typer.echo("".join(f"  {line}\n" for line in verdicts.quality.words().splitlines()), nl=False)
    if record["certificate"] is not None:
        typer.echo(f"certificate: {record['certificate']['words'].splitlines()[0]}")
    for remark in record["remarks"]:
        typer.echo(f"note: {remark}")
    typer.echo(f"written to {out}: {', '.join(record['outputs'])}")
    typer.echo(f"look at: {out / REPORT}")


def from_one(summary: str) -> str:
    r"""Return a summary in which labels count from 1, as they do in files, where 0 is outside.

    Examples
    --------
    >>> from_one("2 classes\n  class 0: 1.5\n  class 1: 2.5")
    '2 classes\n  label 1: 1.5\n  label 2: 2.5'
    """
    return re.sub(r"(?m)^  (?:class|level) (\d+):", lambda found: f"  label {int(found[1]) + 1}:", summary)


def end_if_worse(out: Path, verdicts: Verdicts, *, written: bool, what: str) -> None:
    """End with the exit code that says so if the fit made it worse."""
    if verdicts.worse:
        told = f"{what} was written all the same" if written else f"{what} was not written (--force writes it)"
        end(ExitCode.WORSE, f"The fit made it worse, see {out / REPORT}; {told}.")
