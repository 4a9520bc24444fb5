"""Which factors a question can depend on: barren nodes go first  (Section 4.1.2, `operations/remove_barren`).

    a -> b -> y (unknown, not asked about)      leaves      a -> b

What has no known and no asked-about descendant sums to one, with the whole of its chain component.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from platewright.algebra.expression import names
from platewright.graph.components import undirected_neighbours
from platewright.graph.graph import Graph
from platewright.inference.factor import Table


def relevant_nodes(graph: Graph, wanted: Iterable[str], known: Iterable[str]) -> frozenset[str]:
    """The wanted and known nodes, all their ancestors, and the components those lie in."""
    found = {name for name in (*wanted, *known) if graph.nodes[name].kind != "input"}
    for potential in graph.potentials.values():
        if not graph.inside(potential):
            found |= {name for name in names(potential.expression) if graph.nodes[name].kind != "input"}
    waiting = list(found)
    while waiting:
        name = waiting.pop()
        more = (graph.parents[name] | undirected_neighbours(graph, name)) - found
        found |= more
        waiting.extend(more)
    return frozenset(found)


def relevant_tables(tables: Sequence[Table], nodes: frozenset[str]) -> tuple[Table, ...]:
    """The factors of relevant nodes; a factor that belongs to no node counts always."""
    return tuple(table for table in tables if not table.defines or table.defines & nodes)
