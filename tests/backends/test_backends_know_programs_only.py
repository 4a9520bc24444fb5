"""How often backends import what stands before the program: the number may only fall, to nothing in the end."""

from __future__ import annotations

import ast
from pathlib import Path

BACKENDS = Path(__file__).parents[2] / "src" / "platewright" / "backends"
BEFORE = ("schemas", "recognition", "elimination", "families")
MOST = 79
"""Modules of a backend times modules that it imports from these rooms. Lower it with every import that goes."""


def imports_of(text: str) -> list[str]:
    """The modules of those rooms that a text imports."""
    found = [node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom) and node.module]
    return [name for name in found if name.split(".")[:1] == ["platewright"] and name.split(".")[1] in BEFORE]


def test_the_number_of_such_imports_falls() -> None:
    found = sum(len(imports_of(path.read_text(encoding="utf-8"))) for path in BACKENDS.rglob("*.py"))
    assert found <= MOST, "a backend prints what a program says: put what it wants to know into the program"
    assert found == MOST, f"there are {found} now: lower MOST"


def test_an_import_is_noticed() -> None:
    assert imports_of("from platewright.schemas.em import EMPlan\nfrom platewright.program import program") == [
        "platewright.schemas.em"
    ]
