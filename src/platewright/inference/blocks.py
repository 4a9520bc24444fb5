"""A large clique's table, never made whole: block after block of it is made, used and overwritten in the cache.

    clique axes     v | a b c | d e f          v is eliminated; the outer axes a b c are fixed in a block
    one block       v x d e f                  a few ten thousand numbers
    an operand      its place in the block is one list of positions, the same for every block but for an offset

A product is a gather a factor, a sum over some axes is a gather and a sum of rows: what a step costs does not depend on
which axes an operand lacks. (Broadcasting over axes of two levels would run inner loops of length two.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from platewright.family import Array
from platewright.inference.semiring import Axes, Named, Semiring, merged

SMALL = 1 << 15
"""Entries of a block; smaller tables are made whole."""
LEAST = 1 << 10
"""A block is not cut below this, however many levels the next variable has."""


@dataclass(frozen=True)
class Cut:
    """The axes of a clique parted into those that a block fixes and those that it holds, the first one first."""

    outer: Axes
    inner: Axes
    sizes: Sequence[int]

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return prod(self.sizes[axis] for axis in self.outer)

    @property
    def entries(self) -> int:
        """How many entries one block has."""
        return prod(self.sizes[axis] for axis in self.inner)

    def places(self, table_axes: Axes, axes: Axes) -> Array:
        """For each combination of levels of `axes`, its part of the position in a table with `table_axes`."""
        steps = dict(zip(table_axes, steps_of(table_axes, self.sizes), strict=True))
        result = np.zeros(1, dtype=np.intp)
        for axis in axes:
            result = np.add.outer(result, np.arange(self.sizes[axis]) * steps.get(axis, 0)).ravel()
        return result


def steps_of(axes: Axes, sizes: Sequence[int]) -> list[int]:
    """How far apart neighbouring levels of each axis are in a table."""
    steps = [1]
    for axis in reversed(axes[1:]):
        steps.append(steps[-1] * sizes[axis])
    return steps[: len(axes)][::-1]


def cut(axes: Axes, sizes: Sequence[int]) -> Cut:
    """As many of the last axes as fit in a block, with the first."""
    entries, at = sizes[axes[0]], len(axes)
    while at > 1 and (entries * sizes[axes[at - 1]] <= SMALL or entries < LEAST):
        at -= 1
        entries *= sizes[axes[at]]
    return Cut(axes[1:at], (axes[0], *axes[at:]), sizes)


@dataclass(frozen=True)
class Gathered:
    """An operand's numbers, where each entry of a block finds its own, and how far on the next blocks are."""

    flat: Array
    places: Array
    offsets: Array
    run: slice | None
    """The places when they are a run."""

    def block(self, number: int, out: Array) -> Array:
        """The operand's numbers in one block: in `out`, or a view."""
        start = int(self.offsets[number])
        if self.run is not None:
            return self.flat[start : start + len(self.places)]
        # Positions are right by construction; `clip` is the mode in which `out` is written without a buffer.
        return np.take(self.flat[start:], self.places, out=out, mode="clip")


def gathered(operand: Named, parts: Cut) -> Gathered:
    """An operand prepared for the blocks of a clique."""
    places = parts.places(operand.axes, parts.inner)
    return Gathered(operand.values.ravel(), places, parts.places(operand.axes, parts.outer), _run(places))


def _run(places: Array) -> slice | None:
    return slice(0, len(places)) if np.array_equal(places, np.arange(len(places))) else None


def blocks(operands: Sequence[Named], axes: Axes, parts: Cut, semiring: Semiring) -> Iterator[tuple[int, Array]]:
    """The number of each block and the product of the operands in it; the array is written over by the next."""
    ready = [gathered(operand, parts) for operand in merged(operands, axes, parts.sizes, semiring)]
    result, more = np.empty(parts.entries), np.empty(parts.entries)
    for number in range(parts.count):
        whole = ready[0].block(number, result)
        for operand in ready[1:]:
            whole = semiring.times(whole, operand.block(number, more), out=result)
        yield number, whole


def summed_blocks(operands: Sequence[Named], axes: Axes, sizes: Sequence[int], semiring: Semiring) -> Array:
    """The product summed over the first of `axes`."""
    parts = cut(axes, sizes)
    levels = sizes[axes[0]]
    result = np.empty((parts.count, parts.entries // levels))
    for number, block in blocks(operands, axes, parts, semiring):
        result[number] = semiring.total(block.reshape(levels, -1))
    return result.reshape([sizes[axis] for axis in axes[1:]])


@dataclass(frozen=True)
class Scattered:
    """A table over some of the axes that collects sums of blocks."""

    values: Array
    turned: Array | None
    """Entries of a block with what is summed over first; None where they already are."""
    places: Array
    run: slice | None
    offsets: Array
    first: Array
    """Whether a block is the first to reach its places."""

    def take(self, number: int, block: Array, semiring: Semiring) -> None:
        """Sum a block and add it where it belongs."""
        rows = block if self.turned is None else np.take(block, self.turned)
        found = semiring.total(rows.reshape(-1, len(self.places)))
        here = self.values[self.offsets[number] :]
        at = self.places if self.run is None else self.run
        here[at] = found if self.first[number] else semiring.plus(here[at], found)


def scattered(axes: Axes, parts: Cut) -> Scattered:
    """An empty table over `axes`, which are some of those that are cut."""
    held = tuple(axis for axis in parts.inner if axis in axes)
    gone = tuple(axis for axis in parts.inner if axis not in axes)
    turned = (parts.places(parts.inner, gone)[:, np.newaxis] + parts.places(parts.inner, held)).ravel()
    places, offsets = parts.places(axes, held), parts.places(axes, parts.outer)
    first = np.zeros(len(offsets), dtype=bool)
    first[np.unique(offsets, return_index=True)[1]] = True
    values = np.empty(prod(parts.sizes[axis] for axis in axes))
    return Scattered(values, None if _run(turned) else turned, places, _run(places), offsets, first)


def spread_blocks(
    operands: Sequence[Named], axes: Axes, sizes: Sequence[int], wanted: Sequence[Axes], semiring: Semiring
) -> list[Array]:
    """The product summed over all but each of the `wanted` axes."""
    parts = cut(axes, sizes)
    tables = [scattered(found, parts) for found in wanted]
    for number, block in blocks(operands, axes, parts, semiring):
        for table in tables:
            table.take(number, block, semiring)
    return [table.values.reshape([sizes[axis] for axis in found]) for table, found in zip(tables, wanted, strict=True)]
