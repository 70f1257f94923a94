"""The page that maps the paper to functions and tests names only what exists."""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "paper_map.md").read_text(encoding="utf-8")
ROWS = [line.strip("|\n ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")][1:]


def names(cell):
    return re.findall(r"`(.*?)`", cell)


def test_every_statement_has_a_function_and_a_test():
    assert len(ROWS) > 20
    assert all(len(row) == 3 and names(row[1]) and names(row[2]) for row in ROWS)
    for statement in ("Theorem 1", "Theorem 2", "Proposition 2", "Proposition 3", "Corollary 1", "Corollary 2"):
        assert any(statement in row[0] for row in ROWS)


@pytest.mark.parametrize("name", sorted({name for row in ROWS for name in names(row[1])}))
def test_every_function_named_exists(name):
    first, *rest = name.split(".")
    start = import_module(f"stepsmooth.{first}") if first.islower() else getattr(import_module("stepsmooth"), first)
    assert callable(reduce(getattr, rest, start))


@pytest.mark.parametrize("name", sorted({name for row in ROWS for name in names(row[2])}))
def test_every_test_named_exists(name):
    path, function = name.split("::")
    assert f"def {function}(" in (TESTS / path).read_text(encoding="utf-8")
