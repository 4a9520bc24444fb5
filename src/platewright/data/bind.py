"""Bind a user's data to a model: read, settle, agree on sizes, find the categories, check, and freeze.

    data (dict, table, xarray, file) -> Table -> Dataset

What a column must be comes from the model's signature; nothing is guessed from its name or its values alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.data.axes import agree_sizes, orient, spread
from platewright.data.cells import Cells, Table
from platewright.data.dataset import Dataset
from platewright.data.encode import encode, settle_categories
from platewright.data.groups import check_parents, find_first, lift, used_plates
from platewright.data.holes import FILLABLE, Holes, fill_holes, find_holes
from platewright.data.layout import Labels
from platewright.data.levels import Levels, decide, merge, observe
from platewright.data.place import Place
from platewright.data.plain import bind_plain
from platewright.data.read import read_table
from platewright.data.settle import settle
from platewright.data.signature import ColumnSpec, Signature
from platewright.data.support import MUCH, check_numbers
from platewright.errors import MissingColumn, UnknownName


def bind(
    signature: Signature,
    data: object,
    *,
    labels: Mapping[str, tuple[object, ...]] | None = None,
    scan: bool = True,
    partly: bool = False,
    upright: bool = False,
) -> Dataset:
    """Check data against a model's signature and give them as typed arrays.

    `data` is a dict of arrays, lists and scalars; a pandas, polars or Arrow table (or another that narwhals reads); an
    xarray Dataset; or the path of a .csv or .parquet file. `labels` are those learned before, by plate: a category
    outside them is an `UnseenLevel`. Leave out the plates whose elements are new; rows always are. With `scan=False`
    large real columns are not searched for NaN and infinity: the caller looks at its statistics and, if these are not
    finite, binds again. With `partly`, cells of variables that the model explains may be missing. With `upright` such a
    large matrix stays where it is when it lies column by column, for callers that can read it so.
    """
    if not scan and labels is None and (plain := bind_plain(signature, data, upright)) is not None:
        return plain
    levels = known_levels(signature, labels)
    table = read_table(signature, data, named(levels))
    return bind_table(signature, table, levels, scan, partly, upright)


def known_levels(signature: Signature, labels: Labels | None) -> dict[str, Levels]:
    """The elements of root plates that are settled before the data are seen: by the model, or learned before."""
    given = labels or {}
    for plate in given:
        if plate not in signature.plates:
            raise UnknownName(plate, signature.plates, where="labels")
    known = {
        signature.root(plate): Levels(len(names), tuple(names))
        for plate, names in given.items()
        if not signature.is_open(signature.root(plate))
    }
    for name, spec in signature.plates.items():
        if spec.labels is not None:
            known[signature.root(name)] = Levels(len(spec.labels), spec.labels)
    return known


def named(levels: Mapping[str, Levels]) -> dict[str, tuple[object, ...]]:
    """The labels of those plates that have them."""
    return {plate: known.labels for plate, known in levels.items() if known.labels is not None}


@dataclass(frozen=True, eq=False)
class Settled:
    """One column after its objects are unpacked and its axes put in order, with a way to name its cells."""

    column: ColumnSpec
    cells: Cells
    place: Place
    holes: Holes | None = None
    """Cells without a value, in the order of the axes."""

    @property
    def is_category(self) -> bool:
        """Whether its values are elements of a plate."""
        return self.column.domain.kind == "levels"


def bind_table(
    signature: Signature,
    table: Table,
    levels: Mapping[str, Levels],
    scan: bool = True,
    partly: bool = False,
    upright: bool = False,
) -> Dataset:
    """The second half of `bind`, which streams use for each piece of a file.

    With `upright` a large matrix that lies column by column stays so.
    """
    _check_required(signature, table)
    used = used_plates(signature, table)
    check_parents(signature, table, used)
    columns = {
        name: settle_column(
            signature, signature.columns[name], cells, table.start, partly and _is_searched(cells, scan)
        )
        for name, cells in table.columns.items()
    }
    outer = signature.parent_columns()
    parents = {
        plate: settle_column(signature, outer[plate], cells, table.start)
        for plate, cells in table.parents.items()
        if plate in used
    }
    # In one table every column has a cell a row, so an outer group further out says nothing about its plate's size.
    own = [parent for plate, parent in parents.items() if table.row in (None, plate)]
    shapes = [(settled.column, settled.cells.values.shape) for settled in (*columns.values(), *own)]
    known = {**_coordinates(table), **levels}
    sizes = agree_sizes(signature, {plate: elements.size for plate, elements in known.items()}, shapes)
    found = find_levels(signature, [*columns.values(), *parents.values()], known, sizes)
    sizes |= {plate: elements.size for plate, elements in found.items()}
    values = {name: _finish(signature, settled, found, scan, upright) for name, settled in columns.items()}
    codes = {plate: _finish(signature, settled, found) for plate, settled in parents.items()}
    codes = _lift_all(signature, table, codes, sizes)
    by_root = named(found)
    labels = {name: by_root[signature.root(name)] for name in signature.plates if signature.root(name) in by_root}
    every = spread(signature, sizes)
    missing = {name: settled.holes for name, settled in columns.items() if settled.holes is not None}
    return Dataset(values, every, labels, codes, _find_series(signature, every, codes, table.start), missing)


def find_levels(
    signature: Signature, settled: list[Settled], known: Mapping[str, Levels], sizes: Mapping[str, int]
) -> dict[str, Levels]:
    """The elements of every category plate that the columns show, together with those already known."""
    found = dict(known)
    shown: dict[str, list[Settled]] = {}
    for item in settled:
        if item.column.domain.levels is not None:
            shown.setdefault(signature.root(item.column.domain.levels), []).append(item)
    for plate, items in shown.items():
        if plate not in found:
            found[plate] = decide(plate, sizes.get(plate), merge([observe(item.cells) for item in items]))
    return found


def settle_column(
    signature: Signature, column: ColumnSpec, cells: Cells, start: int = 0, partly: bool = False
) -> Settled:
    """Unpack objects, order the axes, and bring categories to codes with entries or integers.

    With `partly`, cells of a variable that the model explains may be missing.
    """
    if cells.entries is not None and column.domain.kind != "levels":
        cells = Cells(cells.name, _decode(cells), axes=cells.axes)
    holes = find_holes(cells) if partly and column.is_random and column.domain.kind in FILLABLE else None
    if holes is not None:
        cells = fill_holes(column, cells, holes, start)
        holes = orient(signature, column, Cells(cells.name, holes, axes=cells.axes)).values
    cells = orient(signature, column, settle(column, cells, start))
    place = Place(column, cells.values.shape, start)
    if column.domain.kind == "levels":
        cells = settle_categories(place, cells)
    return Settled(column, cells, place, holes)


def _is_searched(cells: Cells, scan: bool) -> bool:
    """Large columns of reals are searched for holes only when something was not finite."""
    return scan or cells.values.dtype.kind != "f" or cells.values.size < MUCH


def _finish(
    signature: Signature, settled: Settled, levels: Mapping[str, Levels], scan: bool = True, upright: bool = False
) -> NDArray[Any]:
    """Codes or checked numbers, read-only."""
    place = Place(settled.column, settled.place.shape, settled.place.start, named(levels))
    if settled.is_category and settled.column.domain.levels is not None:
        return encode(place, settled.cells, levels[signature.root(settled.column.domain.levels)])
    return check_numbers(place, settled.cells.values, scan, upright)


def _decode(cells: Cells) -> NDArray[Any]:
    """Entries in place of codes, for a column that declares levels but must be numbers."""
    return np.asarray(np.array([*(cells.entries or ()), None], dtype=object)[cells.values])


def _check_required(signature: Signature, table: Table) -> None:
    for column in signature.columns.values():
        if column.required and column.name not in table.columns:
            plates = ", ".join(column.plates)
            found = ", ".join(f"`{name}`" for name in table.columns) or "none of the model's variables"
            raise MissingColumn(
                f"the data have no column `{column.name}`; found: {found}",
                where=f"variable {column.name}" + (f" on plates ({plates})" if plates else ""),
                expected=f"{column.domain} for each ({plates})" if plates else str(column.domain),
            )


def _coordinates(table: Table) -> dict[str, Levels]:
    return {plate: Levels(len(labels), labels) for plate, labels in table.coordinates.items()}


def _lift_all(
    signature: Signature, table: Table, codes: dict[str, NDArray[Any]], sizes: Mapping[str, int]
) -> dict[str, NDArray[Any]]:
    """In one table, outer groups beyond the first are given by row, and are wanted by group."""
    row = table.row
    if row is None or row not in codes:
        return codes
    lifted = {row: codes[row]}
    inner, plate = codes[row], signature.plates[row].within
    while plate is not None and plate in codes:
        name = str(signature.plates[plate].within)
        lifted[plate] = lift(inner, codes[plate], sizes[signature.root(plate)], plate, name)
        inner, plate = codes[plate], signature.plates[plate].within
    return lifted


def _find_series(
    signature: Signature, sizes: Mapping[str, int], parents: Mapping[str, NDArray[Any]], start: int
) -> dict[str, NDArray[Any]]:
    """Where series begin, for each ordered plate whose elements the data tell."""
    return {
        plate.name: find_first(plate.name, sizes[plate.name], plate.within, parents.get(plate.name), start)
        for plate in signature.plates.values()
        if plate.ordered and plate.name in sizes and (plate.within is None or plate.name in parents)
    }
