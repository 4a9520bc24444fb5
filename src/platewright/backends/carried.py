"""What an emitted program carries along: the functions, classes and constants that it needs, as the library has them.

A definition is taken with all that it mentions in turn, in the order in which the modules hold them, and without its
type hints. So nobody writes an algorithm twice: the text that runs here is the text that a file takes along.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest
from symtable import Symbol, SymbolTable, symtable
from types import ModuleType

from platewright.backends.hints import without_hints

IMPORTS = {
    "csv": "import csv",
    "inspect": "import inspect",
    "sys": "import sys",
    "Callable": "from collections.abc import Callable",
    "Mapping": "from collections.abc import Mapping",
    "dataclass": "from dataclasses import dataclass",
    "replace": "from dataclasses import replace",
    "cached_property": "from functools import cached_property",
    "partial": "from functools import partial",
    "pairwise": "from itertools import pairwise",
    "permutations": "from itertools import permutations",
    "product": "from itertools import product",
    "factorial": "from math import factorial",
    "prod": "from math import prod",
    "Any": "from typing import Any",
    "np": "import numpy as np",
    "special": "from scipy import special",
}
"""How a program comes by the names that are not its own, in the order of its head."""
OUTSIDE = ("np", "special")


@lru_cache(maxsize=64)
def definitions(module: ModuleType) -> dict[str, str]:
    """The functions, classes and constants of a module as they are written, by name; constants with their remark."""
    return defined(inspect.getsource(module))


def defined(text: str) -> dict[str, str]:
    """The same for any text."""
    lines = text.splitlines(keepends=True)
    found: dict[str, str] = {}
    body = ast.parse(text).body
    for node, after in zip_longest(body, body[1:]):
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
    """The names that a piece of a program looks up outside its own functions."""
    tree = ast.parse(text)
    hints = [part for node in ast.walk(tree) if isinstance(node, ast.AnnAssign) for part in ast.walk(node.annotation)]
    found = {node.id for node in hints if isinstance(node, ast.Name)}
    waiting = [symtable(text, "<program>", "exec")]
    while waiting:
        scope = waiting.pop()
        waiting += scope.get_children()
        found |= {s.get_name() for s in scope.get_symbols() if s.is_referenced() and _is_outside(scope, s)}
    return frozenset(found)


def _is_outside(scope: SymbolTable, symbol: Symbol) -> bool:
    return scope.get_type() == "module" or symbol.is_global()


def carried(text: str, modules: Sequence[ModuleType], without: Iterable[str] = ()) -> list[str]:
    """The texts of all definitions that a program needs, constants first; `without` those it has already."""
    every: dict[str, str] = {}
    for module in modules:
        every |= {name: found for name, found in definitions(module).items() if name not in every}
    return needed_by(text, every, without)


def needed_by(text: str, every: Mapping[str, str], without: Iterable[str] = ()) -> list[str]:
    """Of given definitions those that a program needs, constants first."""
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
    words = mentioned(text)
    needed = {name: line for name, line in IMPORTS.items() if name in words}
    inside = [line for name, line in needed.items() if name not in OUTSIDE]
    outside = [line for name, line in needed.items() if name in OUTSIDE]
    plain = sorted(line for line in inside if line.startswith("import"))
    others = _together(line for line in inside if not line.startswith("import"))
    if "Array" in words:
        outside += ["", "Array = np.ndarray"]
    return "\n".join([*plain, *others, "", *outside])


def _together(lines: Iterable[str]) -> list[str]:
    """One line for each module that names come from."""
    found: dict[str, list[str]] = {}
    for line in lines:
        module, name = line.split(" import ")
        found.setdefault(module, []).append(name)
    return [f"{module} import {', '.join(sorted(found[module]))}" for module in sorted(found)]


def names_of(modules: Sequence[ModuleType]) -> list[str]:
    """Names that a program may not give to anything else: those of the modules, and of what they import."""
    return [*IMPORTS, "Array", *(name for module in modules for name in _defined_names(module))]


@lru_cache(maxsize=64)
def _defined_names(module: ModuleType) -> tuple[str, ...]:
    """The names of `definitions`, without the time that it takes to read them."""
    found = re.findall(r"(?m)^(?:def|class) (\w+)|^([A-Z][A-Z0-9_]*) = ", inspect.getsource(module))
    return tuple(name or constant for name, constant in found)
