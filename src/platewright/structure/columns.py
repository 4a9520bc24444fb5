"""The columns of a table as nodes of networks: which are categories, numbers or counts, and their cells as codes.

    text, declared categories, truth values, whole numbers     a table for each state of the parents
    other numbers                                              a regression on the parents
    whole numbers that are said to be counts                   a rate for each state of the parents
    what is said to have a model of its own                    that model for each state of the parents

Whole numbers in which cells are missing arrive as floating point; few of them are still categories.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.data.cells import Cells
from platewright.data.frames import is_frame, read_series
from platewright.errors import (
    DataError,
    DuplicateColumn,
    MissingColumn,
    MixedTypes,
    ModelError,
    NotFinite,
    ShapeError,
    SourceError,
    SupportError,
    UnknownName,
    UnseenLevel,
)
from platewright.language.model import Model
from platewright.structure.one_group import OneGroup, read_group

KINDS = ("category", "number", "count")
FEW = 20
"""So many different whole numbers among missing cells are taken for categories."""
MOST_LEVELS = 65_535
MISSING = -1
MOST_MARKED = 4096
"""Whole numbers of so narrow a range are looked up in a table and not sorted."""


@dataclass(frozen=True)
class Column:
    """One node: its name, what it holds, and its levels if it holds categories."""

    name: str
    kind: str
    levels: tuple[object, ...] = ()
    hidden: bool = False
    group: OneGroup | None = field(default=None, compare=False)
    """The model of one group of rows, of a count or of a column whose kind is a model."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The cells of all columns: codes of categories (-1 is missing) and numbers (NaN is missing)."""

    columns: tuple[Column, ...]
    codes: NDArray[np.int64]
    values: NDArray[np.float64]

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self.codes.shape[1])

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Where a cell is missing, by column and row."""
        tables = np.array([column.kind == "category" for column in self.columns])
        return np.where(tables[:, None], self.codes == MISSING, np.isnan(self.values))

    @property
    def is_complete(self) -> bool:
        """Whether no cell is missing."""
        return int(self.codes.min()) >= 0 if self.tables else not self.missing.any()

    @property
    def tables(self) -> bool:
        """Whether all columns are categories."""
        return all(column.kind == "category" for column in self.columns)

    def with_cells(self, codes: NDArray[np.int64], values: NDArray[np.float64]) -> Rows:
        """The same columns with other cells."""
        return replace(self, codes=codes, values=values)


def read_columns(data: object, kinds: Mapping[str, str | Model]) -> tuple[Column, ...]:
    """Names, kinds and levels of the columns of a table."""
    table = dict(_cells(data))
    if not table:
        raise DataError("the table has no columns", expected="at least one column")
    for name, kind in kinds.items():
        if name not in table:
            raise UnknownName(name, table, where="kinds=")
        if not isinstance(kind, Model) and kind not in KINDS:
            raise UnknownName(str(kind), KINDS, where=f"kinds=, the kind of `{name}`")
    return tuple(_column(name, cells, kinds.get(name)) for name, cells in table.items())


def read_rows(columns: Sequence[Column], data: object) -> Rows:
    """The cells of a table in the levels that the columns have."""
    table = dict(_cells(data))
    seen = [column for column in columns if not column.hidden]
    for column in seen:
        if column.name not in table:
            raise MissingColumn(f"the data have no column `{column.name}`", expected=", ".join(table) or "columns")
    for name in table:
        if all(name != column.name for column in seen):
            raise UnknownName(name, [column.name for column in seen], where="a column of the data")
    lengths = {name: len(cells.values) for name, cells in table.items()}
    rows = next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != rows:
            raise ShapeError(
                f"column `{name}` has {length} rows, `{seen[0].name}` has {rows}", expected="equal lengths"
            )
    if rows == 0:
        raise DataError("the table has no rows", expected="at least one row")
    codes = np.zeros((len(columns), rows), dtype=np.int64)
    values = np.zeros((len(columns), rows))
    for number, column in enumerate(columns):
        if column.hidden:
            codes[number] = MISSING
        elif column.kind == "category":
            codes[number] = _codes(column, table[column.name])
        else:
            values[number] = _numbers(column, table[column.name])
    return Rows(tuple(columns), codes, values)


# -- reading --------------------------------------------------------------------------------------------------------


def _cells(data: object) -> Iterator[tuple[str, Cells]]:
    """The columns of a data frame or of a mapping, by name."""
    if isinstance(data, Mapping):
        _check_apart([str(name) for name in data])
        yield from ((str(name), _array(str(name), value)) for name, value in data.items())
        return
    if not is_frame(data):
        raise SourceError(
            f"a {type(data).__name__} is no table", expected="a data frame, or a mapping of names to columns"
        )
    import narwhals.stable.v2 as nw

    frame: Any = nw.from_native(data)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    names = [str(name) for name in frame.columns]
    _check_apart(names)
    for name, column in zip(names, frame.columns, strict=True):
        cells = read_series(name, frame[column].to_native())
        yield name, cells if cells.values.ndim == 1 else _array(name, cells.values)


def _check_apart(names: Sequence[str]) -> None:
    if twice := [name for name in names if names.count(name) > 1]:
        raise DuplicateColumn(f"two columns have one name, `{twice[0]}`", hint="rename or drop all but one")


def _array(name: str, value: object) -> Cells:
    values = np.asarray(value)
    if values.dtype.kind in "US" and not isinstance(value, np.ndarray):  # NumPy turns numbers beside text into text
        values = np.asarray(value, dtype=object)
    if values.ndim != 1:
        raise ShapeError(f"column `{name}` has {values.ndim} axes", expected="one value a row")
    return Cells(name, values)


def _settled(cells: Cells) -> Cells:
    """Numbers as they are, NaN missing; everything else as codes into sorted entries, -1 missing."""
    values = cells.values
    if cells.entries is not None:
        if cells.declared or not cells.entries:
            return cells
        return _by_entries(cells.name, list(cells.entries), values)
    if values.dtype.kind in "fiu":
        return cells
    if values.dtype.kind == "b":
        return replace(cells, values=values.astype(np.int64), entries=(False, True), declared=False)
    if values.dtype.kind not in "OUST":
        raise DataError(f"column `{cells.name}` holds {values.dtype}", expected="numbers, text or truth values")
    index: dict[object, int] = {}
    listed = values.tolist()
    # len(index) is read before the entry is added, so each new value gets the next code.
    codes = np.fromiter((index.setdefault(value, len(index)) for value in listed), np.int64, len(listed))
    return _by_entries(cells.name, list(index), codes)


def _by_entries(name: str, entries: list[object], codes: NDArray[np.int64]) -> Cells:
    """Codes into values of one type, those that are missing left out and the rest in order."""
    present = [entry for entry in entries if not is_missing(entry)]
    types = {_type(entry) for entry in present}
    if len(types) > 1:
        raise MixedTypes(f"column `{name}` mixes {' and '.join(sorted(types))}", expected="one type in a column")
    if types == {"numbers"}:
        numbers = np.array([*(np.nan if is_missing(entry) else entry for entry in entries), np.nan], dtype=np.float64)
        return Cells(name, numbers[codes])
    ordered = sorted(set(present))  # type: ignore[type-var]
    place = {entry: code for code, entry in enumerate(ordered)}
    translated = np.array([*(place.get(entry, MISSING) for entry in entries), MISSING], dtype=np.int64)
    return Cells(name, translated[codes], tuple(ordered))


def is_missing(value: object) -> bool:
    """None, NaN, NaT, and the missing cell of pandas, which is not equal to itself in the usual way."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def _type(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "truth values"
    return "numbers" if isinstance(value, int | float | np.number) else "text"


