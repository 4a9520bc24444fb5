"""Read a Parquet file piece by piece; declared levels (dictionary columns) stay declared."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from platewright.data.cells import Table
from platewright.data.frames import read_layout
from platewright.data.layout import Layout
from platewright.errors import SourceError

BUFFER_BYTES = 1 << 20


def read_names(path: Path) -> list[str]:
    """The column names."""
    return [str(name) for name in _open(path).schema_arrow.names]


def read_parquet(path: Path, layout: Layout, rows: int) -> Iterator[Table]:
    """The variables of a layout in pieces; at least one, which may have no rows."""
    import narwhals.stable.v2 as nw
    import pyarrow

    file = _open(path)
    sources = list(layout.sources)
    empty = file.schema_arrow.empty_table().select(sources)
    yield read_layout(nw.from_native(empty), layout)
    for batch in file.iter_batches(batch_size=rows, columns=sources):
        yield read_layout(nw.from_native(pyarrow.Table.from_batches([batch])), layout)


def count_parquet_rows(path: Path) -> int:
    """Number of rows, from the footer."""
    return int(_open(path).metadata.num_rows)


def _open(path: Path) -> Any:
    if find_spec("pyarrow") is None:
        raise SourceError("Parquet files need pyarrow", where=str(path), hint="pip install pyarrow")
    import pyarrow
    from pyarrow import parquet

    try:
        # pre_buffer, on by default, keeps the bytes of every row group until the file is closed: memory would grow.
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER_BYTES)
    except pyarrow.ArrowInvalid as problem:
        raise SourceError(f"the file is not Parquet: {problem}", where=str(path)) from problem
