"""Plant a defect in a copy of the source: one expression, named by file, function and its own text, is exchanged.

Nothing is said about lines, so a defect stays where it is meant when code moves around it; where the expression is
gone, planting says so and nothing is changed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field


class Gone(Exception):
    """The file, the function or the expression is not there any more."""


@dataclass(frozen=True)
class Mutant:
    """One planted defect, and the tests that concern it: the first of them noticed it when it was recorded."""

    file: str
    scope: str
    """The function (`Class.method`), or the name that is assigned at the top of the module."""
    kind: str
    old: str
    new: str
    nth: int = 0
    """Which of several equal expressions in the scope."""
    tests: tuple[str, ...] = field(default=())
    survives: str = ""
    """Why it does not matter that no test notices."""
    same: str = ""
    """Why it is no defect: nothing that a user can see changes."""

    @property
    def place(self) -> tuple[str, str, str, str, int]:
        """What tells it from all others."""
        return self.file, self.scope, self.old, self.new, self.nth

    @property
    def room(self) -> str:
        """The folder that it lies in, or the module at the top."""
        parts = self.file.removesuffix(".py").split("/")
        return "/".join(parts[:2]) if parts[0] in ("backends", "run") and len(parts) > 2 else parts[0]

    def __str__(self) -> str:
        return f"{self.file}:{self.scope}: {self.old} -> {self.new}"


def planted(text: str, mutant: Mutant) -> str:
    """The text of a module with the defect in it."""
    scope = find_scope(ast.parse(text), mutant.scope)
    if scope is None:
        raise Gone(f"{mutant.file} has no {mutant.scope}")
    if mutant.kind == "text":
        start, end = span(text, scope)
        at = start - 1
        for _ in range(mutant.nth + 1):
            at = text.encode().find(mutant.old.encode(), at + 1, end)
            if at < 0:
                raise Gone(f"{mutant.old!r} is not in {mutant.scope} of {mutant.file}")
        return exchanged(text, (at, at + len(mutant.old.encode())), mutant.new)
    same = [node for node in ast.walk(scope) if isinstance(node, ast.expr) and ast.unparse(node) == mutant.old]
    if len(same) <= mutant.nth:
        raise Gone(f"{mutant.old!r} is not in {mutant.scope} of {mutant.file}")
    changed = exchanged(text, span(text, same[mutant.nth]), f"({mutant.new})")
    ast.parse(changed)
    return changed


def find_scope(tree: ast.Module, scope: str) -> ast.AST | None:
    """The function, class or assignment of that name."""
    return next((node for name, node in scopes(tree) if name == scope), None)


def scopes(tree: ast.AST, before: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Functions by qualified name, outer ones first, and what is assigned at the top of the module."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            name = f"{before}{node.name}"
            if isinstance(node, ast.FunctionDef):
                yield name, node
            yield from scopes(node, f"{name}.")
        elif isinstance(tree, ast.Module) and isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                yield target.id, node


def span(text: str, node: ast.AST) -> tuple[int, int]:
    """First and last byte of a node."""
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined, operator]


def exchanged(text: str, place: tuple[int, int], new: str) -> str:
    """The text with some of its bytes exchanged."""
    data = text.encode()
    return (data[: place[0]] + new.encode() + data[place[1] :]).decode()
