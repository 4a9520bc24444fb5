"""What an emitted program carries along: the functions, classes and constants that it needs, as the library has them.

A definition is taken with all that it mentions in turn, in the order in which the modules hold them, and without its
type hints. So nobody writes an algorithm twice: the text that runs here is the text that a file takes along.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Sequence
from functools import lru_cache
from types import ModuleType

from platewright.backends.hints import without_hints

IMPORTS = {
    "csv": "import csv",
    "inspect": "import inspect",
    "sys": "import sys",
    "Callable": "from collections.abc import Callable",
    "dataclass": "from dataclasses import dataclass",
    "pairwise": "from itertools import pairwise",
    "product": "from itertools import product",
    "np": "import numpy as np",
    "special": "from scipy import special",
}
"""How a program comes by the names that are not its own, in the order of its head."""
OUTSIDE = ("np", "special")
CALLED = frozenset({"pairwise", "product"})
"""Words that are also good names for numbers."""


@lru_cache(maxsize=64)
def definitions(module: ModuleType) -> dict[str, str]:
    """The functions, classes and constants of a module as they are written, by name; constants with their remark."""
    text = inspect.getsource(module)
    lines = text.splitlines(keepends=True)
    found: dict[str, str] = {}
    body = ast.parse(text).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
                found[node.name] = "".join(lines[first - 1 : node.end_lineno])
            case ast.Assign(targets=[ast.Name(id=name)]) if name.isupper():
                last = after.end_lineno if after is not None and _is_remark(after) else node.end_lineno
                found[name] = "".join(lines[node.lineno - 1 : last])
    return found


def _is_remark(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@lru_cache(maxsize=1024)
def mentioned(text: str) -> frozenset[str]:
    """The names that a piece of a program looks up."""
    return frozenset(node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))


def carried(text: str, modules: Sequence[ModuleType], without: Iterable[str] = ()) -> list[str]:
    """The texts of all definitions that a program needs, constants first; `without` those it has already."""
    every: dict[str, str] = {}
    for module in modules:
        every |= {name: found for name, found in definitions(module).items() if name not in every}
    left = set(without)
    wanted: set[str] = set()
    waiting = [text]
    while waiting:
        new = {name for name in mentioned(waiting.pop()) & every.keys() if name not in wanted and name not in left}
        wanted |= new
        waiting += [without_hints(every[name]) for name in new]
    chosen = {name: without_hints(every[name]) for name in every if name in wanted}
    constants = [found for name, found in chosen.items() if name.isupper()]
    return [*(["\n".join(constants)] if constants else []), *(f for name, f in chosen.items() if not name.isupper())]


def head(text: str) -> str:
    """The imports of a program."""
    words = mentioned(text) - (CALLED - _called(text))
    needed = {name: line for name, line in IMPORTS.items() if name in words}
    inside = [line for name, line in needed.items() if name not in OUTSIDE]
    outside = [line for name, line in needed.items() if name in OUTSIDE]
    plain = sorted(line for line in inside if line.startswith("import"))
    others = sorted(line for line in inside if not line.startswith("import"))
    if "Array" in words:
        outside += ["", "Array = np.ndarray"]
    return "\n".join([*plain, *others, "", *outside])


def _called(text: str) -> frozenset[str]:
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return frozenset(node.func.id for node in nodes if isinstance(node.func, ast.Name))


def names_of(modules: Sequence[ModuleType]) -> list[str]:
    """Names that a program may not give to anything else: those of the modules, and of what they import."""
    return [*IMPORTS, "Array", *(name for module in modules for name in definitions(module))]
