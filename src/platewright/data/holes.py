"""Cells without a value: take note of where they are, and put a value in that the rest of the way can work with.

    [1.5, nan, 2.0]    ->    [1.5, 1.5, 2.0]  and  [False, True, False]

What stands in a hole is never used: the graph knows which cells were seen (`operations/split_partly_known.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.data.cells import Cells
from platewright.data.place import Place
from platewright.data.settle import kinds_of, missing_objects, missing_value
from platewright.data.signature import ColumnSpec

Holes = NDArray[np.bool_]

NESTED = (list, tuple, np.ndarray)
FILLABLE = ("real", "integer", "levels", "circle", "vector")
"""Domains whose cells stand for themselves; a probability vector or a matrix is missing as a whole or not at all."""


def find_holes(cells: Cells) -> Holes | None:
    """Which cells have no value; nothing when all have one."""
    values = cells.values
    if not values.size:
        return None
    if cells.entries is not None:
        found = values < 0
    elif values.dtype.kind == "f":
        # A finite sum proves that no cell is NaN, at the price of one pass.
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(values.sum()):
                return None
        found = np.isnan(values)
    elif values.dtype.kind in "OT" and not any(issubclass(kind, NESTED) for kind in kinds_of(values)):
        found = missing_objects(values)
    else:
        return None
    return found if found.any() else None


def fill_holes(column: ColumnSpec, cells: Cells, holes: Holes, start: int = 0) -> Cells:
    """The cells with a possible value in every hole; a column without any value is an error.

    Counts get their least value, which every row allows whatever its trials; others the first value seen.
    """
    if holes.all():
        place = Place(column, cells.values.shape, start)
        raise missing_value(place, 0, int(holes.size))
    values: NDArray[Any] = np.array(cells.values)
    is_count = column.domain.kind == "integer" and values.dtype.kind in "iuf"
    values[holes] = column.domain.lower if is_count else values[~holes][0]
    return replace(cells, values=values)
