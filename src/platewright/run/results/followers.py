"""The nodes of a model that follow from what was learned: functions of unknowns, and what nobody depends on.

    mu, tau learned      sd = tau ** -0.5 follows;   y.missing, which is below both, is predicted

A function that needs a column which is not in memory, or an unknown that was integrated out, has no value here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from platewright.graph.graph import Graph, topological


def followers(
    graph: Graph,
    learned: Collection[str],
    barren: Collection[str],
    columns: Collection[str],
    sizes: Mapping[str, int],
) -> tuple[str, ...]:
    """Functions and predicted nodes all of whose parents have values, parents first."""
    valued = {*learned, *columns}
    found = []
    for name in topological(graph):
        node = graph.nodes[name]
        if name in valued or any(axis.plate not in sizes for axis in node.axes):
            continue
        if (node.kind == "deterministic" or name in barren) and graph.parents[name] - {name} <= valued:
            valued.add(name)
            if not graph.is_known(name):
                found.append(name)
    return tuple(found)


def worth_showing(
    graph: Graph, learned: Collection[str], functions: Collection[str], barren: Collection[str]
) -> tuple[str, ...]:
    """What was learned, functions of it and what has its prior, but for rows of data, in the order of writing."""
    rows = {axis.plate for name in graph.known for axis in graph.nodes[name].axes[:1]}
    shown = set(learned) - set(barren)
    shown |= {name for name in functions if not rows & {axis.plate for axis in graph.nodes[name].axes}}
    return tuple(name for name in graph.nodes if name in shown)


def plates_without_size(graph: Graph, name: str, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """The plates of a node of which neither model nor data say how large they are."""
    axes = graph.nodes[name].axes if name in graph.nodes else ()
    return tuple(axis.plate for axis in axes if axis.plate not in sizes)
