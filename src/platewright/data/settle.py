"""Settle what a source gave into a plain array: numbers, bools or text, with nothing hidden in objects.

[1, 2.5]            -> float64           ["a", "b"]     -> text
[1, None]           -> MissingValue      [1, "a"]       -> MixedTypes
[[1, 2], [3]]       -> ShapeError        object of Decimal, Fraction -> float64
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.data.cells import Cells
from platewright.data.place import Place
from platewright.data.signature import ColumnSpec
from platewright.errors import MissingValue, MixedTypes, ShapeError, WrongType

_REFUSED = {"c": "complex numbers", "M": "dates", "m": "time spans", "V": "records", "S": "bytes"}
_MISSING_TYPES = ("NAType", "NaTType")


def as_array(name: str, value: object) -> NDArray[Any]:
    """Read an array, list or scalar; ragged and mixed lists are refused rather than turned into objects or text."""
    if isinstance(value, np.ma.MaskedArray):
        return _unmask(value)
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if isinstance(value, (list, tuple)) and str in (kinds := set(map(type, value))) and not kinds & {list, tuple}:
        found = np.empty(len(value), dtype=object)  # as text NumPy would give every cell the width of the longest
        found[:] = value
        return found
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as problem:
        raise _name_ragged(name, value) from problem
    # NumPy turns [1, "a"] into text, so such lists are looked at again as objects.
    if array.dtype.kind in "US" and isinstance(value, (list, tuple)):
        return np.asarray(value, dtype=object)
    return array


def settle(column: ColumnSpec, cells: Cells, start: int = 0) -> Cells:
    """Unpack objects to numbers, text or nested arrays; refuse what is neither."""
    values = cells.values
    if cells.entries is not None:
        return cells
    if values.dtype.kind in _REFUSED:
        raise _wrong_type(column, _REFUSED[values.dtype.kind])
    if values.dtype.kind == "T":  # NumPy's variable-width text may hold missing cells, as objects do
        values = values.astype(object)
    if values.dtype.kind != "O":
        return cells
    if values.size and values.ndim and all(issubclass(kind, (list, tuple, np.ndarray)) for kind in kinds_of(values)):
        nested = as_array(column.name, _plain(values))
        return settle(column, Cells(cells.name, nested, axes=cells.axes), start)
    settled = _settle_objects(Place(column, values.shape, start), values)
    return Cells(cells.name, settled, axes=cells.axes)


def kinds_of(values: NDArray[Any]) -> set[type]:
    """The types of the objects of an array: few, whatever its length, so most questions are asked of them alone."""
    return set(map(type, values.ravel().tolist()))


def may_be_missing(kind: type) -> bool:
    """Whether objects of a type can be a null."""
    return kind is type(None) or kind.__name__ in _MISSING_TYPES or issubclass(kind, (float, np.floating))


def missing_objects(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which objects of an array are nulls."""
    unsure = [kind for kind in kinds_of(values) if may_be_missing(kind)]
    if not unsure:
        return np.zeros(values.shape, dtype=bool)
    if unsure == [type(None)]:
        found = np.fromiter((item is None for item in values.ravel().tolist()), bool, values.size)
    else:
        found = np.fromiter(map(is_missing, values.ravel().tolist()), bool, values.size)
    return found.reshape(values.shape)


def is_missing(value: object) -> bool:
    """Null in any library's spelling: None, NaN, pandas' NA and NaT."""
    if value is None or type(value).__name__ in _MISSING_TYPES:
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)


def missing_value(place: Place, position: int, count: int) -> MissingValue:
    """The error for cells without a value."""
    return MissingValue(
        f"`{place.column.name}` has {count} missing value{'s' if count > 1 else ''} (null or NaN)",
        where=place.name_first(position, count),
        expected=f"{place.column.domain} in every cell",
        hint="drop these rows or fill them"
        if not place.column.is_random
        else "drop these rows, fill them, or leave the variable out of the data so that it is unknown",
    )


def wrong_text(place: Place, position: int, value: object) -> WrongType:
    """The error for text where numbers are needed."""
    return WrongType(
        f"`{place.column.name}` holds text: {value!r}",
        where=place.name_cell(position) if place.shape else f"column `{place.column.name}`",
        expected=str(place.column.domain),
        hint="convert the column to numbers first",
    )


def _wrong_type(column: ColumnSpec, found: str) -> WrongType:
    return WrongType(
        f"`{column.name}` holds {found}",
        where=f"column `{column.name}`",
        expected=str(column.domain),
        hint="convert the column to numbers, or to text for categories",
    )


def _settle_objects(place: Place, values: NDArray[Any]) -> NDArray[Any]:
    """An object array of one type of thing becomes an array of that type."""
    items, kinds = values.ravel().tolist(), kinds_of(values)
    if any(map(may_be_missing, kinds)):
        _refuse(place, items, is_missing, lambda position, count: missing_value(place, position, count))
    if not items:
        return values.astype(np.float64)
    is_text = isinstance(items[0], str)
    if any(issubclass(kind, str) != is_text for kind in kinds):
        other = next(position for position, item in enumerate(items) if isinstance(item, str) != is_text)
        raise MixedTypes(
            f"`{place.column.name}` mixes text and other values: {items[0]!r} and {items[other]!r}",
            where=f"{place.name_cell(0)}, and row {place.name_cell(other).partition('row ')[2]}",
            expected=str(place.column.domain),
        )
    if is_text:
        return values
    if not all(issubclass(kind, (Real, Decimal, np.bool_)) for kind in kinds):
        odd = next(item for item in items if not isinstance(item, (Real, Decimal, np.bool_)))
        kind = "complex numbers" if isinstance(odd, complex) else f"objects of type {type(odd).__name__}"
        raise _wrong_type(place.column, kind)
    return _as_numbers(place, items, kinds).reshape(values.shape)


def _as_numbers(place: Place, items: list[Any], kinds: set[type]) -> NDArray[Any]:
    """Bools stay bools and integers integers; everything else becomes float64."""
    if all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return np.array(items, dtype=np.bool_)
    try:
        if all(issubclass(kind, (int, np.integer)) for kind in kinds):
            return np.array(items, dtype=np.int64)
        return np.array([float(item) for item in items])
    except OverflowError as problem:
        raise _wrong_type(place.column, "integers that do not fit in 64 bits") from problem


def _refuse(
    place: Place, items: list[Any], is_bad: Callable[[object], bool], error: Callable[[int, int], Exception]
) -> None:
    """Raise for the first bad item, with the number of them."""
    bad = [position for position, item in enumerate(items) if is_bad(item)]
    if bad:
        raise error(bad[0], len(bad))


def _unmask(value: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """A masked array is an array with missing cells."""
    if not np.ma.is_masked(value):
        return np.asarray(value.data)
    objects = np.array(value.data, dtype=object)
    objects[np.ma.getmaskarray(value)] = None
    return objects


def _plain(value: object) -> object:
    """Nested arrays and tuples as nested lists."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(item) for item in value]
    return value


def _name_ragged(name: str, value: object) -> ShapeError:
    """Say which row of a nested list has another length than the first."""
    rows = list(value) if isinstance(value, (list, tuple)) else []
    lengths = [len(row) if isinstance(row, (list, tuple, np.ndarray)) else 0 for row in rows]
    odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), 0)
    detail = f": row 0 has {lengths[0]} items, row {odd} has {lengths[odd]}" if odd else ""
    return ShapeError(
        f"`{name}` is ragged{detail}",
        where=f"column `{name}`, row {odd}",
        expected="rows of one length",
        hint="for groups of different sizes use a long table: a plate `within` another, one row per element",
    )
