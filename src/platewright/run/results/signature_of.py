"""What a graph asks of its data, for fits that come back from a file."""

from __future__ import annotations

from platewright.algebra.expression import names
from platewright.data.signature import ColumnSpec, PlateSpec, Signature
from platewright.graph.graph import Graph


def signature_of(graph: Graph) -> Signature:
    """The plates, and the columns that data can make known; hidden columns are made while binding."""
    idle = _only_decided_on(graph)
    plates = {
        name: PlateSpec(name, plate.size, plate.labels, plate.within, plate.like, plate.ordered)
        for name, plate in graph.plates.items()
    }
    columns = {
        name: ColumnSpec(
            name,
            tuple(axis.plate for axis in node.axes),
            node.domain,
            required=node.kind == "input" and name not in idle,
            is_random=node.kind == "random",
        )
        for name, node in graph.nodes.items()
        if "@" not in name and node.kind != "deterministic"
    }
    return Signature(plates, columns)


def _only_decided_on(graph: Graph) -> frozenset[str]:
    """Inputs that utilities alone look at, and actions that change nothing else: rows to learn from may lack them."""
    utilities = [name for name, node in graph.nodes.items() if node.role == "utility"]
    if not utilities:
        return frozenset()
    used = {name for potential in graph.potentials.values() for name in names(potential.expression)}
    used |= {parent for name, node in graph.nodes.items() if node.kind == "random" for parent in graph.parents[name]}
    waiting = list(used)
    while waiting:
        for parent in graph.parents[waiting.pop()] - used:
            used.add(parent)
            waiting.append(parent)
    return frozenset(name for name, node in graph.nodes.items() if node.kind == "input" and name not in used)
