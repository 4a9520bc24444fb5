"""Arrays that eliminations left to be computed, and the nodes that they are computed from.

    w -> [ y (known) ] <- g        eliminate w        g -> ((block1.residual)) -> its factor

An array that is made of known nodes alone is a statistic. One that is made of unknowns too is a function of them, drawn
as a double oval, though it has no formula: a triangularisation computes it (Figure 33).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from platewright.algebra.expression import names
from platewright.graph.graph import Graph
from platewright.language.variable import Kind
from platewright.program.program import expressions_of
from platewright.program.statements import Assign, Pool, Triangularise

Statement = Assign | Pool | Triangularise
SOURCES = ("random", "undirected", "input")
"""The kinds of nodes that have values of their own."""


def sources_of(graph: Graph) -> dict[str, frozenset[str]]:
    """For each statement of a graph, by its name, all that it and the statements before it read."""
    found: dict[str, frozenset[str]] = {}
    for statement in graph.statements:
        read = {name for expression in expressions_of(statement) for name in names(expression)}
        if isinstance(statement, Triangularise):
            read |= {source.pool for source in statement.sources if source.pool is not None}
        whole = set(read)
        for name in read:
            whole |= found.get(name) or found.get(name.rpartition(".")[0]) or frozenset()
        found[statement.name] = frozenset(whole)
    return found


def with_functions(graph: Graph) -> Graph:
    """The graph with each computed array a statistic, or a function of the unknowns that it is made of."""
    sources = sources_of(graph)
    changed = {}
    for name, node in graph.nodes.items():
        made_of = sources.get(name) or sources.get(name.rpartition(".")[0])
        if made_of is not None and node.kind in ("statistic", "deterministic"):
            reads = tuple(other for other in graph.nodes if other in made_of and graph.nodes[other].kind in SOURCES)
            of_unknowns = any(other in graph.unknown for other in reads)
            kind: Kind = "deterministic" if of_unknowns else "statistic"
            changed[name] = replace(node, kind=kind, reads=reads if of_unknowns else ())
    return graph.with_nodes(changed.values()) if changed else graph


def computed_from(graph: Graph, name: str) -> str:
    """An array that is computed from an unknown, where there is one."""
    found = (node.name for node in graph.nodes.values() if node.reads and name in node.reads)
    return next(found, "")


def statements_for(graph: Graph, wanted: Collection[str]) -> tuple[Statement, ...]:
    """The statements that compute arrays among the wanted, and those that they build on."""
    sources = sources_of(graph) if graph.statements else {}
    needed = {name if name in sources else name.rpartition(".")[0] for name in wanted}
    needed = needed.intersection(sources)
    for name in tuple(needed):
        needed |= {other if other in sources else other.rpartition(".")[0] for other in sources[name]}
    return tuple(statement for statement in graph.statements if statement.name in needed)


def stranded(graph: Graph) -> str:
    """Which array could not be computed any more, and what is missing for it; nothing where all is there."""
    sources = sources_of(graph)
    arrays = {name for name in graph.nodes if name.rpartition(".")[0] in sources}
    for name, read in sources.items():
        for other in sorted(read - set(graph.nodes) - set(sources) - arrays):
            if other.rpartition(".")[0] not in sources:
                return f"{name}, which an elimination left, is computed from {other}"
    return ""
