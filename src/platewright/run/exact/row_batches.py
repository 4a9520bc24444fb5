"""Rows in logical batches, merged in a fixed tree: memory and files of any layout give the same bits.

    rows  0 .. L-1 | L .. 2L-1 | ...        ((b0 b1) (b2 b3)) b4

A logical batch has L rows, whatever pieces the rows come in; rows of sequences are cut where the first sequence begins
after L rows, and one long sequence is not cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

import numpy as np

from platewright.errors import DataError
from platewright.family import Array
from platewright.language.plate import beginning
from platewright.program.program import Program
from platewright.run.exact.changing import looks_back, needs_rows, row_plate

ROWS_IN_A_BATCH = 131_072

Part = TypeVar("Part")
Rows = tuple[Mapping[str, Array], Mapping[str, int]]
"""Columns and sizes."""


class Tree(Generic[Part]):
    """Parts that come one after the other, merged as soon as two are of equal size."""

    def __init__(self, merge: Callable[[Part, Part], Part]) -> None:
        self.merge = merge
        self._parts: list[tuple[int, Part]] = []

    def add(self, part: Part) -> None:
        """One more part, to the right of all others."""
        level = 0
        while self._parts and self._parts[-1][0] == level:
            part = self.merge(self._parts.pop()[1], part)
            level += 1
        self._parts.append((level, part))

    def whole(self) -> Part | None:
        """All parts merged; None where there is none."""
        if not self._parts:
            return None
        _, part = self._parts.pop()
        while self._parts:
            part = self.merge(self._parts.pop()[1], part)
        return part


def batch_plate(program: Program, columns: Mapping[str, Array]) -> str | None:
    """The plate along which the rows of a program are cut; None where they must stay together."""
    if needs_rows(program):
        return None
    try:
        row = row_plate(program, columns)
    except DataError:
        return None
    return row if all(row in {index.plate for index in one.over} for one in program.passes) else None


class Batches:
    """Pieces of rows as they come, and logical batches as they go."""

    def __init__(self, program: Program, row: str, length: int = ROWS_IN_A_BATCH) -> None:
        self.program, self.row, self.length = program, row, length
        self._held: list[Rows] = []

    def take(self, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> Iterator[Rows]:
        """The logical batches that are complete after some more rows."""
        used = {name: columns[name] for name in (*self.program.columns, beginning(self.row)) if name in columns}
        self._held.append((used, sizes))
        if sum(known[self.row] for _, known in self._held) < self.length:
            return
        joined, known = self._joined()
        self._held, start = [], 0
        for stop in self._cuts(joined, known[self.row]):
            yield self._sliced(joined, known, start, stop)
            start = stop
        if start < known[self.row]:
            self._held = [self._sliced(joined, known, start, known[self.row])]

    def rest(self) -> Iterator[Rows]:
        """What is left when all rows have come."""
        if self._held:
            yield self._joined()
        self._held = []

    def _cuts(self, columns: Mapping[str, Array], size: int) -> Iterator[int]:
        flags = columns.get(beginning(self.row))
        if flags is not None:
            begins = np.append(np.flatnonzero(flags), size)  # pieces of sequences end where a sequence does
            stop = 0
            while stop + self.length <= size:
                stop = int(begins[np.searchsorted(begins, stop + self.length)])
                yield stop
        elif not looks_back(self.program):
            yield from range(self.length, size + 1, self.length)

    def _joined(self) -> Rows:
        """All that is held, in one piece."""
        pieces = [piece for piece in self._held if piece[1][self.row]] or self._held[:1]
        columns, sizes = pieces[-1]
        if len(pieces) == 1:
            return columns, sizes
        joined = {
            name: values if (axis := self._axis(name)) is None else np.concatenate([p[name] for p, _ in pieces], axis)
            for name, values in columns.items()
        }
        return joined, {**sizes, self.row: sum(known[self.row] for _, known in pieces)}

    def _sliced(self, columns: Mapping[str, Array], sizes: Mapping[str, int], start: int, stop: int) -> Rows:
        if stop - start == sizes[self.row]:
            return columns, sizes
        cut = {
            name: values
            if (axis := self._axis(name)) is None
            else values[(slice(None),) * axis + (slice(start, stop),)]
            for name, values in columns.items()
        }
        return cut, {**sizes, self.row: stop - start}

    def _axis(self, name: str) -> int | None:
        axes = [axis.plate for axis in self.program.columns.get(name, ())]
        if name == beginning(self.row):
            return 0
        return axes.index(self.row) if self.row in axes else None
