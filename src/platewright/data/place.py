"""Name a cell of the data in an error message: its column, its row, and its place on the other plates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from platewright.data.signature import ColumnSpec


@dataclass(frozen=True)
class Place:
    """Where the cells of one column are: enough to name any of them."""

    column: ColumnSpec
    shape: tuple[int, ...]
    start: int = 0
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)

    def name_cell(self, position: int) -> str:
        """The cell at a position of the flattened array, such as ``column `x`, row 17, feature 2 (height)``."""
        words = [f"column `{self.column.name}`"]
        for axis, index in enumerate(np.unravel_index(position, self.shape)):
            if axis == 0:
                words.append(f"row {int(index) + self.start}")
                continue
            plate = self.column.plates[axis] if axis < len(self.column.plates) else f"axis {axis}"
            labels = self.labels.get(plate)
            label = f" ({labels[int(index)]})" if labels is not None and int(index) < len(labels) else ""
            words.append(f"{plate} {int(index)}{label}")
        return ", ".join(words)

    def name_first(self, position: int, count: int) -> str:
        """The first offending cell, and how many there are in all (rows count from 0)."""
        if not self.shape:
            return f"column `{self.column.name}`"
        return f"{self.name_cell(position)} (rows count from 0; {count} such in all)"
