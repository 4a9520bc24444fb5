"""Sequences side by side for a pass over hidden chains: bundles, blocks, and which row stands where.

    bundle    WIDTH sequences of like length, the longest first, all from their first step
    block     STEPS steps of a bundle: BLOCK rows, the sequences side by side

A sequence that has ended repeats its last row; the pass gives such rows no weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from platewright.algebra.evaluate import evaluate
from platewright.algebra.expression import ONE, Index
from platewright.backends.c_em.text import BLOCK, STRIDE
from platewright.family import Array
from platewright.run.hidden.native_em_layout import Doubles, Layout, in_lines
from platewright.run.hidden.native_em_sums import Contraction, Placed, Sums

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bundles:
    """Sequences by length, and the row of each place of each block."""

    width: int
    blocks: Integers
    """The first block of each bundle, and one past the last."""
    lengths: Integers
    """Of each lane of each bundle; 0 where there is no sequence."""
    rows: Integers
    counted: NDArray[np.bool_]
    """Whether a place holds a row of its own."""
    first: NDArray[np.bool_]
    """Whether a row, in the order of the data, begins a sequence."""

    @property
    def count(self) -> int:
        """Number of bundles."""
        return len(self.blocks) - 1


def bundles_of(first: Array, width: int) -> Bundles:
    """Bundles of the sequences of a long column, from the flags on their first steps."""
    begins = np.flatnonzero(first)
    whole = np.diff(np.append(begins, len(first)))
    order = np.argsort(-whole, kind="stable")
    count = -(-len(order) // width)
    steps = BLOCK // width
    lengths, starts = np.zeros((count, width), dtype=np.int64), np.zeros((count, width), dtype=np.int64)
    lengths.reshape(-1)[: len(order)], starts.reshape(-1)[: len(order)] = whole[order], begins[order]
    blocks = np.concatenate([[0], np.cumsum(-(-lengths[:, 0] // steps))]).astype(np.int64)
    rows, counted = np.empty((blocks[-1] * steps, width), np.int64), np.empty((blocks[-1] * steps, width), bool)
    for n in range(count):
        here = slice(blocks[n] * steps, blocks[n + 1] * steps)
        time = np.arange(rows[here].shape[0])[:, None]
        rows[here] = starts[n] + np.minimum(time, np.maximum(lengths[n] - 1, 0))
        counted[here] = time < lengths[n]
    return Bundles(width, blocks, lengths, rows.ravel(), counted.ravel(), np.asarray(first) != 0)


@dataclass(eq=False)
class ChainLayout(Layout):
    """Columns and codes of the steps of a chain; `levels_of` are its value at a step, or at two neighbouring steps."""

    bundles: Bundles | None = None
    levels_of: tuple[Index, ...] = field(default=())

    def __post_init__(self) -> None:
        super().__post_init__()
        self.levels = int(np.prod([self.sizes[level.plate] for level in self.levels_of]))

    def tiles(self, centre: Doubles) -> Doubles:
        """All columns less their centre, block by block, steps of sequences side by side."""
        assert self.bundles is not None
        rows = self.bundles.rows
        found = in_lines((len(rows) // BLOCK, self.singles - 1, STRIDE))
        start = 0
        for values in self.values:
            here = slice(start, start + values.shape[1])
            held = values[rows].reshape(-1, BLOCK, values.shape[1]).transpose(0, 2, 1)
            np.subtract(held, centre[here, None], out=found[:, here, :BLOCK])
            start = here.stop
        return found


@dataclass(frozen=True, eq=False)
class ChainSums(Sums):
    """Sums over all steps, and over first and later ones apart: coefficients have other values there."""

    phases: tuple[Sums, Sums]
    moves: ChainSums | None = None
    """The same for the values of two neighbouring steps."""

    def at(self, values: Mapping[str, Array]) -> ChainSums:
        """The same sums, to be contracted with coefficients at other values."""
        first, later = (phase.at(values) for phase in self.phases)
        moves = None if self.moves is None else self.moves.at(values)
        return replace(self, environment=later.environment, phases=(first, later), moves=moves)

    @property
    def mean_log_weight(self) -> float:
        """That of first steps, of later ones, and of neighbours."""
        moved = 0.0 if self.moves is None else self.moves.mean_log_weight
        return sum(phase.mean_log_weight for phase in self.phases) + moved


class ChainContraction(Contraction):
    """Terms at their places in the sums of a pass, first steps and later ones each with their coefficients."""

    def __init__(self, layout: ChainLayout) -> None:
        super().__init__(layout)
        self.levels = layout.levels_of

    def contracted(self, sums: Sums, placed: list[Placed], axes: tuple[Index, ...], absolute: bool = False) -> Doubles:
        """`axes` of the sum of all terms; levels that are not asked for are summed."""
        assert isinstance(sums, ChainSums)
        kept = tuple(axis for axis in axes if axis not in self.levels)
        extents = tuple(self.sizes[level.plate] for level in self.levels)
        found = np.zeros((*extents, *(self.sizes[axis.plate] for axis in kept)))
        for phase in sums.phases:
            for one in placed:
                source = phase.basis if one.kind == "basis" else phase.entry
                value = np.moveaxis(source[one.places], -1, 0).reshape(*extents, *one.places.shape)
                if one.coefficient != ONE:
                    value = value * evaluate(one.coefficient, phase.environment, (*self.levels, *one.axes))
                value = np.abs(value) if absolute else value
                found += value.sum(axis=tuple(range(found.ndim, value.ndim)))
        lost = tuple(k for k, level in enumerate(self.levels) if level not in axes)
        left = [*(level for level in self.levels if level in axes), *kept]
        return np.asarray(np.transpose(found.sum(axis=lost), [left.index(axis) for axis in axes]))
