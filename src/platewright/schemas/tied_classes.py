"""Hidden classes of one element that meet in a factor are drawn together  (Section 7.1).

    mother[i] -> blood[i] <- father[i]       blood AB: (a, b) or (b, a)

One at a time neither class can change, since the other forbids it: a chain of single draws would stay in one of the two
pairs for ever. Their joint table has one entry for each combination, so it is kept small.

    g[school] -> z[pupil] -> y[pupil]        draw g with z summed out, then z given g

So it is with classes of plates inside one another: a school of many pupils of known classes hardly ever leaves its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from platewright.algebra.expression import Index
from platewright.graph.graph import Factor, Graph

MOST_ENTRIES = 36
"""The most combinations of classes in one draw: six by six."""
MOST_WITHIN = 400
"""The same over plates inside one another: each inner element weighs its classes once for every class around it."""


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


def may_nest(graph: Graph, factors: Sequence[Factor], one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two groups of classes meet, and the tables of both together are small enough."""
    if any(graph.nodes[name].kind == "undirected" or not graph.nodes[name].axes for name in (*one, *other)):
        return False
    if not any(not factor.names.isdisjoint(one) and not factor.names.isdisjoint(other) for factor in factors):
        return False
    tables: dict[tuple[Index, ...], int] = {}
    for name in (*one, *other):
        axes = graph.nodes[name].axes
        tables[axes] = tables.get(axes, 1) * _count(graph, name)
    return max(tables.values()) <= MOST_ENTRIES and 0 < prod(tables.values()) <= MOST_WITHIN


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
        return domain.listed
    return graph.plates[domain.levels].size or 0
