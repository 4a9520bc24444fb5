"""Read a table of pandas, polars, Arrow, or anything else that narwhals knows.

`narwhals.stable.v2` is the one path for all of them. Levels that a column declares are kept, observed or not. polars'
`Categorical` is the exception: its levels belong to the whole process, so only an `Enum` declares.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.data.cells import Cells, Table, recode, stack_cells
from platewright.data.layout import Labels, Layout, Slot, find_layout
from platewright.data.signature import Signature
from platewright.errors import DuplicateColumn


def is_frame(data: object) -> bool:
    """Whether narwhals can read it as a table."""
    import narwhals.stable.v2 as nw

    try:
        return isinstance(nw.from_native(data, pass_through=True), (nw.DataFrame, nw.LazyFrame))
    except nw.exceptions.DuplicateError as problem:
        raise _duplicate(problem) from problem


def is_series(data: object) -> bool:
    """Whether narwhals can read it as one column."""
    import narwhals.stable.v2 as nw

    return isinstance(nw.from_native(data, pass_through=True, allow_series=True), nw.Series)


def read_frame(signature: Signature, data: object, labels: Labels) -> Table:
    """Find the model's variables in a table; only their columns are read."""
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(data)  # type: ignore[call-overload]
        every = frame.collect_schema().names()
        names = [name for name in every if isinstance(name, str)] or [str(name) for name in every]
    except nw.exceptions.DuplicateError as problem:
        raise _duplicate(problem) from problem
    layout = find_layout(signature, names, labels)
    return read_layout(frame, layout)


def read_layout(frame: Any, layout: Layout) -> Table:
    """The variables of a layout, from a narwhals frame (a lazy one is collected for these columns only)."""
    import narwhals.stable.v2 as nw

    frame = frame.select(*layout.sources) if layout.sources else frame
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    columns = {slot.column.name: _read_slot(frame, slot) for slot in layout.slots}
    parents = {plate: _read_slot(frame, slot) for plate, slot in layout.parents.items()}
    return Table(columns, parents, layout.coordinates, row=layout.row)


def count_frame_rows(data: object) -> int:
    """Number of rows of a table; a lazy one is asked for the number alone."""
    import narwhals.stable.v2 as nw

    frame = nw.from_native(data)  # type: ignore[call-overload]
    if isinstance(frame, nw.LazyFrame):
        return int(frame.select(nw.len()).collect().item())
    return len(frame)


def read_series(name: str, series: object) -> Cells:
    """One pandas, polars or Arrow column."""
    import narwhals.stable.v2 as nw

    return _read_column(name, nw.from_native(series, series_only=True))


def _read_slot(frame: Any, slot: Slot) -> Cells:
    if not slot.is_stacked:
        return _read_column(slot.column.name, frame[slot.sources[0]])
    return stack_cells(slot.column.name, [_read_column(source, frame[source]) for source in slot.sources])


def _read_column(name: str, series: Any) -> Cells:
    """Numbers as an array, declared levels as codes, text as it comes."""
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _read_levels(name, series)
    if isinstance(dtype, nw.Decimal):
        series = series.cast(nw.Float64)
    if isinstance(dtype, nw.String) and series.implementation.is_pyarrow():
        return _read_arrow_levels(name, series.to_native().dictionary_encode(), declared=False)
    if isinstance(dtype, (nw.List, nw.Array)):
        return Cells(name, _read_lists(series))
    return Cells(name, series.to_numpy())


def _read_levels(name: str, series: Any) -> Cells:
    """Codes and levels, straight from the library that holds them; narwhals does not hand out codes."""
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if series.implementation.is_pandas_like():
        codes = native.cat.codes.to_numpy().astype(np.int64)
        return Cells(name, codes, tuple(native.cat.categories.tolist()), declared=True)
    if series.implementation.is_pyarrow():
        return _read_arrow_levels(name, native, declared=True)
    if isinstance(series.dtype, nw.Enum):
        codes = native.to_physical().cast(int).fill_null(-1).to_numpy().astype(np.int64)
        return Cells(name, codes, tuple(series.dtype.categories), declared=True)
    return Cells(name, series.cast(nw.String).to_numpy())


def _read_arrow_levels(name: str, column: Any, declared: bool) -> Cells:
    """An Arrow dictionary column; its chunks may have a dictionary each, and a dictionary may repeat a value."""
    parts = [
        Cells(name, _signed(chunk.indices), tuple(chunk.dictionary.to_pylist()), declared=declared)
        for chunk in column.chunks
    ]
    entries = dict.fromkeys(entry for part in parts for entry in part.entries or () if entry is not None)
    index = {entry: code for code, entry in enumerate(entries)}
    aligned = [recode(part, index) for part in parts]
    codes = aligned[0] if len(aligned) == 1 else np.concatenate([np.zeros(0, dtype=np.int64), *aligned])
    return Cells(name, codes, tuple(index), declared=declared)


def _signed(indices: Any) -> NDArray[np.int64]:
    """Arrow indices, which may be unsigned and have nulls, with -1 for a null."""
    return np.asarray(indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False))


def _read_lists(series: Any) -> NDArray[Any]:
    """A column of lists; Arrow's lists of fixed size are one flat block of memory already."""
    native = series.to_native()
    if series.implementation.is_pyarrow() and native.null_count == 0 and native.num_chunks == 1:
        chunk = native.chunk(0)
        width = getattr(chunk.type, "list_size", None)
        flat = chunk.flatten() if width else None
        if flat is not None and flat.null_count == 0 and str(flat.type) in ("double", "float", "int64", "int32"):
            return np.asarray(flat.to_numpy().reshape(-1, width))
    return np.asarray(series.to_numpy())


def _duplicate(problem: Exception) -> DuplicateColumn:
    return DuplicateColumn(f"two columns have one name ({problem})", hint="rename or drop all but one")
