"""What a graph asks of its data, for fits that come back from a file."""

from __future__ import annotations

from platewright.data.signature import ColumnSpec, PlateSpec, Signature
from platewright.graph.graph import Graph


def signature_of(graph: Graph) -> Signature:
    """The plates, and the columns that data can make known; hidden columns are made while binding."""
    plates = {
        name: PlateSpec(name, plate.size, plate.labels, plate.within, plate.like, plate.ordered)
        for name, plate in graph.plates.items()
    }
    columns = {
        name: ColumnSpec(
            name,
            tuple(axis.plate for axis in node.axes),
            node.domain,
            required=node.kind == "input",
            is_random=node.kind == "random",
        )
        for name, node in graph.nodes.items()
        if "@" not in name and node.kind != "deterministic"
    }
    return Signature(plates, columns)
