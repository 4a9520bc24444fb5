"""Chain components and the Bayesian network on them  (Definition 2.2, Equation 7, Figure 8).

    a -> x - y -> b       has components {a}, {x, y}, {b}, and the network      {a} -> {x, y} -> {b}

Only undirected variables share a component. A potential on random variables alone is a factor of the joint like
evidence on a common child; it ties them (see `blanket`), but leaves each in a component of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush

from platewright.errors import CycleError
from platewright.graph.graph import Graph, parents_now

Component = frozenset[str]


def undirected_neighbours(graph: Graph, node: str) -> frozenset[str]:
    """The undirected variables that share an undirected arc with an undirected `node`; none for any other node."""
    if graph.nodes[node].kind != "undirected":
        return frozenset()
    return frozenset(name for name in graph.neighbours[node] if graph.nodes[name].kind == "undirected")


def component_of(graph: Graph, node: str) -> Component:
    """The chain component of one node."""
    found = {node}
    waiting = [node]
    while waiting:
        more = undirected_neighbours(graph, waiting.pop()) - found
        found |= more
        waiting.extend(more)
    return frozenset(found)


def chain_components(graph: Graph) -> tuple[Component, ...]:
    """Maximal sets connected by undirected arcs, parents first, else in the order of writing."""
    return tuple(component_network(graph))


def component_network(graph: Graph) -> Mapping[Component, frozenset[Component]]:
    """The directed graph on chain components: each with its parent components, parents first."""
    home: dict[str, Component] = {}
    for name in graph.nodes:
        if name not in home:
            component = component_of(graph, name)
            home.update(dict.fromkeys(component, component))
    parents = {component: component_parents(graph, component) for component in dict.fromkeys(home.values())}
    network = {component: frozenset(home[name] for name in found) for component, found in parents.items()}
    order = _parents_first(network)
    if len(order) < len(network):
        # Where one looks at the other a step back only, neither is before the other.
        looked_at = parents_now(graph)
        now = {one: frozenset(home[p] for name in one for p in looked_at[name] - one) for one in network}
        order = _parents_first(now)
    if len(order) < len(network):
        left = [", ".join(sorted(component)) for component in network if component not in order]
        raise CycleError(
            f"arcs run in a circle through the components {{{'}, {'.join(left)}}}",
            expected="a chain graph: no way along directed and undirected arcs back to the start",
        )
    return {component: network[component] for component in order}


def component_parents(graph: Graph, component: Component) -> frozenset[str]:
    """`parents(A)`: the parents of the members, less the members."""
    found: set[str] = set()
    for name in component:
        found |= graph.parents[name]
    return frozenset(found - component)


def _parents_first(network: dict[Component, frozenset[Component]]) -> tuple[Component, ...]:
    """Sort by arcs with the written order kept where arcs allow; those in a circle, and after one, are left out."""
    children: dict[Component, list[Component]] = {component: [] for component in network}
    missing = {component: len(parents) for component, parents in network.items()}
    for component, parents in network.items():
        for parent in parents:
            children[parent].append(component)
    written = {component: at for at, component in enumerate(network)}
    order = list(network)
    result: list[Component] = []
    ready = [at for at, component in enumerate(order) if missing[component] == 0]
    while ready:
        component = order[heappop(ready)]
        result.append(component)
        for child in children[component]:
            missing[child] -= 1
            if missing[child] == 0:
                heappush(ready, written[child])
    return tuple(result)


def undirected_components(graph: Graph) -> tuple[Component, ...]:
    """The components that hold undirected variables."""
    if all(node.kind != "undirected" for node in graph.nodes.values()):
        return ()
    every = chain_components(graph)
    return tuple(each for each in every if any(graph.nodes[name].kind == "undirected" for name in each))
