"""A file is one idea, is short, bears the name of that idea, and types every signature."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

MOST_LINES = 400
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "base", "core", "misc", "common"}

SOURCE = Path(__file__).parent.parent / "src"
MODULES = sorted(SOURCE.rglob("*.py"))


def named(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def untyped_signatures(text: str) -> list[str]:
    """Every function with an argument or a return value that has no type, as a sentence."""
    found = []
    tree = ast.parse(text)
    methods = {
        id(item)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for item in node.body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        positional = node.args.posonlyargs + node.args.args
        static = any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in node.decorator_list)
        if id(node) in methods and not static:
            positional = positional[1:]
        arguments = [*positional, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        bare = [argument.arg for argument in arguments if argument is not None and argument.annotation is None]
        if node.returns is None:
            bare.append("return")
        if bare:
            found.append(f"line {node.lineno}: {node.name} has no type for {', '.join(bare)}")
    return found


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_file_is_short(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES, f"{named(path)} has {lines} lines: there is a second idea in it"


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_file_is_named_after_its_idea(path: Path) -> None:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    assert NAMES_THAT_SAY_NOTHING.isdisjoint(part.strip("_") for part in parts)


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_every_signature_has_its_types(path: Path) -> None:
    assert untyped_signatures(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(x) -> int: ...",
        "def f(x: int): ...",
        "def f(*x, y: int) -> int: ...",
        "def f(*, y) -> int: ...",
        "def f(**y) -> int: ...",
        "class A:\n    def f(self, x) -> int: ...",
        "class A:\n    @staticmethod\n    def f(x) -> int: ...",
        "def f() -> int:\n    def g(x) -> int: ...",
    ],
)
def test_a_missing_type_is_found(text: str) -> None:
    assert len(untyped_signatures(text)) == 1


def test_the_first_argument_of_a_method_needs_no_type() -> None:
    assert untyped_signatures("class A:\n    def f(self, x: int) -> int: ...") == []
