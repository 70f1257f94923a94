"""The folder's entry points on the path; verdicts and reports are left out, for they are not what is compared."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(scope="module")
def expected():
    """The answers of arrays, each computed once."""
    return {}


@pytest.fixture(autouse=True)
def answer_alone(monkeypatch):
    """Let commands write their numbers and no report: figures of quality and pictures take seconds."""
    import stepsmooth.report
    from stepsmooth.cli.telling import Verdicts

    for command in ("stepsmooth.cli.image", "stepsmooth.cli.signal"):
        monkeypatch.setattr(import_module(command), "judge", lambda m, remarks: Verdicts(None, None))
    monkeypatch.setattr(stepsmooth.report, "write", lambda m, path, **options: path.write_text("<html></html>"))
