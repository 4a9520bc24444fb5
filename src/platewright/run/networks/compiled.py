"""A network's junction tree made once, its messages in C (`messages.c`): evidence says which levels to look at.

    tables, cliques and where each table goes      laid out as numbers when the network is first asked
    evidence                                       for each variable a level, or none; as many sets at once as there are

It is for directed networks of variables with finitely many values. Products that could underflow, and evidence that
cannot be, are left to `inference/`, which goes on in logs and says what is wrong.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from platewright.backends.c.compile import FLAGS, compiled, find_compiler, is_compiled
from platewright.backends.c.in_memory import compiled_in_memory, has_memory_compiler
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.inference.finite import Finite
from platewright.inference.junction_tree import JunctionTree, build_tree
from platewright.inference.problem import Problem
from platewright.inference.propagation import entered
from platewright.inference.semiring import SUM, Named
from platewright.operation import Declined

WORD = "compiled junction tree"
MOST_ENTRIES = 1 << 23
"""Cliques of a tree with more entries than this are not all held at once."""
MOST_AXES = 64
WORTH_COMPILING = 1 << 19
"""So many entries at once are worth an optimising compiler; fewer go through libtcc, unless its work is there."""


@dataclass(frozen=True, eq=False)
class Marginals:
    """Of each row of evidence: all marginals side by side, the log evidence, and whether it was found."""

    values: Array
    log_evidence: Array
    found: Array


class _Tree(ctypes.Structure):
    """As in `messages.c`."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("count", "entries", "separators", "tables")),
        *((name, ctypes.c_void_p) for name in ("sizes", "levels_at", "axes_at", "axes", "table_at", "values_at")),
        *((name, ctypes.c_void_p) for name in ("scope_at", "scope", "child_at", "children", "values", "least")),
    ]


@dataclass(frozen=True, eq=False)
class CompiledNetwork:
    """The tables and the tree of a network, in the order of elimination."""

    levels: Mapping[str, Finite]
    tree: JunctionTree
    tables: tuple[Named, ...]
    log_scale: float

    def __getstate__(self) -> dict[str, object]:
        """What was made, without pointers to it."""
        return {name: value for name, value in self.__dict__.items() if name != "_layout"}

    @cached_property
    def column(self) -> Mapping[str, int]:
        """Where each variable stands."""
        return self.tree.number()

    @cached_property
    def starts(self) -> Sequence[int]:
        """Where the marginal of each variable begins in a row."""
        return [0, *np.cumsum(self.tree.sizes).tolist()]

    @cached_property
    def entries(self) -> int:
        """The entries of all cliques."""
        return sum(self.tree.entries(clique.axes) for clique in self.tree.cliques)

    @cached_property
    def _layout(self) -> tuple[_Tree, list[Array]]:
        """The tree as C reads it, and the arrays that it points to."""
        tree = self.tree
        in_place = [self.tables[table] for clique in tree.cliques for table in clique.tables]
        values = [np.ascontiguousarray(table.values, dtype=float).ravel() for table in in_place]
        parts: dict[str, Array] = {
            "sizes": _numbers(tree.sizes),
            "levels_at": _numbers(self.starts),
            **_listed("axes", [clique.axes for clique in tree.cliques]),
            "table_at": _ends([clique.tables for clique in tree.cliques]),
            "values_at": _ends(values),
            **_listed("scope", [table.axes for table in in_place]),
            "child_at": _ends([clique.children for clique in tree.cliques]),
            "children": _numbers([child for clique in tree.cliques for child in clique.children]),
            "values": np.concatenate([*values, np.zeros(1)]),
            "least": np.array([*(table.min(initial=1.0, where=table > 0) for table in values), 1.0]),
        }
        separators = sum(tree.entries(clique.separator) for clique in tree.cliques)
        pointers = {name: array.ctypes.data for name, array in parts.items()}
        return _Tree(len(tree.names), self.entries, separators, len(in_place), **pointers), list(parts.values())

    def marginals(self, given: Array) -> Marginals | None:
        """All marginals for rows of evidence: a level of each variable, or -1. None where memory is short."""
        tree, _ = self._layout
        rows = len(given)
        values = np.zeros((rows, self.starts[-1]))
        logs, outcome = np.empty(rows), np.empty(rows, dtype=np.int64)
        run = _messages(rows * self.entries > WORTH_COMPILING)
        pointers = (given.ctypes.data, values.ctypes.data, logs.ctypes.data, outcome.ctypes.data)
        if not run(ctypes.byref(tree), rows, *pointers):
            return None
        return Marginals(values, logs + self.log_scale, outcome == 0)


def compile_network(graph: Graph) -> CompiledNetwork | Declined:
    """The network's tree and tables; declined where it is not one of finite variables, or too large."""
    if find_compiler() is None and not has_memory_compiler():
        return Declined(WORD, "there is no C compiler")
    if graph.potentials:
        return Declined(WORD, f"`{min(graph.potentials)}` is a potential")
    for name, node in graph.nodes.items():
        if node.kind not in ("random", "deterministic") or (node.kind == "random" and not node.domain.is_finite):
            return Declined(WORD, f"`{name}` has not finitely many values")
    problem = Problem(graph, {}, frozenset(graph.nodes), MOST_ENTRIES * 8)
    sizes = {name: problem.tabulator.levels[name].size for name in problem.discrete}
    scopes = [table.names for table in problem.tables]
    tree = build_tree(scopes, sizes)
    if sum(tree.entries(clique.axes) for clique in tree.cliques) > MOST_ENTRIES:
        return Declined(WORD, f"the cliques of all variables together have more than {MOST_ENTRIES} entries")
    if tree.loose or not tree.cliques or tree.width >= MOST_AXES:
        return Declined(WORD, "a table holds no variable, or too many")
    try:
        tables, log_scale = entered(tree, scopes, [table.log_values for table in problem.tables], SUM)
    except FloatingPointError:
        return Declined(WORD, "probabilities of a table underflow")
    return CompiledNetwork(problem.tabulator.levels, tree, tables, log_scale)


def _messages(much: bool) -> Any:
    return _function(much or _is_ready())


@lru_cache(maxsize=1)
def _is_ready() -> bool:
    compiler = find_compiler()
    return compiler is not None and is_compiled(_source(), compiler, FLAGS)


@lru_cache(maxsize=2)
def _function(optimised: bool) -> Any:
    """`infer_rows`, by an optimising compiler where it is there or worth it."""
    source, compiler = _source(), find_compiler()
    if compiler is not None and (optimised or not has_memory_compiler()):
        return _typed(compiled(source, compiler, FLAGS).infer_rows)
    return _typed(compiled_in_memory(source).infer_rows)


def _typed(function: Any) -> Any:
    function.restype = ctypes.c_int64
    function.argtypes = [ctypes.c_void_p, ctypes.c_int64, *[ctypes.c_void_p] * 4]
    return function


@lru_cache(maxsize=1)
def _source() -> str:
    return Path(__file__).with_name("messages.c").read_text(encoding="utf-8")


def _numbers(values: Sequence[int]) -> Array:
    return np.array([*values, 0], dtype=np.int64)


def _ends(parts: Sequence[Any]) -> Array:
    """Where each part begins, and where the last one ends."""
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _listed(name: str, parts: Sequence[Sequence[int]]) -> dict[str, Array]:
    return {f"{name}_at": _ends(parts), name: _numbers([one for part in parts for one in part])}
