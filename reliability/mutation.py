"""Small errors that someone might make: where a module can have one, and its text with that error."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

COMPARE = {
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
# Whether the ends of an interval belong to it matters for counts; between real numbers it does not.
BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip
NAMES = {
    "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "argmin": "argmax", "argmax": "argmin",
    "floor": "ceil", "ceil": "floor", "any": "all", "all": "any", "zeros": "ones", "ones": "zeros",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One error: where it is, what was there and what is there now. Columns count bytes, as the parser's do."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    kind: str
    before: str
    after: str
    compiled: bool

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.path}:{self.line}: {self.kind}: {before}  ->  {after}"

    def applied_to(self, source: str) -> str:
        """Return the source with the error in it; lines keep their numbers."""
        lines = source.encode().split(b"\n")
        head, tail = lines[self.line - 1][: self.column], lines[self.end_line - 1][self.end_column :]
        middle = head + self.after.encode() + tail
        blank = [b""] * (self.end_line - self.line)
        return b"\n".join([*lines[: self.line - 1], middle, *blank, *lines[self.end_line :]]).decode()


def mutants_of(path: str, source: str) -> list[Mutant]:
    """Return every error that a module can have, in the order of its lines."""
    found = []
    for node, compiled in _code(ast.parse(source), False):
        for kind, changed in _changes(node):
            after = changed if isinstance(changed, str) else f"({ast.unparse(changed)})"
            before = ast.get_source_segment(source, node) or ""
            place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
            found.append(Mutant(path, *place, kind, before, after, compiled))
    return found


def _code(node: ast.AST, compiled: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Yield the nodes that decide what is computed: no annotations, defaults, messages, or tuned module constants."""
    if isinstance(node, ast.FunctionDef):
        compiled = compiled or any("njit" in ast.unparse(d) for d in node.decorator_list)
        inner: list[ast.AST] = list(node.body)
    elif isinstance(node, ast.Module | ast.ClassDef):
        inner = [child for child in node.body if isinstance(child, ast.FunctionDef | ast.ClassDef)]
    elif isinstance(node, ast.AnnAssign):
        inner = [node.value] if node.value is not None else []
    elif isinstance(node, ast.Raise | ast.JoinedStr) or (isinstance(node, ast.Call) and _warns(node)):
        inner = []
    else:
        inner = list(ast.iter_child_nodes(node))
    if hasattr(node, "lineno") and not isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node, compiled
    for child in inner:
        yield from _code(child, compiled)


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST | str]]:
    changed = copy.deepcopy(node)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        assert isinstance(changed, ast.Compare)
        changed.ops = [COMPARE[type(node.ops[0])]()]
        yield "comparison", changed
        right = node.comparators[0]
        if type(node.ops[0]) in BOUNDARY and isinstance(right, ast.Constant) and isinstance(right.value, int):
            other = copy.deepcopy(node)
            other.ops = [BOUNDARY[type(node.ops[0])]()]
            yield "boundary", other
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not _is_text(node):
        assert isinstance(changed, ast.BinOp)
        changed.op = ARITHMETIC[type(node.op)]()
        yield "arithmetic", changed
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield "constant", ast.Constant(not node.value)
        elif isinstance(node.value, int | float):
            yield "constant", ast.Constant(node.value + 1)
    elif isinstance(node, ast.BoolOp):
        assert isinstance(changed, ast.BoolOp)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and/or", changed
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        if not isinstance(node.operand, ast.Constant):
            yield "sign", node.operand
    elif isinstance(node, ast.IfExp):
        assert isinstance(changed, ast.IfExp)
        changed.body, changed.orelse = node.orelse, node.body
        yield "branches", changed
    elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
        name = node.attr if isinstance(node, ast.Attribute) else node.id
        if name in NAMES:
            setattr(changed, "attr" if isinstance(node, ast.Attribute) else "id", NAMES[name])
            yield "name", changed
    elif isinstance(node, ast.Break | ast.Continue):
        yield "loop", "continue" if isinstance(node, ast.Break) else "break"
    elif isinstance(node, ast.AugAssign | ast.Raise) or _stores_into(node) or _calls(node):
        yield "dropped", "pass"


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(isinstance(s, ast.JoinedStr) or isinstance(getattr(s, "value", None), str) for s in sides)


def _stores_into(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and any(isinstance(t, ast.Subscript | ast.Attribute) for t in node.targets)


def _calls(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _warns(node.value)


def _warns(call: ast.Call) -> bool:
    return "warn" in ast.unparse(call.func)
