"""Hidden classes of one element that meet in a factor are drawn together  (Section 7.1).

    mother[i] -> blood[i] <- father[i]       blood AB: (a, b) or (b, a)

One at a time neither class can change, since the other forbids it: a chain of single draws would stay in one of the two
pairs for ever. Their joint table has one entry for each combination, so it is kept small.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from platewright.graph.graph import Factor, Graph

MOST_ENTRIES = 36
"""The most combinations of classes in one draw: six by six."""


def tied_classes(graph: Graph, factors: Sequence[Factor], hidden: Sequence[str]) -> list[tuple[str, ...]]:
    """Hidden variables in groups: those on the same plates that meet in factors, as long as their table is small."""
    groups: list[list[str]] = []
    for name in hidden:
        group = next((group for group in groups if _joins(graph, factors, group, name)), None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    return [tuple(group) for group in groups]


def _joins(graph: Graph, factors: Sequence[Factor], group: Sequence[str], name: str) -> bool:
    first = graph.nodes[group[0]]
    if graph.nodes[name].axes != first.axes or not first.axes:
        return False
    if not any(name in factor.names and not factor.names.isdisjoint(group) for factor in factors):
        return False
    counts = [_count(graph, member) for member in (*group, name)]
    return all(counts) and prod(counts) <= MOST_ENTRIES


def _count(graph: Graph, name: str) -> int:
    """How many values a class has; 0 where only the data say so."""
    domain = graph.nodes[name].domain
    if domain.levels is None:
        return int(domain.upper - domain.lower) + 1
    return graph.plates[domain.levels].size or 0
