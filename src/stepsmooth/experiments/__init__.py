"""The paper's figures and tables, and what goes beyond them: one module each, run by name.

:data:`EXPERIMENTS` lists them; :func:`reproduce` runs some or all, keeps what they find in a folder and writes a page
that shows it beside the paper's claims. Each module has a function ``run(runner)`` that returns an :class:`Outcome`.
"""

from stepsmooth.experiments.catalogue import EXPERIMENTS, Experiment, named
from stepsmooth.experiments.outcome import VERDICTS, Claim, Outcome, Settings, judge
from stepsmooth.experiments.reproducing import Done, reproduce
from stepsmooth.experiments.running import Runner

__all__ = [
    "EXPERIMENTS",
    "VERDICTS",
    "Claim",
    "Done",
    "Experiment",
    "Outcome",
    "Runner",
    "Settings",
    "judge",
    "named",
    "reproduce",
]
