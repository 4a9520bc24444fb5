"""One piece of a decomposition as a graph of its own  (Theorem 6.1).

    [v1] -> [v2] <- theta2          the piece of theta2:          v1 (input) -> [v2] <- theta2

A piece has the factors assigned to it and all that they mention. Known nodes whose own factor is elsewhere are inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from platewright.algebra.expression import Expression, Size, all_indices, names, walk
from platewright.algebra.kept import kept
from platewright.graph.computed import sources_of, statements_for
from platewright.graph.determinism import functions_behind
from platewright.graph.graph import Graph
from platewright.language.plate import Plate
from platewright.language.variable import Potential, Variable
from platewright.operations.drop_settled_arcs import without_density


def piece_of(graph: Graph, owned: Iterable[str], order: Mapping[str, int]) -> Graph:
    """The subgraph with the factors (of nodes and potentials) in `owned`, and with everything they mention."""
    chosen = sorted(owned, key=order.__getitem__)
    potentials = {name: graph.potentials[name] for name in chosen if name in graph.potentials}
    own = {name for name in chosen if name in graph.nodes}
    mentioned = set(own)
    for name in own:
        mentioned |= graph.nodes[name].parents
    for potential in potentials.values():
        own |= graph.inside(potential)
        mentioned |= names(potential.expression)
    functions = functions_behind(graph.nodes, mentioned)
    mentioned |= functions
    for name in functions:
        mentioned |= graph.nodes[name].parents
    statements = statements_for(graph, mentioned)
    if statements:
        sources = sources_of(graph)
        mentioned |= {name for statement in statements for name in sources[statement.name] if name in graph.nodes}
    nodes = {}
    for name in sorted(mentioned, key=order.__getitem__):
        node = graph.nodes[name]
        elsewhere = node.kind in ("random", "undirected") and name not in own
        nodes[name] = without_density(graph, name) if elsewhere else node
    plates = _plates(graph.plates, nodes, potentials)
    return Graph(graph.title, plates, nodes, potentials, graph.known & mentioned, statements, graph.about)


def written_order(graph: Graph) -> dict[str, int]:
    """The place of each node and potential in the order of writing."""
    return {name: at for at, name in enumerate((*graph.nodes, *graph.potentials))}


def _plates(
    plates: Mapping[str, Plate], nodes: Mapping[str, Variable], potentials: Mapping[str, Potential]
) -> dict[str, Plate]:
    """The plates that the piece uses: axes, levels, sums, sizes, and the plates those lie within or are like."""
    used: set[str] = set()
    sources = [potential.expression for potential in potentials.values()]
    for node in nodes.values():
        used.update(axis.plate for axis in node.axes)
        if node.domain.levels is not None:
            used.add(node.domain.levels)
        sources += [node.log_density, *(value for _, value in node.parameters)]
        if node.definition is not None:
            sources.append(node.definition)
    for source in sources:
        used |= plates_in(source)
    waiting = list(used)
    while waiting:
        plate = plates.get(waiting.pop())
        for outer in (plate.within, plate.like) if plate is not None else ():
            if outer is not None and outer not in used:
                used.add(outer)
                waiting.append(outer)
    return {name: plate for name, plate in plates.items() if name in used}


@kept
def plates_in(expression: Expression) -> frozenset[str]:
    """The plates that an expression has an index on, or the size of."""
    sizes = {part.plate for part in walk(expression) if isinstance(part, Size)}
    return frozenset(sizes | {index.plate for index in all_indices(expression)})
