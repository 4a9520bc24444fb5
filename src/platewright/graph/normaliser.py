"""The normaliser of an undirected component  (Theorem 2.1 inside Equation 7).

    p(tau | parents) = prod_C f_C(C) / Z(parents),        Z(parents) = sum over tau of prod_C f_C(C)

The sums are pushed inwards, as on a junction tree: a chain takes tables over two variables however long it is, a grid
those over one of its sides.

`Graph.log_joint` leaves the log normalisers out. That is harmless while all parents of a component are known; with an
unknown parent, Z depends on it and belongs to its posterior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from platewright.algebra.build import add, log_sum_exp, multiply, totals
from platewright.algebra.expression import Expression, Index, free_indices
from platewright.graph.components import Component, chain_components
from platewright.graph.copies import CannotWrite, Copies
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Potential

MOST_NUMBERS = 2**18
"""Numbers of a table above which a normaliser is refused before anything is summed."""
TINY = 64
"""Numbers of a table that cost nothing beside the sum itself."""


def potentials_of(graph: Graph, component: Component) -> tuple[Potential, ...]:
    """The potentials that touch a component."""
    return tuple(found for found in graph.potentials.values() if graph.inside(found) & component)


def log_normaliser(graph: Graph, component: Component) -> Factor | str:
    """`log Z(parents)` of an undirected component by summing over all levels, or the reason why it has no such form."""
    members = [graph.nodes[name] for name in graph.nodes if name in component]
    for node in members:
        if node.domain.kind != "levels":
            return f"`{node.name}` is {node.domain}: its levels cannot be summed over"
    copies = Copies(graph, members, potentials_of(graph, component))
    try:
        terms = copies.terms()
    except CannotWrite as refusal:
        return str(refusal)
    body = _summed_out(graph, terms, list(copies.levels.values()))
    return body if isinstance(body, str) else Factor(members[0].name, copies.shared, body)


def _summed_out(graph: Graph, terms: list[Expression], levels: list[Index]) -> Expression | str:
    """All levels summed out one variable after another, in an order with small tables.

    sum over a, b, c of f(a, b) g(b, c)  =  sum over b of (sum over a of f(a, b)) (sum over c of g(b, c))
    """
    sizes = {index: graph.plates[index.plate].size or 2 for index in levels}
    scopes = [(frozenset(sizes) & free_indices(term), term) for term in terms]
    order = elimination_order(sizes, [scope for scope, _ in scopes])
    if isinstance(order, str):
        return order
    for index in order:
        met = [(scope, term) for scope, term in scopes if index in scope]
        rest = [(scope, term) for scope, term in scopes if index not in scope]
        table = frozenset().union(*(scope for scope, _ in met))
        scopes = [*rest, (table - {index}, log_sum_exp(add(*(term for _, term in met)), index))]
    return add(*(term for _, term in scopes))


def elimination_order(sizes: Mapping[Index, int], scopes: Sequence[frozenset[Index]]) -> list[Index] | str:
    """An order with small tables, or how large they would be; where all are tiny, one of few sums within sums."""
    shallow, largest = _order(sizes, scopes, shallow=True)
    if largest <= TINY:
        return shallow
    order, largest = _order(sizes, scopes, shallow=False)
    if largest > MOST_NUMBERS:
        return f"summing its levels out, one variable after another, takes tables of {largest:,} numbers"
    return order


def _order(sizes: Mapping[Index, int], scopes: Sequence[frozenset[Index]], shallow: bool) -> tuple[list[Index], int]:
    """The variables in the order in which they go, the smallest table first, and the largest table."""
    around: dict[Index, set[Index]] = {index: set() for index in sizes}
    for scope in scopes:
        for index in scope:
            around[index] |= scope - {index}
    depth = dict.fromkeys(sizes, 0)
    most, largest = TINY if shallow else MOST_NUMBERS, 1
    cost = {index: sizes[index] * prod(sizes[one] for one in others) for index, others in around.items()}
    order: list[Index] = []
    while cost and largest <= most:
        index = min(cost, key=lambda one: (depth[one] if shallow and cost[one] <= TINY else 0, cost[one]))
        largest = max(largest, cost.pop(index))
        order.append(index)
        near = around.pop(index)
        for one in near:
            around[one] = (around[one] | near) - {one, index}
            depth[one] = max(depth[one], depth[index] + 1)
        cost |= {one: sizes[one] * prod(sizes[other] for other in around[one]) for one in near}
    return order, largest


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
