"""Remove what nobody depends on  (Section 4.1.2).

    a -> b -> y (unknown)          becomes      a -> b
    a -> x - y  (both unknown)     becomes      a

The factor p(y | parents), or p(component | parents), sums to one and is left out of the product of Equation 7.
"""

from __future__ import annotations

from dataclasses import replace

from platewright.algebra.expression import mentions
from platewright.graph.components import Component, component_of
from platewright.graph.graph import Graph, topological
from platewright.operation import Declined, Step

NAME = "remove_barren"


def remove_barren(graph: Graph, node: str) -> Step | Declined:
    """Remove an unknown node, with its chain component, when it has no children."""
    if node not in graph.nodes:
        return Declined(NAME, f"there is no node {node}")
    component = component_of(graph, node)
    members = [name for name in graph.nodes if name in component] if len(component) > 1 else [node]
    for name in members:
        if reason := _kept(graph, name, component):
            return Declined(NAME, reason)
    left = {name: found for name, found in graph.potentials.items() if not graph.inside(found) & component}
    after = replace(graph.without(members), potentials=left)
    are = "is unknown and has" if len(members) == 1 else "are unknown and have"
    because = f"{', '.join(members)} {are} no children"
    if graph.nodes[node].kind == "deterministic":
        because = f"{node} is a function that nothing uses"
    return Step(NAME, graph, after, because, reference="Section 4.1.2")


def remove_all_barren(graph: Graph) -> Step | Declined:
    """Remove barren nodes until none is left; what is learned needs no utilities, so they go too."""
    after, reasons = graph, []
    for name in reversed(topological(graph)):
        if name in after.nodes and name not in after.known:
            found = remove_barren(after, name)
            if isinstance(found, Step):
                after = found.after
                reasons.append(found.because)
    if not reasons:
        return Declined(NAME, "every unknown node has a child, or is needed by one")
    return Step(NAME, graph, after, "; ".join(reasons), reference="Section 4.1.2")


def _kept(graph: Graph, name: str, component: Component) -> str:
    """Why a member cannot go; empty when it can."""
    node = graph.nodes[name]
    if name in graph.known or node.kind in ("input", "statistic"):
        return f"{name} is known"
    if node.role == "utility":
        return f"{name} is a utility: it is what decisions are made for"
    if children := [child for child in graph.nodes if child in graph.children[name] and child not in component]:
        return f"{name} has the child {children[0]}"
    if node.kind != "undirected":
        for potential in graph.potentials.values():
            if mentions(potential.expression, {name}):
                return f"potential {potential.name} depends on {name}"
    elif not node.domain.is_finite:
        return f"{name} is {node.domain}: it is not certain that its component can be integrated"
    if node.family is not None and not node.family.proper:
        return f"the density of {name} is improper ({node.family.name}): it does not integrate to one"
    return ""
