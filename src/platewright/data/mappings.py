"""Read a dict of arrays, lists and scalars, each with its axes in the order that the model declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from platewright.data.cells import Cells, Table
from platewright.data.foreign import in_our_words
from platewright.data.frames import is_series, read_series
from platewright.data.labelled import is_labelled
from platewright.data.settle import as_array
from platewright.data.signature import ColumnSpec, Signature
from platewright.errors import DataError, UnknownName


def read_mapping(signature: Signature, data: Mapping[Any, object]) -> Table:
    """Every key must be a variable of the model, or the outer plate of a long table (`doc`, or `doc[word]`)."""
    parents = signature.parent_columns()
    outer = {column.name for column in parents.values()}
    outer |= {f"{column.name}[{plate}]" for plate, column in parents.items()}
    for key in data:
        if key not in signature.columns and key not in outer:
            raise UnknownName(str(key), {*signature.columns, *outer}, where="a key of the data")
    _check_one_index(signature, data)
    columns = {name: _read(signature.columns[name], value) for name, value in data.items() if name in signature.columns}
    found = {plate: _find_parent(plate, column, data) for plate, column in parents.items()}
    return Table(columns, {plate: cells for plate, cells in found.items() if cells is not None})


def _check_one_index(signature: Signature, data: Mapping[Any, object]) -> None:
    """Series that bring an index of their own must agree on it: rows are never matched by position against it."""
    seen: dict[tuple[str, ...], tuple[str, Any]] = {}
    for name, value in data.items():
        if type(value).__module__.split(".")[0] != "pandas" or not hasattr(value, "index"):
            continue
        plates = signature.columns[name].plates if name in signature.columns else ()
        first, index = seen.setdefault(plates, (str(name), value.index))
        if len(index) == len(value.index) and not index.equals(value.index):
            raise DataError(
                f"`{first}` and `{name}` are Series with different indices",
                where=f"columns `{first}` and `{name}`",
                expected="rows that stand for the same things",
                hint="join them into one DataFrame first, or give arrays (.to_numpy()) if the order is right",
            )


def _find_parent(plate: str, column: ColumnSpec, data: Mapping[Any, object]) -> Cells | None:
    for key in (f"{column.name}[{plate}]", column.name):
        if key in data:
            return _read(column, data[key])
    return None


def _read(column: ColumnSpec, value: object) -> Cells:
    """An array, a list, a scalar, a Series, or an xarray DataArray whose dimensions are the plates."""
    if isinstance(value, (np.ndarray, list, tuple, int, float, str)):
        return Cells(column.name, as_array(column.name, value))
    kind = type(value).__name__
    with in_our_words(f"a {kind}", lambda: f"column `{column.name}`", hint="give a NumPy array"):
        return _read_object(column, value)


def _read_object(column: ColumnSpec, value: object) -> Cells:
    """What another library made, or anything that says how it becomes an array."""
    axes = tuple(str(axis) for axis in getattr(value, "dims", ())) if is_labelled(value) else ()
    if axes and sorted(axes) == sorted(column.plates):
        return Cells(column.name, as_array(column.name, value), axes=axes)
    if is_series(value):
        return read_series(column.name, value)
    return Cells(column.name, as_array(column.name, value))
