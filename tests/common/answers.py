"""What every entry point is asked for, in one form: an answer that can be compared, or a refusal in a sentence."""

import json
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from stepsmooth.cli import app


class RefusedError(Exception):
    """The sentence with which an entry point refused."""


@dataclass
class Answer:
    """Labels (-1: none), levels, f, probabilities, what is left without f, and the warnings."""

    labels: np.ndarray
    levels: np.ndarray
    smooth: np.ndarray
    probabilities: np.ndarray
    corrected: np.ndarray | None = None
    said: list[str] = field(default_factory=list)


def pairs(checks, doors):
    """Return every check with every way in, named."""
    return [pytest.param(c, d, id=f"{c.__name__.replace('_', ' ')} - {d}") for c in checks for d in doors]


def asked(fit):
    """Call a fit in Python: warnings are kept, and a ValueError becomes a refusal."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fitted = fit()
        except ValueError as error:
            raise RefusedError(str(error)) from error
    return fitted, [str(entry.message) for entry in caught]


def commanded(out: Path, *arguments):
    """Run a command, and return the record that it wrote; an exit with an error becomes a refusal."""
    done = CliRunner().invoke(
        app, [*(str(a) for a in arguments), "--out", str(out), "--overwrite", "--probabilities", "--json"]
    )
    if done.exit_code:
        assert done.exit_code in (2, 3), (done.exit_code, done.stderr)  # anything else would be an error of ours
        raise RefusedError(done.stderr)
    return json.loads((out / "result.json").read_text())


def alike(one: Answer, other: Answer, atol: float) -> None:
    """Compare the answers of two entry points; files may hold single precision."""
    np.testing.assert_array_equal(other.labels, one.labels)
    for name in ("levels", "smooth", "probabilities", "corrected"):
        a, b = getattr(one, name), getattr(other, name)
        if a is not None and b is not None:
            np.testing.assert_allclose(b, a, rtol=atol, atol=atol, err_msg=name)
