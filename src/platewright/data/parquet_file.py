"""Read a Parquet file piece by piece; declared levels (dictionary columns) stay declared."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from platewright.data.ahead import ahead
from platewright.data.cells import Cells, Table, stack_cells
from platewright.data.foreign import in_our_words
from platewright.data.frames import read_layout
from platewright.data.layout import Layout
from platewright.errors import SourceError


def read_names(path: Path) -> list[str]:
    """The column names."""
    with in_our_words("the Parquet file", lambda: str(path)):
        return [str(name) for name in _open(path).schema_arrow.names]


def read_parquet(path: Path, layout: Layout, rows: int) -> Iterator[Table]:
    """The variables of a layout in pieces; at least one, which may have no rows."""
    with in_our_words("the Parquet file", lambda: _damaged(path, list(layout.sources)), "write the file again"):
        yield from _pieces(path, layout, rows)


def _pieces(path: Path, layout: Layout, rows: int) -> Iterator[Table]:
    import narwhals.stable.v2 as nw

    file = _open(path)
    sources = list(layout.sources)
    empty = file.schema_arrow.empty_table().select(sources)
    yield read_layout(nw.from_native(empty), layout)
    yield from _tables(file, layout, rows)


def _tables(file: Any, layout: Layout, rows: int) -> Iterator[Table]:
    """One table for each piece of the file."""
    import narwhals.stable.v2 as nw
    import pyarrow

    for batch in ahead(file.iter_batches(batch_size=rows, columns=list(layout.sources))):
        plain = _plain_numbers(batch, layout)
        yield plain or read_layout(nw.from_native(pyarrow.Table.from_batches([batch])), layout)


def _plain_numbers(batch: Any, layout: Layout) -> Table | None:
    """A piece that is all doubles without nulls, straight from Arrow's memory; None for any other."""
    import pyarrow

    if layout.parents or any(column.type != pyarrow.float64() or column.null_count for column in batch.columns):
        return None
    columns = {}
    for slot in layout.slots:
        parts = [Cells(source, batch.column(source).to_numpy(zero_copy_only=True)) for source in slot.sources]
        name = slot.column.name
        columns[name] = stack_cells(name, parts, upright=True) if slot.is_stacked else Cells(name, parts[0].values)
    return Table(columns, {}, layout.coordinates, row=layout.row)


def count_parquet_rows(path: Path) -> int:
    """Number of rows, from the footer."""
    with in_our_words("the Parquet file", lambda: str(path)):
        return int(_open(path).metadata.num_rows)


def _damaged(path: Path, columns: list[str]) -> str:
    """The first row group and column that cannot be read, one by one; the file alone where each of them can."""
    try:
        file = _open(path)
        groups = int(file.metadata.num_row_groups)
    except Exception:  # its footer is damaged: there are no groups to name
        return str(path)
    for group in range(groups):
        for column in columns:
            try:
                file.read_row_group(group, columns=[column])
            except Exception:  # whatever it is, it was raised before, and here is its place
                return f"{path}, row group {group}, column `{column}`"
    return str(path)


def _open(path: Path) -> Any:
    if find_spec("pyarrow") is None:
        raise SourceError("Parquet files need pyarrow", where=str(path), hint="pip install pyarrow")
    import pyarrow
    from pyarrow import parquet

    try:
        # pre_buffer, on by default, keeps the bytes of every row group until the file is closed: memory would grow.
        return parquet.ParquetFile(path, pre_buffer=False, memory_map=True)
    except (pyarrow.ArrowException, OSError) as problem:
        raise SourceError(f"the file is not Parquet: {problem}", where=str(path)) from problem
