"""Islands of determinism: who is tied to whom once double ovals are looked through  (Definition 6.1).

w -> ((h)) -> ((m)) -> y          nd_children(w) = {y}      det_children(w) = {h}
                                  nd_parents(y)  = {w}      det_parents(y)  = {m}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from platewright.graph.graph import Graph, topological
from platewright.language.variable import Variable


def is_deterministic(graph: Graph, node: str) -> bool:
    """Whether a node is a function of its parents."""
    return graph.nodes[node].kind == "deterministic"


def nd_parents(graph: Graph, node: str) -> frozenset[str]:
    """Non-deterministic variables with a path to `node` through deterministic ones only."""
    return _through(graph, graph.parents, node)


def nd_children(graph: Graph, node: str) -> frozenset[str]:
    """Non-deterministic variables with a path from `node` through deterministic ones only."""
    return _through(graph, graph.children, node)


def det_parents(graph: Graph, node: str) -> frozenset[str]:
    """Deterministic parents of `node`."""
    return frozenset(name for name in graph.parents[node] if is_deterministic(graph, name))


def det_children(graph: Graph, node: str) -> frozenset[str]:
    """Deterministic children of `node`."""
    return frozenset(name for name in graph.children[node] if is_deterministic(graph, name))


def _through(graph: Graph, arcs: Mapping[str, frozenset[str]], node: str) -> frozenset[str]:
    reached = set(arcs[node])
    waiting = [name for name in reached if is_deterministic(graph, name)]
    while waiting:
        for name in arcs[waiting.pop()] - reached:
            reached.add(name)
            if is_deterministic(graph, name):
                waiting.append(name)
    return frozenset(name for name in reached if not is_deterministic(graph, name)) - {node}


def nondeterministic(nodes: Mapping[str, Variable], wanted: Iterable[str]) -> frozenset[str]:
    """The wanted names with every deterministic one replaced by what it is a function of."""
    return _looked_through(nodes, wanted)[0]


def functions_behind(nodes: Mapping[str, Variable], wanted: Iterable[str]) -> frozenset[str]:
    """The deterministic nodes among the wanted ones, and those that they are functions of."""
    return _looked_through(nodes, wanted)[1]


def _looked_through(nodes: Mapping[str, Variable], wanted: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    found: set[str] = set()
    functions: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if nodes[name].kind != "deterministic":
            found.add(name)
        elif name not in functions:
            functions.add(name)
            waiting.extend(nodes[name].parents)
    return frozenset(found), frozenset(functions)


def functions_of(graph: Graph, name: str) -> tuple[str, ...]:
    """The functions of unknowns in the factors that an unknown is in, perhaps through functions itself."""
    inside: set[str] = set()
    for factor in graph.factors:
        if name in nondeterministic(graph.nodes, factor.names):
            inside |= functions_behind(graph.nodes, factor.names)
    return tuple(n for n in graph.nodes if n in inside and not graph.nodes[n].reads and not graph.is_known(n))


def settled(graph: Graph) -> frozenset[str]:
    """Every node whose value is fixed: data, inputs, statistics, and functions of such, in one pass over the graph."""
    found: set[str] = set()
    for name in topological(graph):
        node = graph.nodes[name]
        given = name in graph.known or node.kind in ("input", "statistic")
        if given or (node.kind == "deterministic" and graph.parents[name] <= found):
            found.add(name)
    return frozenset(found)
