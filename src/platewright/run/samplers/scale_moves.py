"""Move a scale and all that it scales at once: e = (b - mean) sqrt(precision) stays, the scale is drawn by a slice.

density of (s, e)  =  p(s, b(s, e), rest) prod_i precision_i(s)^(-1/2),        b_i = mean_i + e_i / sqrt(precision_i(s))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from platewright.algebra.expression import names
from platewright.algebra.tape import Tape
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.run.samplers.block_density import BlockDensity
from platewright.run.samplers.coordinate_slices import slice_move
from platewright.run.samplers.unconstrained import Joined
from platewright.schemas.blocks import ScaleBlock
from platewright.schemas.scaling import Scaled


class ScaleMover:
    """The state of one block of one chain: the width of the bracket of the scale."""

    def __init__(self, graph: Graph, block: ScaleBlock, sizes: Mapping[str, int]) -> None:
        self.scale = block.variables[0]
        self.density = BlockDensity(graph, block.variables, block.factors, (), sizes)
        self.coordinate = Joined([graph.nodes[self.scale]], sizes)
        self.placing = [_Placing(graph, form, block.variables, sizes) for form in block.scaled]
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
            noise = self.standardised(values)
            start = float(self.coordinate.free(values)[0])
            height = self.height(start, noise)
            found, _ = slice_move(lambda at: self.height(at, noise), start, height, self.width, generator)
            moved, _ = self._placed(found, noise)
        if self.learning:
            self.sweeps += 1
            self.moved += abs(found - start)
            self.width = max(3 * self.moved / self.sweeps, 1e-3)
        return moved if np.isfinite(height) else {}

    def standardised(self, values: Mapping[str, Array]) -> list[Array]:
        """What the scale scales, in units of its own; everything else is held at these values."""
        self.density.given(values)
        for placing in self.placing:
            placing.tape.fix(values)
        return [placing.standardised(values) for placing in self.placing]

    def _placed(self, at: float, noise: Sequence[Array]) -> tuple[dict[str, Array], float]:
        """The values at a coordinate of the scale, and the log of their volume factor."""
        values, volume = self.coordinate.values(np.array([at]))
        for placing, noise_of in zip(self.placing, noise, strict=True):
            values[placing.name], more = placing.placed(values, noise_of)
            volume += more
        return values, volume

    def height(self, at: float, noise: Sequence[Array]) -> float:
        """The log density along the scale, while the noise stays."""
        values, volume = self._placed(at, noise)
        found = self.density.at_values(values) + volume
        return found if np.isfinite(found) else -np.inf


class _Placing:
    """One scaled unknown: its location and precision given the scale and those placed before it."""

    def __init__(self, graph: Graph, form: Scaled, members: Sequence[str], sizes: Mapping[str, int]) -> None:
        self.name = form.name
        self.before = [name for name in members if name in names(form.mean) | names(form.precision)]
        self.tape = Tape(sizes, self.before)
        axes = graph.nodes[form.name].axes
        self.mean = self.tape.broadcast(self.tape.add(form.mean), axes)
        self.precision = self.tape.broadcast(self.tape.add(form.precision), axes)

    def standardised(self, values: Mapping[str, Array]) -> Array:
        self._run(values)
        return (np.asarray(values[self.name]) - self.tape[self.mean]) * np.sqrt(self.tape[self.precision])

    def placed(self, values: Mapping[str, Array], noise: Array) -> tuple[Array, float]:
        self._run(values)
        precision = self.tape[self.precision]
        return self.tape[self.mean] + noise / np.sqrt(precision), -0.5 * float(np.sum(np.log(precision)))

    def _run(self, values: Mapping[str, Array]) -> None:
        self.tape.run({name: np.asarray(values[name], dtype=float) for name in self.before})
