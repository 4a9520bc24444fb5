"""Separation: which independences a chain graph with plates promises  (Frydenberg, 1990; Section 3.2).

1. expand the plates            2. keep the smallest ancestral set of all nodes asked about
3. marry the parents of each chain component, drop directions        4. is every path blocked by what is given?
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from platewright.errors import UnknownName
from platewright.graph.expansion import Instances, expand_plates, instances_of, plate_sizes
from platewright.graph.graph import Graph

Arcs = dict[str, set[str]]


def separated(
    graph: Graph,
    a: str | Iterable[str],
    b: str | Iterable[str],
    given: str | Iterable[str] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> bool:
    """Whether `a` and `b` are independent given `given` (by default, what is known) in every model with this graph.

    A name stands for all elements of its variable, `"x[0]"` for one of them. Inputs are always given.
    """
    all_sizes = plate_sizes(graph, sizes)
    instances = expand_plates(graph, all_sizes)
    conditions = sorted(graph.known) if given is None else given
    chosen = [_chosen(graph, instances, all_sizes, names) for names in (a, b, conditions)]
    return separated_instances(instances, *chosen)


def _chosen(graph: Graph, instances: Instances, sizes: Mapping[str, int], names: str | Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for name in (names,) if isinstance(names, str) else names:
        if name in graph.nodes:
            found.update(instances_of(graph, name, sizes))
        elif name in instances.nodes:
            found.add(name)
        else:
            raise UnknownName(name, graph.nodes, where="separated")
    return frozenset(found)


def separated_instances(instances: Instances, a: frozenset[str], b: frozenset[str], given: frozenset[str]) -> bool:
    """The same question to a graph without plates."""
    parents, children, neighbours = _arcs(instances)
    blocked = _determined(instances, set(given) | instances.given, parents, children)
    if (a - blocked) & (b - blocked):
        return False
    # A tie is a known common child: it is asked about always.
    asked = a | b | given | frozenset(name for tie in instances.ties for name in tie)
    kept = _closed(asked, parents, neighbours)
    moral = _moral(kept, parents, neighbours)
    for tie in instances.ties:
        _marry(moral, tie)
    reached = set(a - blocked)
    waiting = list(reached)
    while waiting:
        for name in moral[waiting.pop()] - reached - blocked:
            reached.add(name)
            waiting.append(name)
    return not reached & b


def _arcs(instances: Instances) -> tuple[Arcs, Arcs, Arcs]:
    parents: Arcs = {name: set() for name in instances.nodes}
    children: Arcs = {name: set() for name in instances.nodes}
    neighbours: Arcs = {name: set() for name in instances.nodes}
    for tail, head in instances.directed:
        parents[head].add(tail)
        children[tail].add(head)
    for pair in instances.undirected:
        for name in pair:
            neighbours[name] |= pair - {name}
    return parents, children, neighbours


def _determined(instances: Instances, given: set[str], parents: Arcs, children: Arcs) -> set[str]:
    """What is given, and with it every function of it."""
    waiting = list(given)
    waiting += [name for name in instances.deterministic if not parents[name] and name not in given]
    found = given | set(waiting)
    while waiting:
        for child in children[waiting.pop()]:
            if child in instances.deterministic and child not in found and parents[child] <= found:
                found.add(child)
                waiting.append(child)
    return found


def _closed(asked: frozenset[str], parents: Arcs, neighbours: Arcs) -> set[str]:
    """The smallest ancestral set: closed under parents and neighbours."""
    kept = set(asked)
    waiting = list(asked)
    while waiting:
        name = waiting.pop()
        for other in (parents[name] | neighbours[name]) - kept:
            kept.add(other)
            waiting.append(other)
    return kept


def _moral(kept: set[str], parents: Arcs, neighbours: Arcs) -> Arcs:
    """Undirected arcs for all arcs, and between all parents of one chain component."""
    moral: Arcs = {name: set(neighbours[name]) for name in kept}
    placed: set[str] = set()
    nothing: Arcs = {name: set() for name in kept}
    for start in kept:
        if start in placed:
            continue
        component = _closed(frozenset((start,)), nothing, neighbours)
        placed |= component
        above: set[str] = set()
        for name in component:
            above |= parents[name]
            for parent in parents[name]:
                moral[name].add(parent)
                moral[parent].add(name)
        _marry(moral, above)
    return moral


def _marry(moral: Arcs, names: Iterable[str]) -> None:
    together = set(names)
    for name in together:
        moral[name] |= together - {name}
