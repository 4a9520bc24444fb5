"""Put something else in for a variable, wherever a graph refers to it.

    p(y | mu[z[n]])   with   mu[k] = a + b[k]      becomes      p(y | a + b[z[n]])

Places are carried along: the reference `mu[z[n]]` is handed over with its index already rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from platewright.algebra.expression import Expression, Reference, mentions, names, rebuild
from platewright.graph.graph import Graph
from platewright.language.variable import Potential, Variable

Replacement = Callable[[Reference], Expression]


def replace_references(whole: Expression, changes: Mapping[str, Replacement]) -> Expression:
    """The expression with each reference to a changed name replaced, innermost first."""
    if not mentions(whole, set(changes)):
        return whole
    rewritten = rebuild(whole, lambda part: replace_references(part, changes))
    if isinstance(rewritten, Reference) and rewritten.name in changes:
        return changes[rewritten.name](rewritten)
    return rewritten


def replaced_in_node(node: Variable, changes: Mapping[str, Replacement]) -> Variable:
    """A node with its density, definition and parameters rewritten."""
    definition = node.definition if node.definition is None else replace_references(node.definition, changes)
    parameters, given = (
        tuple((name, replace_references(value, changes)) for name, value in pairs)
        for pairs in (node.parameters, node.given)
    )
    log_density = replace_references(node.log_density, changes)
    return replace(node, log_density=log_density, definition=definition, parameters=parameters, given=given)


def replaced_in_graph(graph: Graph, changes: Mapping[str, Replacement]) -> Graph:
    """A graph with all nodes and potentials that mention a changed name rewritten; the nodes themselves stay."""
    wanted = set(changes)
    nodes = {
        name: replaced_in_node(node, changes) if graph.nodes[name].parents & wanted or name in wanted else node
        for name, node in graph.nodes.items()
    }
    potentials = {
        name: replace(
            potential,
            expression=replace_references(potential.expression, changes),
            of=_members(graph, potential, changes),
        )
        for name, potential in graph.potentials.items()
    }
    return replace(graph, nodes=nodes, potentials=potentials)


def _members(graph: Graph, potential: Potential, changes: Mapping[str, Replacement]) -> tuple[str, ...]:
    """The component a potential is of, under the new names."""
    found: dict[str, None] = {}
    for name in potential.of:
        new = changes[name](graph.nodes[name].symbol) if name in changes else None
        found |= dict.fromkeys([name] if new is None else sorted(names(new)))
    return tuple(found)
