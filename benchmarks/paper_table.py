"""The paper's table of MRI methods, settings in hindsight and held out: what `stepsmooth reproduce table` renders.

Heads, methods, scores and rules are those of `stepsmooth.experiments`, so that the table and this benchmark are one.
"""

from __future__ import annotations

import os
from pathlib import Path

from .harness import Settings
from .tables import Claim, Result


def run(settings: Settings) -> Result:
    """Score every method on every head, and compare ours with AltMin at its best settings."""
    from stepsmooth.experiments import Runner, table
    from stepsmooth.experiments import Settings as Asked
    from stepsmooth.experiments.table_claims import figure_of

    given = os.environ.get("STEPSMOOTH_DATA")
    asked = Asked(quick=settings.quick, seeds=settings.datasets, data=Path(given) if given else None)
    with Runner(asked, jobs=settings.jobs) as runner:
        found = table.run(runner)
    rows = found.tables["table"]
    claims = [
        Claim(
            f"{classes} classes, {sequences} sequence(s): labels of joint minus AltMin, settings in hindsight",
            figure_of(rows, "accuracy", "joint", classes, sequences)
            - figure_of(rows, "accuracy", "AltMin", classes, sequences),
            -0.001,
        )
        for classes, sequences in table.CASES
    ]
    columns = tuple(column for column in table.COLUMNS if column != "settings")
    return Result(rows, claims, [*found.choices, *found.missing], columns)
