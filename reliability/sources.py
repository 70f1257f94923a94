"""What our sources must not do: unpickle, call strangers, evaluate text, or put text into a page as it came."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "stepsmooth"
_PICKLES = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
_NETWORK = {"socket", "ssl", "http", "urllib", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "xmlrpc", "asyncio"}
_CALLS = {"eval", "exec", "compile", "__import__", "system", "popen", "Markup"}
# What templates print without escaping: our own style, our own scripts, data in which "<" has been escaped, a class.
_SAFE = {"style", "data", "script", "' class=\"hidden\"'"}


def python_files() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def templates() -> list[Path]:
    return sorted(SOURCE.rglob("templates/*.html"))


def findings() -> list[str]:
    """Return every place that does what must not be done, with its line."""
    out = []
    for path in python_files():
        for line, what in _in_python(ast.parse(path.read_text(encoding="utf-8"))):
            out.append(f"{path.relative_to(SOURCE)}:{line} {what}")
    for path in templates():
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            unescaped = re.findall(r"([\w.]+|'[^']*')\s*\|\s*safe", text)
            out += [f"{path.relative_to(SOURCE)}:{number} {what}|safe" for what in unescaped if what not in _SAFE]
    return out


def _in_python(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            for name in names:
                if name.split(".")[0] in _PICKLES | _NETWORK:
                    yield node.lineno, f"imports {name}"
        elif isinstance(node, ast.Call):
            yield from ((node.lineno, what) for what in _in_call(node))


def _in_call(node: ast.Call) -> Iterator[str]:
    called = ast.unparse(node.func)
    last = called.split(".")[-1]
    given = {word.arg: ast.unparse(word.value) for word in node.keywords}
    if last in _CALLS and called != "re.compile":
        yield f"calls {called}"
    if called in ("np.load", "numpy.load") and given.get("allow_pickle") != "False":
        yield "calls np.load without allow_pickle=False"
    if given.get("allow_pickle") == "True":
        yield f"calls {called} with allow_pickle=True"
    if given.get("shell") == "True":
        yield f"calls {called} with shell=True"
    if last == "Environment" and given.get("autoescape") != "True":
        yield "makes pages without autoescape=True"
