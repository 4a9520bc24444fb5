"""Reverse an arc by Bayes' theorem  (Section 4.1.1, Figure 16; Shachter 1986).

    P -> b -> a <- Q        becomes        P -> b <- a <- Q,   P -> a,   Q -> b

    p(a | P, Q) = sum_b p(b | P) p(a | b, Q)          p(b | a, P, Q) = p(b | P) p(a | b, Q) / p(a | P, Q)

The tail `b` must take finitely many values; the head `a` may be anything. Both nodes share their parents afterwards.
"""

from __future__ import annotations

from dataclasses import replace

from platewright.algebra.build import add, log_sum_exp, multiply, substitute
from platewright.algebra.expression import Expression, Index, Reference, all_indices, bound, fresh, walk
from platewright.graph.components import undirected_neighbours
from platewright.graph.graph import Graph
from platewright.language.plate import Plate
from platewright.language.variable import Variable
from platewright.operation import Declined, Step

NAME = "reverse_arc"
MOST_LEVELS = 1_000


def reverse_arc(graph: Graph, tail: str, head: str) -> Step | Declined:
    """Turn `tail -> head` round; the joint density stays the same."""
    if reason := _refusal(graph, tail, head):
        return Declined(NAME, reason)
    b, a = graph.nodes[tail], graph.nodes[head]
    levels = _levels(graph, b)
    wider = graph if levels.name in graph.plates else replace(graph, plates={**graph.plates, levels.name: levels})
    taken = {*all_indices(a.log_density), *all_indices(b.log_density), *a.axes, *b.axes}
    index = fresh(Index(levels.name, levels.name), taken)
    both = add(b.log_density, a.log_density)
    value: Expression = index if b.domain.kind == "levels" else add(index, b.domain.lower)
    summed = log_sum_exp(substitute(both, {b.symbol: value}), index)
    new_a = replace(a, log_density=summed, family=None, parameters=(), given=(), optional=())
    new_b = replace(b, log_density=add(both, multiply(-1.0, summed)), family=None, parameters=(), given=(), optional=())
    return Step(
        operation=NAME,
        before=graph,
        after=wider.with_nodes([new_b, new_a]),
        because=f"{tail} takes finitely many values and no other path leads from it to {head}",
        reference="Section 4.1.1, Figure 16",
        formulas=(
            f"log p({head} | ...) = {summed}",
            f"log p({tail} | {head}, ...) = log p({tail} | ...) + log p({head} | {tail}, ...) - log p({head} | ...)",
        ),
    )


def _refusal(graph: Graph, tail: str, head: str) -> str:
    """The condition that fails, or nothing."""
    for name in (tail, head):
        if name not in graph.nodes:
            return f"there is no node {name}"
        if graph.nodes[name].kind != "random":
            return f"{name} has no conditional of its own: it is {graph.nodes[name].kind}"
    if tail not in graph.parents[head]:
        return f"there is no arc from {tail} to {head}"
    if between := _other_path(graph, tail, head):
        return f"a second path leads from {tail} to {head}, through {between}: reversal would close a circle"
    b, a = graph.nodes[tail], graph.nodes[head]
    if not b.domain.is_finite:
        return f"{tail} is {b.domain}: the sum over it is an integral, which needs a recognised form"
    if b.domain.kind == "integer" and b.domain.upper - b.domain.lower >= MOST_LEVELS:
        return f"{tail} takes more than {MOST_LEVELS} values"
    if set(a.plates) != set(b.plates):
        return f"{tail} and {head} are on different plates"
    return _placing(a, b) or _placing(b, b)


def _placing(node: Variable, tail: Variable) -> str:
    """Every mention of the tail must be at its own element, and nothing may look at another element of the node."""
    for part in walk(node.log_density):
        if isinstance(part, Reference) and part.name == tail.name and part.indices != tail.axes:
            return f"{node.name} depends on {part}, another element than its own"
        if isinstance(part, Reference) and part.name == node.name and part.indices[: len(node.plates)] != node.plates:
            return f"{node.name} depends on its own {part}, another element of its plate"
        if set(bound(part)) & set(tail.plates):
            return f"{node.name} sums over a plate that {tail.name} is on"
    return ""


def _other_path(graph: Graph, tail: str, head: str) -> str:
    """A node on a directed path of length two or more from tail to head, or nothing; undirected arcs may be on it."""
    above: set[str] = set()
    waiting = [name for name in graph.parents[head] if name != tail]
    while waiting:
        name = waiting.pop()
        if name not in above:
            above.add(name)
            waiting.extend(graph.parents[name] | undirected_neighbours(graph, name))
    found = graph.children[tail] & above
    return min(found) if found else ""


def _levels(graph: Graph, tail: Variable) -> Plate:
    """The plate whose elements are the values of the tail; an integer range gets a hidden one."""
    if tail.domain.kind == "levels":
        return graph.plates[str(tail.domain.levels)]
    return Plate(f"{tail.name}.levels", int(tail.domain.upper - tail.domain.lower) + 1)
