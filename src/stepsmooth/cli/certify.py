"""``stepsmooth certify``: whether the labels of a stored result could be other than they are."""

import json
from typing import Annotated

import typer

from stepsmooth.cli import options as o
from stepsmooth.cli.exits import ExitCode, sentences

C = Annotated[
    float | None,
    typer.Option("--c", min=1.0, help="Premise: the true f varies by at most c times as much as the fitted one; 2."),
]
Confidence = Annotated[
    float | None, typer.Option("--confidence", min=0.0, max=1.0, help="With noise: how sure the verdict is; 0.95.")
]


def certify(
    result: o.Result, c: C = None, confidence: Confidence = None, quiet: o.Quiet = False, as_json: o.Json = False
) -> None:
    """Say whether the labels of a result could be other than they are.

    Without options, the certificate of the run is told; with another premise or confidence it is computed anew. The
    exit code is 0 if the labels are identified, 6 if that was not shown.

    \b
    Examples:
      stepsmooth certify T1w_stepsmooth
      stepsmooth certify T1w_stepsmooth --c 1.5 --json
    """  # noqa: D301
    with sentences():
        from stepsmooth.files.record import certificate_record, read_record
        from stepsmooth.files.record_parts import told_certificate

        record = told_certificate(result, read_record(result))
        if record is None or c is not None or confidence is not None:
            from stepsmooth.files.stored import certify_stored

            found = certify_stored(
                result, c=2.0 if c is None else c, confidence=0.95 if confidence is None else confidence
            )
            record = certificate_record(found)
        if as_json:
            typer.echo(json.dumps(record, ensure_ascii=False))
        elif not quiet:
            typer.echo(record["words"])
        if record["verdict"] != "identified":
            raise typer.Exit(int(ExitCode.NOT_IDENTIFIED))