def _column(name: str, cells: Cells, wanted: str | Model | None) -> Column:
    cells = _settled(cells)
    kind = "model" if isinstance(wanted, Model) else wanted
    declared = tuple(cells.entries or ()) if cells.declared and cells.entries is not None else ()
    numeric = cells.entries is None
    present = cells.values[~_holes(cells)]
    if not cells.values.size:
        raise DataError("the table has no rows", expected="at least one row")
    if not present.size:
        raise DataError(f"column `{name}` has no value", hint="drop it, or name it in hidden= with its levels")
    if numeric and np.isinf(present).any():
        raise _infinite(name, cells.values)
    distinct = _distinct(present)
    whole = numeric and bool((distinct == np.floor(distinct)).all())
    if kind is None:
        floating = cells.values.dtype.kind == "f"
        codes = floating and whole and len(present) < len(cells.values) and len(distinct) <= FEW
        kind = "number" if floating and not codes else "category"
    if kind != "category" and not numeric:
        raise SupportError(f"column `{name}` holds no numbers", where=f"column `{name}`, kind {kind}")
    if kind == "count" and (not whole or distinct[0] < 0):
        raise SupportError(f"column `{name}` is said to be counts", expected="whole numbers from 0")
    if len(distinct) < 2 and len(declared) < 2:
        shown = distinct[0] if numeric else (cells.entries or ())[int(distinct[0])]
        raise DataError(
            f"column `{name}` is constant: it is {shown!s} in every row",
            where=f"column `{name}`",
            expected="at least two values",
            hint="drop it; nothing can be learned of its arcs",
        )
    if isinstance(wanted, Model):
        group = read_group(name, wanted)
        group.check(name, cells.values.astype(np.float64))
        return Column(name, kind, group=group)
    if kind != "category":
        return Column(name, kind)
    if len(distinct) > FEW and 2 * len(distinct) > len(present):
        raise DataError(
            f"column `{name}` has {len(distinct)} levels in {len(present)} rows, like an identifier",
            where=f"column `{name}`",
            expected="categories that repeat",
            hint="drop it; if its numbers are measurements, say kinds={...: 'number'}",
        )
    levels = declared or (_labels(distinct, whole) if numeric else _used(cells, distinct))
    if len(levels) > MOST_LEVELS:
        raise DataError(f"column `{name}` has {len(levels)} levels", expected=f"at most {MOST_LEVELS}")
    return Column(name, kind, levels)


