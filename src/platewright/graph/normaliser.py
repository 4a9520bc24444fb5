"""The normaliser of an undirected component  (Theorem 2.1 inside Equation 7).

    p(tau | parents) = prod_C f_C(C) / Z(parents),        Z(parents) = sum over tau of prod_C f_C(C)

`Graph.log_joint` leaves the log normalisers out. That is harmless while all parents of a component are known; with an
unknown parent, Z depends on it and belongs to its posterior.
"""

from __future__ import annotations

from platewright.algebra.build import add, log_sum_exp, multiply, substitute, totals
from platewright.algebra.expression import Expression, Index, Reference, all_indices, fresh, walk
from platewright.graph.components import Component, chain_components
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Potential


def potentials_of(graph: Graph, component: Component) -> tuple[Potential, ...]:
    """The potentials that touch a component."""
    return tuple(found for found in graph.potentials.values() if graph.inside(found) & component)


def log_normaliser(graph: Graph, component: Component) -> Factor | str:
    """`log Z(parents)` of an undirected component by summing over all levels, or the reason why it has no such form."""
    members = [graph.nodes[name] for name in graph.nodes if name in component]
    plates = members[0].plates
    found = potentials_of(graph, component)
    for node in members:
        if node.domain.kind != "levels":
            return f"`{node.name}` is {node.domain}: its levels cannot be summed over"
        if node.plates != plates:
            return f"`{members[0].name}` and `{node.name}` are on different plates"
    for potential in found:
        if set(potential.axes) != set(plates):
            return f"potential `{potential.name}` is not on the plates of `{members[0].name}`"
        for part in walk(potential.expression):
            if isinstance(part, Reference) and part.name in component and part.indices != plates:
                return f"`{part}` in potential `{potential.name}` reaches another element of its plate"
    body = add(*(potential.expression for potential in found))
    taken: set[Index] = set(all_indices(body)) | set(plates)
    levels: dict[Expression, Index] = {}
    for node in members:
        index = fresh(Index(str(node.domain.levels), str(node.domain.levels)), taken)
        taken.add(index)
        levels[node.symbol] = index
    body = substitute(body, dict(levels))
    for index in levels.values():
        body = log_sum_exp(body, index)
    return Factor(members[0].name, plates, body)


def normalised_log_joint(graph: Graph) -> Expression | str:
    """The log joint of Equation 7 with the normaliser of every undirected component, or why there is no such form."""
    parts = [graph.log_joint]
    for component in chain_components(graph):
        if any(graph.nodes[name].kind == "undirected" for name in component):
            factor = log_normaliser(graph, component)
            if isinstance(factor, str):
                return factor
            parts.append(multiply(-1.0, totals(factor.expression, factor.axes)))
    return add(*parts)
