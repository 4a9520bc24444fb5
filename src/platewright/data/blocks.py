"""Walk a large array in short blocks, so that a check costs one pass over memory and no temporary of full size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 65_536


def blocks(values: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Consecutive pieces of a contiguous array, flattened, each with the position of its first cell."""
    flat = values.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        yield start, flat[start : start + BLOCK]


def row_blocks(rows: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Consecutive groups of whole rows (first axis), each with the position of its first row."""
    per_row = max(1, int(np.prod(rows.shape[1:])))
    step = max(1, BLOCK // per_row)
    for start in range(0, rows.shape[0], step):
        yield start, rows[start : start + step]


def find(values: NDArray[Any], is_bad: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> tuple[int, int]:
    """Position of the first bad cell (-1: none) and how many there are; only called to word a message."""
    first, count = -1, 0
    for start, block in blocks(values):
        bad = np.flatnonzero(is_bad(block))
        if bad.size and first < 0:
            first = start + int(bad[0])
        count += bad.size
    return first, count