def _distinct(values: NDArray[Any]) -> NDArray[Any]:
    """The distinct values in order; those of a narrow range of whole numbers are marked in a table, not sorted."""
    if not (narrow := _narrow(values)):
        return np.unique(values)
    return np.flatnonzero(np.bincount(values.astype(np.int64, copy=False) - narrow.start)) + narrow.start


def _narrow(values: NDArray[Any]) -> range:
    """From the least to the greatest of whole numbers that are close together; empty for others."""
    if values.dtype.kind not in "iu" or not values.size:
        return range(0)
    low, high = int(values.min()), int(values.max())
    return range(low, high + 1) if high - low <= MOST_MARKED and high < 2**62 else range(0)


def _places(values: NDArray[Any], index: Mapping[object, int]) -> NDArray[np.int64]:
    """The code of each number; those of a narrow range are looked up in a table."""
    if narrow := _narrow(values):
        table = np.array([index.get(value, MISSING) for value in narrow], dtype=np.int64)
        return table[values.astype(np.int64, copy=False) - narrow.start]
    distinct = np.unique(values)
    found = np.array([index.get(value, MISSING) for value in distinct.tolist()], dtype=np.int64)
    return np.asarray(found[np.searchsorted(distinct, values)])


def _holes(cells: Cells) -> NDArray[np.bool_]:
    """Which cells of a settled column are missing."""
    if cells.entries is not None:
        return np.asarray(cells.values < 0)
    return np.isnan(cells.values) if cells.values.dtype.kind == "f" else np.zeros(len(cells.values), dtype=np.bool_)


def _labels(distinct: NDArray[Any], whole: bool) -> tuple[object, ...]:
    return tuple(int(value) if whole else float(value) for value in distinct)


def _used(cells: Cells, distinct: NDArray[Any]) -> tuple[object, ...]:
    entries = cells.entries or ()
    return tuple(entries[int(code)] for code in distinct)


def _codes(column: Column, cells: Cells) -> NDArray[np.int64]:
    cells = _settled(cells)
    index = {level: code for code, level in enumerate(column.levels)}
    if cells.entries is not None:
        translation = np.array([*(index.get(entry, MISSING) for entry in cells.entries), MISSING], dtype=np.int64)
        codes = np.asarray(translation[cells.values])
    else:
        codes = _places(cells.values, index)
    if codes.size and codes.min() == MISSING and (bad := (codes == MISSING) & ~_holes(cells)).any():
        row = int(np.flatnonzero(bad)[0])
        value = cells.values[row] if cells.entries is None else cells.entries[int(cells.values[row])]
        known = ", ".join(repr(level) for level in column.levels[:12])
        raise UnseenLevel(
            f"`{column.name}` is {value!r}, which is none of its levels",
            where=f"row {row}, column {column.name}",
            expected=f"one of {known}",
        )
    return codes


def _numbers(column: Column, cells: Cells) -> NDArray[np.float64]:
    cells = _settled(cells)
    if cells.entries is not None:
        raise SupportError(f"column `{column.name}` holds no numbers", where=f"column {column.name}")
    numbers = cells.values.astype(np.float64)
    if np.isinf(numbers).any():
        raise _infinite(column.name, numbers)
    if column.kind == "count" and ((numbers < 0) | (numbers != np.floor(numbers)) & ~np.isnan(numbers)).any():
        raise SupportError(f"column `{column.name}` is said to be counts", expected="whole numbers from 0")
    if column.group is not None:
        column.group.check(column.name, numbers)
    return numbers


def _infinite(name: str, values: NDArray[Any]) -> NotFinite:
    row = int(np.flatnonzero(np.isinf(values))[0])
    return NotFinite(f"`{name}` is infinite", where=f"row {row}, column {name}", expected="finite numbers")


def hidden_columns(hidden: Mapping[str, int]) -> tuple[Column, ...]:
    """Nodes that no row shows, each of a given number of levels."""
    for name, levels in hidden.items():
        if not isinstance(levels, int) or isinstance(levels, bool) or levels < 2:
            raise ModelError(f"hidden node `{name}` has {levels!r} levels", expected="a whole number from 2")
    return tuple(Column(name, "category", tuple(range(levels)), hidden=True) for name, levels in hidden.items())
