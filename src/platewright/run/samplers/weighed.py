"""The unknowns of a block that are weighed with others integrated out: the log evidence of the plan of these."""

from __future__ import annotations

from collections.abc import Mapping

from platewright.backends.kernels.weighed import WeighedMover
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.run.samplers.evidence_given import evidence_given
from platewright.schemas.blocks import WeighedBlock

Values = Mapping[str, Array]


class BlockWeighed(WeighedMover):
    """The unknowns of a block."""

    def __init__(self, graph: Graph, block: WeighedBlock, columns: Values, sizes: Mapping[str, int]) -> None:
        ranges = [_range(graph, name, sizes) for name in block.variables]
        super().__init__(ranges, evidence_given(block.plan.program, columns, sizes))


def _range(graph: Graph, name: str, sizes: Mapping[str, int]) -> tuple[str, tuple[int, ...], int, int]:
    """Name, shape, lowest value and number of values of a discrete unknown."""
    node = graph.nodes[name]
    domain = node.domain
    lowest = 0 if domain.kind == "levels" else int(domain.lower)
    levels = sizes[str(domain.levels)] if domain.kind == "levels" else int(domain.upper - domain.lower) + 1
    return name, tuple(sizes[axis.plate] for axis in node.axes), lowest, levels
