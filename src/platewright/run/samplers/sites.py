"""The sites of a block of a model: its factors on tapes, and the sites that each of their rows touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Index, Reference, names
from platewright.algebra.tape import Slot, Tape
from platewright.backends.kernels.sites import SiteMover, site_numbers
from platewright.errors import SizeError
from platewright.family import Array
from platewright.graph.graph import Factor, Graph
from platewright.schemas.blocks import SiteBlock
from platewright.schemas.ties import inner_indices, sites_of, ties_move, ties_of

MOST_TIES = 50_000_000
Values = Mapping[str, Array]


class BlockSites(SiteMover):
    """The sites of a block."""

    def __init__(self, graph: Graph, block: SiteBlock, columns: Values, sizes: Mapping[str, int]) -> None:
        (name,) = block.variables
        node = graph.nodes[name]
        domain = node.domain
        shape = tuple(sizes[axis.plate] for axis in node.axes)
        lowest = 0 if domain.kind == "levels" else int(domain.lower)
        levels = sizes[str(domain.levels)] if domain.kind == "levels" else int(domain.upper - domain.lower) + 1
        ties = ties_of(block)
        together, alone = _Taped(name, ties.together, sizes), _Taped(name, ties.alone, sizes)
        self.sizes = sizes
        self.tapes = (together.tape, alone.tape)
        super().__init__(
            name,
            shape,
            lowest,
            levels,
            together.terms,
            lambda values: [self._touched(factor, values) for factor in ties.together],
            alone.terms,
            lambda values: [self._touched(factor, values) for factor in ties.alone],
            ties_move(block, columns),
        )

    def prepare(self, values: Values) -> None:
        """What does not move is computed once."""
        for tape in self.tapes:
            tape.fix(values)
        super().prepare(values)

    def _touched(self, factor: Factor, values: Values) -> Array:
        """For each row of a factor the numbers of all sites it looks at."""
        columns = [self._codes(place, factor.axes, values) for place in sites_of(factor, self.name)]
        rows = int(np.prod([self.sizes[axis.plate] for axis in factor.axes], dtype=int))
        width = sum(column.shape[1] for column in columns)
        if rows * width > MOST_TIES:
            raise SizeError(
                f"`{factor.owner}` ties {width} sites of `{self.name}` in {rows} rows",
                expected=f"at most {MOST_TIES:,} in all",
            )
        return np.concatenate(columns, axis=1)

    def _codes(self, place: Reference, axes: tuple[Index, ...], values: Values) -> Array:
        environment = Environment(values, self.sizes)
        scope = (*axes, *inner_indices(place, axes))
        rows = int(np.prod([self.sizes[axis.plate] for axis in axes], dtype=int))
        count = int(np.prod(self.shape, dtype=int))
        if any(self.name in names(at) for at in place.indices):
            return np.tile(np.arange(count), (rows, 1))  # a site that decides which site is looked at: all may be
        return site_numbers([evaluate(at, environment, scope) for at in place.indices], self.shape, rows)


class _Taped:
    """Factors on a tape of their own."""

    def __init__(self, name: str, factors: Sequence[Factor], sizes: Mapping[str, int]) -> None:
        self.tape = Tape(sizes, (name,))
        self.slots: list[Slot] = [self.tape.broadcast(self.tape.add(f.expression), f.axes) for f in factors]

    def terms(self, values: Values) -> list[Array]:
        """Their terms at given values of the sites, row by row."""
        self.tape.careful = True
        self.tape.run(values)
        return [self.tape[slot] for slot in self.slots]
