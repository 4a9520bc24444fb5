"""Move unknowns that multiply each other along their orbit, by a slice in the one number that says where.

    stretch by s:   b' = e^s b,   x' = m + (x - m) e^-s,   a' = a - r b m (e^s - 1)       m the mean of x, or 0
    shift by d:     x' = x + d,   a' = a - r b d

density of s  =  p(x', b', a', rest) e^(s (#b - #x + 1)), without the 1 where m is 0;  that of d has no volume factor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Constant, Index, Reference
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.run.samplers.block_density import BlockDensity
from platewright.run.samplers.coordinate_slices import slice_move
from platewright.schemas.blocks import OrbitBlock


@dataclass(frozen=True, eq=False)
class From:
    """Where on its orbit a move starts."""

    values: Mapping[str, Array]
    middle: float
    lifted: Array | None
    """The slope that belongs to each element of the intercept that moves."""


class OrbitMover:
    """The state of one block of one chain: the width of the bracket."""

    def __init__(self, graph: Graph, block: OrbitBlock, sizes: Mapping[str, int]) -> None:
        self.orbit, self.stretches = block.orbit, block.along == "stretch"
        self.sizes = sizes
        self.names = block.variables
        self.density = BlockDensity(graph, block.variables, block.factors, (), sizes)
        domain = graph.nodes[self.orbit.slope.name].domain
        self.ends = domain.lower, domain.upper
        self.width = 1.0
        self.moved = 0.0
        self.sweeps = 0
        self.learning = False

    def begin_warm_up(self, sweeps: int) -> None:
        """Follow the size of recent moves."""
        self.learning = sweeps > 0

    def end_warm_up(self) -> None:
        """Keep the width as it is."""
        self.learning = False

    def move(self, values: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """New values of all that moves."""
        with np.errstate(all="ignore"):
            start = self.start(values)
            height = self.height(0.0, start)
            found, _ = slice_move(lambda at: self.height(at, start), 0.0, height, self.width, generator)
            moved, _ = self._placed(found, start)
        if self.learning:
            self.sweeps += 1
            self.moved += abs(found)
            self.width = max(3 * self.moved / self.sweeps, 1e-3)
        return moved if np.isfinite(height) else {}

    def start(self, values: Mapping[str, Array]) -> From:
        """Hold everything else at these values, and begin where the rest is."""
        self.density.given(values)
        own = {name: np.array(values[name], dtype=float) for name in self.names}
        intercept = self.orbit.intercept
        if intercept is None:
            return From(own, 0.0, None)
        axes = tuple(at for at in intercept.indices if isinstance(at, Index))
        lifted = np.array(evaluate(self.orbit.slope, Environment(own, self.sizes), axes))
        return From(own, float(own[self.orbit.stretched].mean()), self.orbit.ratio * lifted)

    def height(self, at: float, start: From) -> float:
        """The log density along the orbit."""
        values, volume = self._placed(at, start)
        slope = values[self.orbit.slope.name]
        if not ((slope > self.ends[0]) & (slope < self.ends[1])).all():
            return -np.inf
        found = self.density.at_values(values) + volume
        return found if np.isfinite(found) else -np.inf

    def _placed(self, at: float, start: From) -> tuple[dict[str, Array], float]:
        """The values at a place on the orbit, and the log of the volume factor."""
        values = {name: np.array(value) for name, value in start.values.items()}
        x = values[self.orbit.stretched]
        intercept = self.orbit.intercept
        if not self.stretches:
            assert intercept is not None
            values[self.orbit.stretched] = x + at
            values[intercept.name][_elements(intercept)] -= start.lifted * at
            return values, 0.0
        slope = _elements(self.orbit.slope)
        values[self.orbit.stretched] = start.middle + (x - start.middle) * np.exp(-at)
        values[self.orbit.slope.name][slope] *= np.exp(at)
        if intercept is not None:
            values[intercept.name][_elements(intercept)] -= start.lifted * start.middle * np.expm1(at)
        free = x.size - (intercept is not None)
        return values, at * (np.size(values[self.orbit.slope.name][slope]) - free)


def _elements(place: Reference) -> tuple[int | slice, ...]:
    """The elements of an array that a reference stands for."""
    return tuple(int(at.value) if isinstance(at, Constant) else slice(None) for at in place.indices)
