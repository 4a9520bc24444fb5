"""Read an xarray Dataset: its dimensions are plates, in any order, and its coordinates label their elements.

Nothing of xarray is imported: an object that comes from it brings all that is needed.
"""

from __future__ import annotations

from typing import Any

from platewright.data.cells import Cells, Table
from platewright.data.layout import Labels
from platewright.data.settle import as_array
from platewright.data.signature import ColumnSpec, Signature
from platewright.errors import UnseenLevel


def is_labelled(data: object) -> bool:
    """Whether it is an xarray Dataset or DataArray."""
    return type(data).__module__.partition(".")[0] == "xarray"


def read_labelled(signature: Signature, data: Any, labels: Labels) -> Table:
    """Take the model's variables by name; other variables and dimensions are left alone."""
    if not hasattr(data, "data_vars"):
        data = data.to_dataset(name=data.name or "values")
    data, coordinates = _align(signature, data, labels)
    columns = {name: _read(column, data[name]) for name, column in signature.columns.items() if name in data.variables}
    parents = {}
    for plate, column in signature.parent_columns().items():
        for key in (f"{column.name}[{plate}]", column.name):
            if key in data.variables and tuple(data[key].dims) == (plate,):
                parents[plate] = _read(column, data[key])
                break
    return Table(columns, parents, coordinates)


def _read(column: ColumnSpec, variable: Any) -> Cells:
    return Cells(column.name, as_array(column.name, variable.values), axes=tuple(str(axis) for axis in variable.dims))


def _align(signature: Signature, data: Any, labels: Labels) -> tuple[Any, dict[str, tuple[object, ...]]]:
    """Put the elements of labelled plates into the known order, and collect the labels of the others."""
    coordinates: dict[str, tuple[object, ...]] = {}
    for plate in signature.plates:
        if plate not in data.dims or plate not in data.coords:
            continue
        root, given = signature.root(plate), tuple(data.coords[plate].values.tolist())
        known = labels.get(root, coordinates.get(root))
        if known is None:
            coordinates[root] = given
        elif set(known) != set(given) and not signature.is_open(root):
            odd = next(iter(set(given) ^ set(known)))
            raise UnseenLevel(
                f"dimension `{plate}` has other labels than plate `{root}`: {odd!r} is only in one of them",
                where=f"coordinate {plate}",
                expected=f"the labels {', '.join(repr(label) for label in known[:12])}",
            )
        elif set(known) == set(given) and len(known) == len(given) and given != known:
            data = data.isel({plate: [given.index(label) for label in known]})
        elif signature.is_open(root):
            coordinates[root] = given
    return data, coordinates
