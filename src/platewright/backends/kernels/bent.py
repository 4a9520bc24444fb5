"""What one pass over rows finds of a log density: its value, its slopes, and its curvature in all pairs of unknowns.

    total  +=  sum_rows f          slope  +=  sum_rows f_i c_i          half  +=  sum_rows f_ij c_i c_j'

Each pair of different coefficients is met once, and the same coefficient with itself counts by half, so that the matrix
and its transpose together are the second derivatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from platewright.family import Array

ROWS_AT_ONCE = 4096
"""Rows of a block: their columns stay in the cache while all that needs them is computed."""


class Bent:
    """Sums over rows so far; unknowns lie one after another, each in C order."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.shapes = dict(shapes)
        self.begin: dict[str, int] = {}
        self.size = 0
        for name, shape in self.shapes.items():
            self.begin[name] = self.size
            self.size += int(np.prod(shape, dtype=int))
        self.total = 0.0
        self.slope = np.zeros(self.size)
        self.half = np.zeros((self.size, self.size))

    def spots(self, name: str, at: tuple[Array, ...]) -> Array:
        """Where elements of an unknown lie."""
        spots = self.begin[name] + np.zeros((), dtype=np.int64)
        step = 1
        for place, length in zip(reversed(at), reversed(self.shapes[name]), strict=True):
            spots = spots + step * np.asarray(place)
            step *= length
        return spots

    def whole(self, name: str) -> slice:
        """Where all elements of an unknown lie."""
        return slice(self.begin[name], self.begin[name] + int(np.prod(self.shapes[name], dtype=int)))

    def add_slope(self, name: str, values: Array, at: tuple[Array, ...] | None = None) -> None:
        """Slopes of all elements of an unknown, or of those that rows look up."""
        if at is None:
            self.slope[self.whole(name)] += np.ravel(values)
        else:
            spots = self.spots(name, at)
            np.add.at(self.slope, *np.broadcast_arrays(spots, values))

    def add_curve(
        self,
        one: str,
        other: str,
        values: Array,
        at_one: tuple[Array, ...] | None = None,
        at_other: tuple[Array, ...] | None = None,
        times: float = 1.0,
    ) -> None:
        """Second derivatives of all elements of one unknown with all of another, or of those that rows look up."""
        if at_one is None or at_other is None:
            block = self.half[self.whole(one), self.whole(other)]
            block += times * np.reshape(values, block.shape)
        else:
            down, across, held = np.broadcast_arrays(
                self.spots(one, at_one), self.spots(other, at_other), times * values
            )
            np.add.at(self.half, (down, across), held)

    def slopes(self) -> dict[str, Array]:
        """Slopes by unknown."""
        return {name: self.slope[self.whole(name)].reshape(shape) for name, shape in self.shapes.items()}

    def second(self) -> Array:
        """All second derivatives."""
        return self.half + self.half.T


def row_blocks(
    data: Mapping[str, Array], size: Mapping[str, int], plate: str, axes: Mapping[str, int]
) -> Iterator[tuple[Mapping[str, Array], Mapping[str, int]]]:
    """Columns and sizes block by block; `axes` says which axis of each column is that of the rows."""
    count = size[plate]
    if count <= ROWS_AT_ONCE:
        yield data, size
        return
    for start in range(0, count, ROWS_AT_ONCE):
        stop = min(start + ROWS_AT_ONCE, count)
        part = {name: data[name][(slice(None),) * axis + (slice(start, stop),)] for name, axis in axes.items()}
        yield {**data, **part}, {**size, plate: stop - start}
