"""The move of a block along its orbit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Index
from platewright.backends.kernels.orbit_moves import OrbitMover
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.run.samplers.block_density import BlockDensity
from platewright.schemas.blocks import OrbitBlock
from platewright.schemas.orbits import elements_of


class BlockAlongOrbit(OrbitMover):
    """The unknowns of a block that multiply each other."""

    def __init__(self, graph: Graph, block: OrbitBlock, sizes: Mapping[str, int]) -> None:
        self.orbit, self.sizes = block.orbit, sizes
        slope, intercept = block.orbit.slope, block.orbit.intercept
        domain = graph.nodes[slope.name].domain
        super().__init__(
            BlockDensity(graph, block.variables, block.factors, (), sizes),
            block.orbit.stretched,
            (slope.name, elements_of(slope)),
            (domain.lower, domain.upper),
            block.along == "stretch",
            None if intercept is None else (intercept.name, elements_of(intercept)),
            self._lifted,
        )

    def _lifted(self, values: Mapping[str, Array]) -> Array:
        """The slope that belongs to each element of the intercept that moves, times the ratio of both."""
        assert self.orbit.intercept is not None
        axes = tuple(at for at in self.orbit.intercept.indices if isinstance(at, Index))
        return self.orbit.ratio * np.array(evaluate(self.orbit.slope, Environment(values, self.sizes), axes))
