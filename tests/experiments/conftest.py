"""Every experiment at its smallest: the same code, tiny sizes."""

import matplotlib as mpl
import pytest

from stepsmooth.experiments import Runner, Settings

mpl.use("Agg")


@pytest.fixture
def runner():
    """A runner of quick settings without data, in this process."""
    with Runner(Settings(quick=True, seeds=2)) as one:
        yield one


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    """No test may need data that are not part of the project."""
    monkeypatch.delenv("STEPSMOOTH_DATA", raising=False)
