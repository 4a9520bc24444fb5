"""Imports go one way: a room imports only itself and the rooms before it in `ORDER`.

    pipeline -> run -> ... -> graph -> language -> families -> family -> algebra -> errors

A room is the first part of a module's name after `platewright`: the folder `algebra/`, or the file `pipeline.py`.
Imports inside functions and under TYPE_CHECKING count too: they are arrows all the same.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ORDER: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("algebra",),
    ("family",),
    ("families",),
    ("language",),
    ("program",),
    ("graph",),
    ("drawing",),
    ("operation",),
    ("recognition",),
    ("operations",),
    ("elimination",),
    ("inference",),
    ("schema",),
    ("schemas",),
    ("derive",),
    ("backend",),
    ("backends",),
    ("data",),
    ("run",),
    ("structure",),
    ("trees",),
    ("operable",),
    ("pipeline",),
    ("structures",),
    ("reading",),
    ("commands",),
    ("cli", "demo", "__init__", "__main__"),
)

PACKAGE = Path(__file__).parent.parent / "src" / "platewright"
MODULES = sorted(PACKAGE.rglob("*.py"))
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}


def named(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def rooms_of_names(names: list[str]) -> Iterator[str]:
    """The rooms behind `from platewright import a, b`; what is no room is a public name, made in `__init__`."""
    for name in names:
        yield name if name in LEVEL else "__init__"


def imported_rooms(tree: ast.Module, folder: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Line and room of every import from Platewright in a module that lies in `folder`."""
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                for alias in node.names:
                    parts = tuple(alias.name.split("."))
                    if parts[0] == "platewright":
                        yield node.lineno, parts[1] if len(parts) > 1 else "__init__"
            case ast.ImportFrom():
                origin = tuple(node.module.split(".")) if node.module else ()
                if node.level:
                    origin = folder[: len(folder) - node.level + 1] + origin
                if origin[:1] != ("platewright",):
                    continue
                if len(origin) > 1:
                    yield node.lineno, origin[1]
                    continue
                for room in rooms_of_names([alias.name for alias in node.names]):
                    yield node.lineno, room


def upward_imports(text: str, room: str, folder: tuple[str, ...]) -> list[str]:
    """Every import that does not go to the same or a lower room, as a sentence."""
    level = LEVEL[room]
    return [
        f"line {line}: {room} imports {target}, which is above it or not in ORDER"
        for line, target in imported_rooms(ast.parse(text), folder)
        if target != room and LEVEL.get(target, len(ORDER)) > level
    ]


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_is_in_a_room_of_the_order(path: Path) -> None:
    assert room_of(path) in LEVEL, f"{named(path)}: give its room a place in ORDER"


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_imports_only_downwards(path: Path) -> None:
    folder = ("platewright", *path.relative_to(PACKAGE).parent.parts)
    assert upward_imports(path.read_text(encoding="utf-8"), room_of(path), folder) == []


@pytest.mark.parametrize(
    "text",
    [
        "import platewright.graph.node",
        "from platewright.graph import Graph",
        "from platewright import graph",
        "from platewright import Model",
        "from ..graph.node import Node",
        "def later():\n    from platewright.pipeline import learn",
        "from platewright.attic import thing",
    ],
)
def test_an_upward_import_is_found(text: str) -> None:
    assert len(upward_imports(text, "algebra", ("platewright", "algebra"))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import numpy",
        "from platewright import errors",
        "from platewright.errors import ModelError",
        "from platewright.algebra.expand import expand",
        "from .expand import expand",
        "from ..errors import ModelError",
    ],
)
def test_a_downward_import_is_fine(text: str) -> None:
    assert upward_imports(text, "algebra", ("platewright", "algebra")) == []


def test_emitters_of_plans_are_loaded_when_somebody_looks() -> None:
    code = "import sys, platewright; print('platewright.run.plan_source' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert said.stdout.strip() == "False", said.stderr
