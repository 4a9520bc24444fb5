"""Read a CSV file piece by piece: by pyarrow where it is installed, else (and for odd cells) by Python's csv module.

Numbers become float64; categories stay as spelled, as codes into distinct texts, because whether `0 1 2` are codes or
`yes no` are names shows only once the whole column is known. A cell that pyarrow cannot read as a number sends the rest
of the file through the slow reader, which names its row.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import numpy as np

from platewright.data.cells import Cells, Table, count_table_rows, stack_cells
from platewright.data.frames import read_layout
from platewright.data.layout import Layout, Slot
from platewright.data.levels import BOOLEANS
from platewright.data.place import Place
from platewright.data.settle import wrong_text
from platewright.data.signature import ColumnSpec
from platewright.errors import ShapeError, SourceError

MISSING_SPELLINGS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None")
BLOCK_BYTES = 1 << 22


def read_header(path: Path) -> list[str]:
    """The column names."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            header = next(csv.reader(file), None)
        except UnicodeDecodeError as error:
            raise not_text(path, error) from None
    if not header:
        raise SourceError("the file has no header line", where=str(path), expected="column names in the first line")
    for other in (";", "\t"):
        if len(header) == 1 and other in header[0]:
            raise SourceError(
                f"the header line is one name, {header[0][:40]!r}",
                where=str(path),
                expected="names and cells separated by commas",
                hint="save it with commas, or read it yourself: pandas.read_csv(path, sep=...)",
            )
    return header


def not_text(path: Path, error: UnicodeDecodeError) -> SourceError:
    """The error for bytes that are no UTF-8."""
    return SourceError(
        f"the file is not UTF-8 text: byte {error.object[error.start]:#04x}",
        where=str(path),
        hint="save it as UTF-8; spreadsheets call it `CSV UTF-8`",
    )


def read_csv(path: Path, layout: Layout, rows: int) -> Iterator[Table]:
    """The variables of a layout in pieces; at least one, which may have no rows."""
    done = 0
    if find_spec("pyarrow") is not None:
        import pyarrow

        try:
            for table in _read_by_arrow(path, layout):
                yield table
                done += count_table_rows(table)
            return
        except pyarrow.ArrowException:
            pass  # the slow reader takes up at this row, and either reads the cell or names it
    yield from _read_by_module(path, layout, rows, done)


def count_csv_rows(path: Path) -> int:
    """Number of data rows; quoted line breaks and blank lines are not counted as rows."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        next(reader, None)
        return sum(1 for record in reader if record)


def _read_by_arrow(path: Path, layout: Layout) -> Iterator[Table]:
    import narwhals.stable.v2 as nw
    import pyarrow
    from pyarrow import csv as arrow_csv

    text = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    types = {
        source: text if _is_category(slot) else pyarrow.float64()
        for slot in (*layout.slots, *layout.parents.values())
        for source in slot.sources
    }
    options = arrow_csv.ConvertOptions(
        column_types=types,
        include_columns=list(layout.sources),
        null_values=list(MISSING_SPELLINGS),
        strings_can_be_null=True,
    )
    reading = arrow_csv.ReadOptions(block_size=BLOCK_BYTES)
    parsing = arrow_csv.ParseOptions(newlines_in_values=True)
    with arrow_csv.open_csv(path, reading, parsing, options) as reader:
        empty = reader.schema.empty_table()
        yield _as_spelled(read_layout(nw.from_native(empty), layout))
        for batch in reader:
            yield _as_spelled(read_layout(nw.from_native(pyarrow.Table.from_batches([batch])), layout))


def _as_spelled(table: Table) -> Table:
    """Mark categories as text whose type is still to be read; a CSV file declares no levels."""

    def mark(cells: Cells) -> Cells:
        if cells.entries is None:
            return cells
        return Cells(cells.name, cells.values, cells.entries, spelled=True)

    columns = {name: mark(cells) for name, cells in table.columns.items()}
    parents = {plate: mark(cells) for plate, cells in table.parents.items()}
    return Table(columns, parents, table.coordinates, row=table.row)


def _read_by_module(path: Path, layout: Layout, rows: int, skip: int) -> Iterator[Table]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        header = next(reader)
        records = (record for record in reader if record)
        start = sum(1 for _ in islice(records, skip))
        is_first = True
        while (piece := _take(records, rows, len(header), start, path)) or is_first:
            texts: dict[str, tuple[str, ...]] = {name: () for name in header}
            texts.update(zip(header, zip(*piece)))
            columns = {slot.column.name: _parse_slot(slot, texts, start) for slot in layout.slots}
            parents = {plate: _parse_slot(slot, texts, start) for plate, slot in layout.parents.items()}
            yield Table(columns, parents, layout.coordinates, row=layout.row)
            start += len(piece)
            is_first = False


def _take(records: Iterator[list[str]], rows: int, width: int, start: int, path: Path) -> list[list[str]]:
    """The next rows, each as wide as the header."""
    try:
        piece = list(islice(records, rows))
    except csv.Error as problem:
        raise SourceError(f"the file is not CSV: {problem}", where=f"{path}, after row {start}") from problem
    except UnicodeDecodeError as error:
        raise not_text(path, error) from None
    for row, record in enumerate(piece):
        if len(record) != width:
            raise ShapeError(
                f"row {start + row} has {len(record)} cells, the header {width}",
                where=f"{path}, row {start + row} (rows count from 0)",
            )
    return piece


def _parse_slot(slot: Slot, texts: dict[str, tuple[str, ...]], start: int) -> Cells:
    parse = _parse_categories if _is_category(slot) else _parse_numbers
    parts = [parse(slot.column, source, texts[source], start) for source in slot.sources]
    return stack_cells(slot.column.name, parts) if slot.is_stacked else parts[0]


def _parse_categories(column: ColumnSpec, source: str, texts: tuple[str, ...], start: int) -> Cells:
    index: dict[object, int] = {}
    codes = np.fromiter(
        (-1 if text in MISSING_SPELLINGS else index.setdefault(text, len(index)) for text in texts),
        np.int64,
        len(texts),
    )
    return Cells(source, codes, tuple(index), spelled=True)


def _parse_numbers(column: ColumnSpec, source: str, texts: tuple[str, ...], start: int) -> Cells:
    values = np.empty(len(texts))
    for row, text in enumerate(texts):
        number = _parse_number(text)
        if number is None:
            raise wrong_text(Place(ColumnSpec(source, column.plates, column.domain), values.shape, start), row, text)
        values[row] = number
    return Cells(source, values)


def _parse_number(text: str) -> float | None:
    """A number, NaN for a missing cell, 0 or 1 for false and true; None for other text."""
    if text in MISSING_SPELLINGS:
        return float("nan")
    if text in BOOLEANS:
        return float(BOOLEANS[text])
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


def _is_category(slot: Slot) -> bool:
    return slot.column.domain.kind == "levels"
