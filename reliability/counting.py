"""A plugin of pytest that counts the cases that hypothesis really ran, test by test."""

from __future__ import annotations

import functools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--count-cases", type=Path, help="write how many cases each property was tried on, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Cases(config.getoption("--count-cases")), "count-cases")


class Cases:
    """Counts calls of the tests below `given` that came to their end; cases that `assume` took back do not count."""

    def __init__(self, path: Path) -> None:
        self.path, self.cases, self.failed = path, Counter[str](), list[str]()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            test = getattr(item, "obj", None)
            handle = getattr(test, "hypothesis", None)
            # One function may stand behind several items: it is wrapped once.
            if handle is not None and not hasattr(handle.inner_test, "counted"):
                handle.inner_test = self.counted(handle.inner_test, item.nodeid.split("[")[0])

    def counted(self, test: Any, name: str) -> Any:
        @functools.wraps(test)
        def run(*args: Any, **kwargs: Any) -> Any:
            result = test(*args, **kwargs)
            self.cases[name] += 1
            return result

        run.counted = True  # type: ignore[attr-defined]
        return run

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.path.write_text(json.dumps({"cases": self.cases, "failed": self.failed}))
