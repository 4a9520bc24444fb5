"""The move of a block along its scale: mean and precision of what is scaled, on tapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from platewright.algebra.expression import names
from platewright.algebra.tape import Tape
from platewright.backends.kernels.scale_moves import ScaleMover
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.program.derivatives import Scaled
from platewright.run.samplers.block_density import BlockDensity
from platewright.schemas.blocks import ScaleBlock


class BlockAlongScale(ScaleMover):
    """The scale of a block, and what it scales."""

    def __init__(self, graph: Graph, block: ScaleBlock, sizes: Mapping[str, int]) -> None:
        self.tapes = {form.name: _Placing(graph, form, block.variables, sizes) for form in block.scaled}
        density = BlockDensity(graph, block.variables, block.factors, (), sizes)
        super().__init__(density, {name: placing.run for name, placing in self.tapes.items()})

    def given(self, values: Mapping[str, Array]) -> None:
        """Hold everything else at these values."""
        super().given(values)
        for placing in self.tapes.values():
            placing.tape.fix(values)


class _Placing:
    """One scaled unknown: its location and precision given the scale and those placed before it."""

    def __init__(self, graph: Graph, form: Scaled, members: Sequence[str], sizes: Mapping[str, int]) -> None:
        self.before = [name for name in members if name in names(form.mean) | names(form.precision)]
        self.tape = Tape(sizes, self.before)
        axes = graph.nodes[form.name].axes
        self.mean = self.tape.broadcast(self.tape.add(form.mean), axes)
        self.precision = self.tape.broadcast(self.tape.add(form.precision), axes)

    def run(self, values: Mapping[str, Array]) -> tuple[Array, Array]:
        """Mean and precision at given values."""
        self.tape.run({name: np.asarray(values[name], dtype=float) for name in self.before})
        return self.tape[self.mean], self.tape[self.precision]
