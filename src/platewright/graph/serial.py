"""Graphs as JSON and back: a model's parts, and what is known."""

from __future__ import annotations

from platewright.algebra.serial import list_from_json, text_from_json
from platewright.errors import FormatError
from platewright.graph.graph import Graph, topological
from platewright.language.serial import Written, parts_from_json, parts_json, table_from_json


def graph_json(graph: Graph) -> Written:
    """A graph as plain JSON data."""
    parts = parts_json(graph.title, graph.plates, graph.nodes, graph.potentials)
    return {**parts, "known": sorted(graph.known)}


def graph_from_json(data: object) -> Graph:
    """The graph that `graph_json` wrote; a `FormatError` or `CycleError` says why anything else is none."""
    written = table_from_json(data, "title", "plates", "variables", "potentials", "known")
    known = frozenset(text_from_json(name) for name in list_from_json(written["known"]))
    parts = {key: value for key, value in written.items() if key != "known"}
    title, plates, nodes, potentials = parts_from_json(parts)
    if strangers := known - set(nodes):
        raise FormatError(f"`{min(strangers)}` is known but not in the graph"[:80])
    graph = Graph(title, plates, nodes, potentials, known)
    topological(graph)
    return graph
