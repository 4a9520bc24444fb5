"""A program without passes: statements on parameters and columns, with the data that they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from platewright.algebra.expression import Index, names
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import Graph
from platewright.program.program import Program
from platewright.program.statements import Assign


def body_program(
    graph: Graph, body: Sequence[Assign], arrays: Mapping[str, tuple[Index, ...]] | None = None
) -> Program:
    """The statements as a program; `arrays` are columns that are not nodes, where their axes are known.

    Other names that no statement makes are columns too (moments, as mean field has them).
    """
    used = {name for statement in body for name in names(statement.expression)}
    made = {statement.name for statement in body}
    nodes = {name: node for name, node in graph.nodes.items() if name in used}
    columns = {name: node.axes for name, node in nodes.items()}
    columns |= {name: axes for name, axes in (arrays or {}).items() if name in used}
    columns |= {name: () for name in sorted(used - made) if name not in columns}
    codes = {name: str(node.domain.levels) for name, node in nodes.items() if node.domain.kind == "levels"}
    return Program(graph.title, columns, (), tuple(body), tuple(s.name for s in body), codes, fixed_sizes(graph))
