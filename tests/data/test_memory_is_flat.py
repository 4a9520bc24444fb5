"""A file is streamed in memory that does not grow with its length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import parquet

from data.sources import one_column
from platewright.algebra.domain import REAL
from platewright.data import batches

GROUP_ROWS = 50_000


def peak_bytes(path: Path) -> int:
    """The most that Arrow holds at once, above what it held before."""
    before = pyarrow.total_allocated_bytes()
    return max(pyarrow.total_allocated_bytes() - before for _ in batches(one_column(REAL), path, rows=GROUP_ROWS))


def test_a_parquet_file_of_many_row_groups_needs_no_more_than_one_of_few(tmp_path: Path) -> None:
    # pyarrow's pre_buffer, on by default, keeps every row group it has read until the file is closed.
    peaks = []
    for groups in (4, 40):
        path = tmp_path / f"{groups}.parquet"
        values = np.random.default_rng(0).normal(size=groups * GROUP_ROWS)
        parquet.write_table(pyarrow.table({"x": values}), path, row_group_size=GROUP_ROWS)
        peaks.append(peak_bytes(path))
    assert peaks[1] < 1.5 * peaks[0]
