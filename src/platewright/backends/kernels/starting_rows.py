"""A choice of rows to start from: more of them say nothing more about where to begin.

Every row (or series) gets a random number in the order of the data; those with the smallest are kept, so the choice
does not depend on how the rows come: from memory, or from a file in batches.
"""

from __future__ import annotations

import numpy as np

from platewright.family import Array

ROWS_TO_START = 5_000
"""More rows than this say nothing more about where to start."""


def rows_to_start(rows: int, seed: int, first: Array | None = None) -> Array:
    """Places of the rows that were drawn, in the order of the data; of series (`first`: where one begins) all first."""
    generator = np.random.default_rng([seed, ROWS_TO_START])
    if first is None:
        return np.sort(np.argpartition(generator.random(rows), ROWS_TO_START)[:ROWS_TO_START])
    series = np.cumsum(np.asarray(first) != 0) - 1
    keys = generator.random(int(series[-1]) + 1)[series]
    return np.sort(np.argsort(keys, kind="stable")[:ROWS_TO_START])
