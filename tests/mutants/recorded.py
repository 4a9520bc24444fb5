"""Which functions of Platewright each test runs: a pytest plugin (`-p mutants.recorded`), for choosing tests.

Every function gets one more statement as it is imported, which puts its number into a set; the set is emptied before
each test. The file named by `MUTANTS_RECORD` gets one line a test: seconds, name, and the numbers of its functions;
the numbers stand for `file:function` in the file beside it, which ends in `.functions`.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

SOURCE = Path(__file__).parent.parent.parent / "src" / "platewright"
HITS: set[str] = set()


class Marked(ast.NodeTransformer):
    """Each function says that it runs."""

    def __init__(self, file: str) -> None:
        self.file, self.inside = file, []

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.inside.append(node.name)
        self.generic_visit(node)
        self.inside.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.inside.append(node.name)
        self.generic_visit(node)
        name = f"{self.file}:{'.'.join(self.inside)}"
        self.inside.pop()
        start = 1 if ast.get_docstring(node) is not None and len(node.body) > 1 else 0
        call = ast.parse(f"__mutants_hits__({name!r})").body[0]
        for part in ast.walk(call):
            ast.copy_location(part, node.body[start])
        node.body.insert(start, call)
        return node


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module with its functions marked."""

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:
        tree = Marked(Path(path).relative_to(SOURCE).as_posix()).visit(ast.parse(data))
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__mutants_hits__"] = HITS.add
        super().exec_module(module)


class Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of Platewright."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        if fullname.split(".")[0] != "platewright":
            return None
        found = importlib.machinery.PathFinder.find_spec(fullname, path)
        if found is not None and isinstance(found.loader, importlib.machinery.SourceFileLoader):
            found.loader = Loader(found.loader.name, found.loader.path)
        return found


sys.meta_path.insert(0, Finder())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """One line a test."""
    HITS.clear()
    start = time.process_time()
    result = yield
    line = json.dumps([round(time.process_time() - start, 3), item.nodeid, sorted(HITS)])
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    with open(f"{os.environ['MUTANTS_RECORD']}{worker}", "a", encoding="utf-8") as file:
        file.write(line + "\n")
    return result
