"""Read data in batches of rows: views of what is in memory, pieces of a file with flat memory.

    for batch in batches(signature, "rows.parquet", rows=100_000): ...

Category labels are the same in every batch. Where the model or the caller does not name them, a file is read twice:
first only its category columns (for the distinct values, or the levels that a Parquet dictionary declares), then all.
Rows of an ordered plate are never cut inside a series, so a batch may be longer than asked, and a file that is one
series comes as one batch.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from platewright.data.bind import bind, bind_table, known_levels, named, settle_column
from platewright.data.cells import Cells, Table, concatenate_tables, count_table_rows, slice_table
from platewright.data.dataset import Dataset, slice_rows
from platewright.data.frames import count_frame_rows, is_frame
from platewright.data.groups import split_series
from platewright.data.labelled import is_labelled
from platewright.data.layout import Layout
from platewright.data.levels import Evidence, Levels, decide, merge, observe
from platewright.data.read import as_path, count_file_rows, file_layout, read_pieces
from platewright.data.signature import ColumnSpec, Signature
from platewright.errors import DataError, ShapeError

DEFAULT_ROWS = 65_536


def batches(
    signature: Signature,
    source: object,
    *,
    rows: int = DEFAULT_ROWS,
    labels: Mapping[str, tuple[object, ...]] | None = None,
    along: str | None = None,
    scan: bool = True,
) -> Generator[Dataset, None, None]:
    """Datasets of `rows` rows each, in order; data without rows give one empty batch.

    In memory, batches are views along the row plate (`along`, where the data do not make it plain), and arrays on other
    plates are whole in every batch. Without `scan` large real columns of a file are not searched for NaN and infinity,
    and a matrix made of columns of a file may lie column by column.
    """
    if rows < 1:
        raise DataError(f"a batch of {rows} rows", expected="at least one row in each batch")
    path = as_path(source)
    if path is not None:
        return _file_batches(signature, path, rows, known_levels(signature, labels), scan)
    return _memory_batches(signature, bind(signature, source, labels=labels), rows, along)


def count_rows(signature: Signature, source: object, *, along: str | None = None) -> int:
    """Number of rows: from a Parquet footer, by a pass over a CSV file, or from what is in memory."""
    path = as_path(source)
    if path is not None:
        return count_file_rows(path)
    if not isinstance(source, Mapping) and not is_labelled(source) and is_frame(source):
        return count_frame_rows(source)
    dataset = bind(signature, source)
    return dataset.sizes[along or _row_plate(signature, dataset)]


def _memory_batches(
    signature: Signature, dataset: Dataset, rows: int, along: str | None
) -> Generator[Dataset, None, None]:
    """Cut bound data into views; cuts of an ordered plate fall where a series begins."""
    row = along or _row_plate(signature, dataset)
    if row in signature.category_plates() or any(plate.like == row for plate in signature.plates.values()):
        raise DataError(f"plate `{row}` cannot be cut into batches: other variables refer to its elements")
    size, start = dataset.sizes[row], 0
    begins = np.flatnonzero(dataset.first[row]) if row in dataset.first else None
    while start < size or start == 0:
        stop = min(start + rows, size)
        if begins is not None:
            later = begins[np.searchsorted(begins, stop) :]
            stop = int(later[0]) if later.size and stop < size else size
        yield slice_rows(dataset, signature, row, start, stop)
        if stop >= size:
            return
        start = stop


def _row_plate(signature: Signature, dataset: Dataset) -> str:
    """The plate of the rows: the first axis of some column, which brings new elements with each data set."""
    first = dict.fromkeys(
        signature.columns[name].plates[0] for name in dataset.columns if signature.columns[name].plates
    )
    open_plates = [plate for plate in first if signature.is_open(plate)]
    candidates = open_plates or [plate for plate in first if plate not in signature.category_plates()]
    if len(candidates) != 1:
        raise DataError(
            f"the data do not tell which plate is that of the rows ({', '.join(candidates) or 'there is none'})",
            hint="say it: along=...",
        )
    return candidates[0]


def _file_batches(
    signature: Signature, path: Path, rows: int, known: Mapping[str, Levels], scan: bool = True
) -> Generator[Dataset, None, None]:
    """Bind piece after piece with labels that were learned in a first pass over the category columns."""
    layout = file_layout(signature, path, named(known))
    levels = {**_learn_levels(signature, path, layout, rows, known), **known}
    if layout.row is None:
        yield bind_table(signature, concatenate_tables(list(read_pieces(path, layout, rows))), levels)
        return
    row = signature.plates[layout.row]
    free = signature.without_size(row.name)
    closed: set[int] = set()
    total = 0
    for table in _regroup(read_pieces(path, layout, rows), rows, row.name, row.ordered):
        dataset = bind_table(free, table, levels, scan, upright=not scan)
        _check_series_closed(signature, dataset, row.name, closed, table.start)
        total += dataset.sizes[row.name]
        yield dataset
    if row.extent is not None and total != row.extent:
        raise ShapeError(
            f"plate `{row.name}` has size {row.extent} in the model, and {total} in the file", where=str(path)
        )


def _learn_levels(
    signature: Signature, path: Path, layout: Layout, rows: int, known: Mapping[str, Levels]
) -> dict[str, Levels]:
    """The elements of category plates that nobody named: one pass over their columns alone."""

    def is_open_category(plate: str | None) -> bool:
        return plate is not None and signature.root(plate) not in known

    slots = tuple(slot for slot in layout.slots if is_open_category(slot.column.domain.levels))
    parents = {plate: slot for plate, slot in layout.parents.items() if is_open_category(slot.column.domain.levels)}
    if not slots and not parents:
        return {}
    shown: dict[str, list[Evidence]] = {}
    start = 0
    for table in read_pieces(path, Layout(layout.row, slots, parents, layout.coordinates), rows):
        for column, cells in _category_cells(signature, table):
            settled = settle_column(signature, column, cells, start)
            plate = signature.root(str(column.domain.levels))
            shown[plate] = _gather(shown.get(plate, []), observe(settled.cells))
        start += count_table_rows(table)
    return {plate: decide(plate, signature.plates[plate].extent, merge(parts)) for plate, parts in shown.items()}


def _gather(parts: list[Evidence], latest: Evidence) -> list[Evidence]:
    """Add evidence; it is merged only when the new parts outgrow the old, so that a long file is not slow."""
    total = sum(len(part.distinct) for part in parts[1:]) + len(latest.distinct)
    if parts and total > max(DEFAULT_ROWS, len(parts[0].distinct)):
        return [merge([*parts, latest])]
    return [*parts, latest]


def _category_cells(signature: Signature, table: Table) -> list[tuple[ColumnSpec, Cells]]:
    """All columns of a table that was opened for its categories, with what the model says of them."""
    outer = signature.parent_columns()
    own = [(signature.columns[name], cells) for name, cells in table.columns.items()]
    return [*own, *((outer[plate], cells) for plate, cells in table.parents.items())]


def _regroup(pieces: Iterator[Table], rows: int, row: str, is_ordered: bool) -> Iterator[Table]:
    """Tables of `rows` rows from pieces of any length; of an ordered plate, tables of whole series."""
    held: list[Table] = []
    wanted, start, is_first = rows, 0, True
    for piece in pieces:
        held.append(piece)
        if sum(map(count_table_rows, held)) < wanted:
            continue
        table = replace(concatenate_tables(held), start=start)
        while (stop := _find_cut(table, rows, row, is_ordered)) is not None:
            yield slice_table(table, 0, stop)
            table, is_first = slice_table(table, stop, count_table_rows(table)), False
        held, start = [table], table.start
        # A series longer than a batch: wait until twice as much is there before looking for its end again.
        wanted = max(rows, 2 * count_table_rows(table)) if is_ordered else rows
    rest = replace(concatenate_tables(held), start=start)
    while (stop := _find_cut(rest, rows, row, is_ordered)) is not None:
        yield slice_table(rest, 0, stop)
        rest, is_first = slice_table(rest, stop, count_table_rows(rest)), False
    if is_first or count_table_rows(rest):
        yield rest


def _find_cut(table: Table, rows: int, row: str, is_ordered: bool) -> int | None:
    """Where the next batch ends, or None while that cannot be told yet."""
    size = count_table_rows(table)
    if not is_ordered:
        return rows if size >= rows else None
    if row not in table.parents or size <= rows:
        return None
    outer = table.parents[row].values
    begins = np.flatnonzero(outer[rows:] != outer[rows - 1 : -1])
    return rows + int(begins[0]) if begins.size else None


def _check_series_closed(signature: Signature, dataset: Dataset, row: str, closed: set[int], start: int) -> None:
    """A series that ended in an earlier batch must not begin again; `closed` gathers those that ended."""
    if row not in dataset.first or row not in dataset.parents:
        return
    begins = np.flatnonzero(dataset.first[row])
    for position, code in zip(begins.tolist(), dataset.parents[row][begins].tolist()):
        if code in closed:
            raise split_series(row, str(signature.plates[row].within), start + position)
    closed.update(dataset.parents[row][begins].tolist())
