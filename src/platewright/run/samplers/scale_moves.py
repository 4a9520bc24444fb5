"""Move a scale and all that it scales at once: e = (b - mean) sqrt(precision) stays, the scale is drawn by a slice.

density of (s, e)  =  p(s, b(s, e), rest) prod_i precision_i(s)^(-1/2),        b_i = mean_i + e_i / sqrt(precision_i(s))
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.algebra.tape import Tape
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.run.samplers.block_density import BlockDensity
from platewright.run.samplers.coordinate_slices import slice_move
from platewright.run.samplers.unconstrained import Joined
from platewright.schemas.blocks import ScaleBlock


class ScaleMover:
    """The state of one block of one chain: the width of the bracket of the scale."""

    def __init__(self, graph: Graph, block: ScaleBlock, sizes: Mapping[str, int]) -> None:
        self.scale, self.name = block.variables
        self.density = BlockDensity(graph, block.variables, block.factors, (), sizes)
        self.coordinate = Joined([graph.nodes[self.scale]], sizes)
        self.tape = Tape(sizes, (self.scale,))
        axes = graph.nodes[self.name].axes
        self.mean = self.tape.broadcast(self.tape.add(block.scaled.mean), axes)
        self.precision = self.tape.broadcast(self.tape.add(block.scaled.precision), axes)
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
        """A new scale, and what it scales brought along."""
        with np.errstate(all="ignore"):
            self.density.given(values)
            self.tape.fix(values)
            u = self.coordinate.free(values)
            self.tape.run({self.scale: np.asarray(values[self.scale], dtype=float)})
            noise = (values[self.name] - self.tape[self.mean]) * np.sqrt(self.tape[self.precision])
            start = float(u[0])
            height = self._height(start, noise)
            found, _ = slice_move(lambda at: self._height(at, noise), start, height, self.width, generator)
            scale, scaled, _ = self._placed(found, noise)
        if self.learning:
            self.sweeps += 1
            self.moved += abs(found - start)
            self.width = max(3 * self.moved / self.sweeps, 1e-3)
        if not np.isfinite(height):
            return {}
        return {self.scale: scale, self.name: scaled}

    def _placed(self, at: float, noise: Array) -> tuple[Array, Array, float]:
        """The scale at a coordinate, what it scales, and the log of the volume factor of both."""
        values, volume = self.coordinate.values(np.array([at]))
        self.tape.run(values)
        precision = self.tape[self.precision]
        scaled = self.tape[self.mean] + noise / np.sqrt(precision)
        return values[self.scale], scaled, volume - 0.5 * float(np.sum(np.log(precision)))

    def _height(self, at: float, noise: Array) -> float:
        scale, scaled, volume = self._placed(at, noise)
        found = self.density.at_values({self.scale: scale, self.name: scaled}) + volume
        return found if np.isfinite(found) else -np.inf
