"""One variable as its source holds it, before any check: plain values, or codes with what they stand for.

Cells("x", values=array([1.5, 2.0]))
Cells("c", values=array([1, 0, 1]), entries=("z", "a"), declared=True)     code -1 is a missing cell
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.errors import MixedTypes, SizeError

MOST_CELLS = 2**31
ROWS_PER_FILL = 4096
PADDING = 520


@dataclass(frozen=True, eq=False)
class Cells:
    """Values of one variable; where `entries` is given, `values` are codes into it.

    `declared` says that the source names all levels, observed or not; `spelled` that entries are the text of a CSV
    file, whose type (integers, true/false, text) is still to be read; `axes` names the axes where the source does.
    """

    name: str
    values: NDArray[Any]
    entries: tuple[object, ...] | None = None
    declared: bool = False
    spelled: bool = False
    axes: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Table:
    """All variables of a source: columns by name, outer codes by inner plate, and labels that the source gives to axes.

    `row` is the plate of the rows where the source is one table, and `start` counts the rows before this piece, so that
    a message about a batch names the row of the file.
    """

    columns: Mapping[str, Cells]
    parents: Mapping[str, Cells] = field(default_factory=dict)
    coordinates: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    row: str | None = None
    start: int = 0


def check_cell_count(name: str, shape: Sequence[int]) -> None:
    """Refuse a dense array that is too large, before it is allocated."""
    count = 1
    for size in shape:
        count *= int(size)
    if count > MOST_CELLS:
        axes = " x ".join(str(size) for size in shape)
        raise SizeError(
            f"`{name}` would need an array of {axes} = {count} cells",
            expected=f"at most {MOST_CELLS} cells",
            hint="read it in pieces with platewright.data.batches",
        )


def stack_cells(name: str, parts: Sequence[Cells], upright: bool = False) -> Cells:
    """Put columns side by side as the last axis of one variable; `upright` columns are each in one piece of memory."""
    first, *others = parts
    if not others and first.entries is None:
        return replace(first, name=name, values=first.values[:, None])
    aligned, model = _align(name, parts)
    rows = aligned[0].shape[0]
    check_cell_count(name, (rows, len(aligned)))
    dtype = np.result_type(*aligned)
    if upright:
        # A line apart, or the starts of long columns fall on the same few cache lines.
        held = np.empty((len(aligned), rows + PADDING), dtype=dtype)
        return replace(model, name=name, values=np.stack(aligned, out=held[:, :rows]).T)
    stacked = np.empty((rows, len(aligned)), dtype=dtype)
    # Short runs of rows, so that the interleaved writes stay in cache.
    for start in range(0, rows, ROWS_PER_FILL):
        for position, values in enumerate(aligned):
            stacked[start : start + ROWS_PER_FILL, position] = values[start : start + ROWS_PER_FILL]
    return replace(model, name=name, values=stacked)


def is_upright(values: NDArray[Any]) -> bool:
    """Whether it is a matrix of doubles each of whose columns is one piece of memory, one after the other."""
    if values.ndim != 2 or values.dtype != np.float64 or not values.flags.aligned:
        return False
    down, across = values.strides
    return down == values.itemsize and across >= down * len(values) and across % down == 0


def concatenate_tables(tables: Sequence[Table]) -> Table:
    """Put pieces of one table below each other; empty pieces say nothing where there are others."""
    tables = [table for table in tables if count_table_rows(table)] or tables[:1]
    if len(tables) == 1:
        return tables[0]
    columns = {name: _concatenate([table.columns[name] for table in tables]) for name in tables[0].columns}
    parents = {plate: _concatenate([table.parents[plate] for table in tables]) for plate in tables[0].parents}
    return replace(tables[0], columns=columns, parents=parents)


def slice_table(table: Table, start: int, stop: int) -> Table:
    """Rows `start` to `stop` of a table all of whose columns have the rows first."""
    columns = {name: replace(cells, values=cells.values[start:stop]) for name, cells in table.columns.items()}
    parents = {plate: replace(cells, values=cells.values[start:stop]) for plate, cells in table.parents.items()}
    return replace(table, columns=columns, parents=parents, start=table.start + start)


def count_table_rows(table: Table) -> int:
    """Rows of a table all of whose columns have the rows first."""
    for cells in (*table.columns.values(), *table.parents.values()):
        return int(cells.values.shape[0])
    return 0


def _concatenate(parts: Sequence[Cells]) -> Cells:
    aligned, model = _align(parts[0].name, parts)
    return replace(model, values=np.concatenate(aligned))


def _align(name: str, parts: Sequence[Cells]) -> tuple[list[NDArray[Any]], Cells]:
    """Bring all parts to one dtype, or to codes into one list of entries."""
    if all(part.entries is None for part in parts):
        _check_one_kind(name, parts)
        return [part.values for part in parts], parts[0]
    if any(part.entries is None for part in parts):
        raise _mixture(name, next(part for part in parts if part.entries is None), parts[0])
    index: dict[object, int] = {}
    for part in parts:
        for entry in part.entries or ():
            index.setdefault(entry, len(index))
    aligned = [recode(part, index) for part in parts]
    return aligned, replace(parts[0], entries=tuple(index), declared=all(part.declared for part in parts))


def recode(cells: Cells, index: Mapping[object, int]) -> NDArray[np.int64]:
    """Codes into `index` instead of into the cells' own entries; -1 for a missing or unknown one."""
    translation = np.array([*(index.get(entry, -1) for entry in cells.entries or ()), -1], dtype=np.int64)
    return np.asarray(translation[cells.values])


def _check_one_kind(name: str, parts: Sequence[Cells]) -> None:
    """Text beside numbers would be turned into text by NumPy without a word."""
    for part in parts[1:]:
        if part.values.size and parts[0].values.size and _is_text(part) != _is_text(parts[0]):
            raise _mixture(name, part, parts[0])


def _is_text(cells: Cells) -> bool:
    return cells.values.dtype.kind in "USO"


def _mixture(name: str, odd: Cells, other: Cells) -> MixedTypes:
    return MixedTypes(
        f"`{name}` is made of columns of different types",
        where=f"columns `{other.name}` and `{odd.name}`",
        expected="numbers in all of them, or text in all of them",
    )
