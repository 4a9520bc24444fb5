"""Sizes of plates that do not wait for data."""

from __future__ import annotations

from platewright.graph.graph import Graph


def fixed_sizes(graph: Graph) -> dict[str, int]:
    """Plate sizes that the model fixes, with the numbers of values of finite integers."""
    sizes = {name: plate.size for name, plate in graph.plates.items() if plate.size is not None}
    for name, node in graph.nodes.items():
        if node.domain.kind == "integer" and node.domain.is_finite:
            sizes[f"{name}.levels"] = node.domain.listed
    return sizes
