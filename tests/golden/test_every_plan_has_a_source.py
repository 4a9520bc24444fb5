"""Every example by every schema that takes it: its NumPy source stands alone, is no longer than it must be, and fits.

`WITHOUT` lists the schemas that are printed step by step only, with their reasons; it can only shrink.
"""

from __future__ import annotations

import ast
import runpy
from pathlib import Path
from symtable import SymbolTable, symtable

import pytest

from platewright.derive.planner import SCHEMAS
from platewright.errors import NotSolvable

ROOT = Path(__file__).parents[2]
REGENERATE = runpy.run_path(str(ROOT / "examples" / "regenerate.py"))
GALLERY: list[Path] = [*REGENERATE["gallery"](), *REGENERATE["latent_gallery"]()]
GOALS = {
    "em": "map",
    "enumeration": "evidence",
    "quadrature": "evidence",
    "annealed": "evidence",
    "laplace": "evidence",
}
WITHOUT = {
    "chib": "the densities of conditionals at a point are not printed yet",
}
WIDTH = 120


def test_the_other_schemas_are_known() -> None:
    assert WITHOUT.keys() < {schema for schema, _ in SCHEMAS}


@pytest.mark.parametrize("folder", GALLERY, ids=lambda folder: folder.name)
def test_every_plan_has_a_source(folder: Path) -> None:
    space = runpy.run_path(str(folder / "model.py"))
    found = 0
    for schema, _ in SCHEMAS:
        goal = "evidence" if schema in WITHOUT else GOALS.get(schema, "posterior")
        try:
            plan = space["m"].derive(known=space["known"], goal=goal, by=schema)
        except NotSolvable:
            continue
        source = plan.source()
        if schema in WITHOUT:
            assert source.startswith("# The steps of the algorithm, to read"), f"{schema} has a source: shorten WITHOUT"
            continue
        found += 1
        assert source.startswith('"""'), source.splitlines()[0]
        assert unneeded(source) == [], schema
        assert max(map(len, source.splitlines())) <= WIDTH, schema
    assert found


def unneeded(source: str) -> list[str]:
    """Functions, classes and constants that nothing reaches from `learn` or the command line."""
    needs: dict[str, set[str]] = {}
    for node in ast.parse(source).body:
        text = ast.get_source_segment(source, node) or ""
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            needs[node.name] = looked_up(symtable(text, "<part>", "exec")) | hinted(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            needs[node.targets[0].id] = hinted(node)
    waiting, reached = ["main", "learn", "merged", "means", "Array"], set()
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += needs.get(name, set())
    return [name for name in needs if name not in reached]


def looked_up(scope: SymbolTable) -> set[str]:
    inner = scope.get_type() != "module"
    found = {symbol.get_name() for symbol in scope.get_symbols() if inner and symbol.is_global()}
    return found.union(*(looked_up(child) for child in scope.get_children()))


def hinted(node: ast.stmt) -> set[str]:
    """Names in hints of fields, bases, defaults and values."""
    parts: list[ast.AST] = []
    match node:
        case ast.ClassDef(bases=bases, body=body):
            parts = [*bases, *(part.annotation for part in body if isinstance(part, ast.AnnAssign))]
        case ast.FunctionDef(args=arguments):
            parts = [*arguments.defaults]
        case ast.Assign(value=value):
            parts = [value]
    return {part.id for top in parts for part in ast.walk(top) if isinstance(part, ast.Name)}


def test_what_nothing_needs_is_noticed() -> None:
    assert unneeded(
        "def learn(x):\n    return used(x)\n\ndef used(x):\n    return x\n\ndef idle(x):\n    return x\n"
    ) == ["idle"]
