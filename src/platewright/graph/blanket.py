"""The Markov blanket: what a node depends on once everything else is given  (Definition 6.2, Equation 22).

    blanket(u) = neighbours(u) + nd_parents(u) + nd_children(u) + nd_parents(chain components of nd_children(u)) - u

Nodes that share a potential without undirected members count as neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping

from platewright.algebra.expression import names
from platewright.graph.components import component_of, undirected_neighbours
from platewright.graph.determinism import nd_children, nd_parents, nondeterministic
from platewright.graph.graph import Graph


def loose_ties(graph: Graph) -> Mapping[str, frozenset[str]]:
    """Potentials without undirected members, each with the non-deterministic variables that it ties."""
    found = {}
    for name, potential in graph.potentials.items():
        members = names(potential.expression)
        if all(graph.nodes[member].kind != "undirected" for member in members):
            found[name] = nondeterministic(graph.nodes, members)
    return found


def markov_blanket(graph: Graph, node: str) -> frozenset[str]:
    """The non-deterministic variables that make `node` independent of all others; plates are ignored."""
    found = set(undirected_neighbours(graph, node))
    for tied in loose_ties(graph).values():
        if node in tied:
            found |= tied
    found |= nd_parents(graph, node)
    children = nd_children(graph, node)
    found |= children
    for child in children:
        for member in component_of(graph, child):
            found |= nd_parents(graph, member)
    return frozenset(found - {node})
