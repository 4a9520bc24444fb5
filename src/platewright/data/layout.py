"""Find the variables of a model among the column names of a table, all of whose columns share the row plate.

    x on (row)            x
    x on (row, feature)   x (a list column), or x[height] x[weight], or x_0 x_1, or height weight
    doc of plate word     doc[word], or doc

Everything is decided from names alone, so that a file is opened only for the columns it needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile

from platewright.data.signature import ColumnSpec, Signature
from platewright.errors import DuplicateColumn, MissingColumn, ShapeError, nearest

Labels = Mapping[str, tuple[object, ...]]


@dataclass(frozen=True)
class Slot:
    """Where one variable is: its column specification and the table columns that hold it."""

    column: ColumnSpec
    sources: tuple[str, ...]
    is_stacked: bool = False


@dataclass(frozen=True)
class Layout:
    """All variables found, the plate of the rows, and labels that column names gave to other plates."""

    row: str | None
    slots: tuple[Slot, ...]
    parents: Mapping[str, Slot]
    coordinates: Labels

    @property
    def sources(self) -> tuple[str, ...]:
        """The table columns to read."""
        slots = (*self.slots, *self.parents.values())
        return tuple(dict.fromkeys(source for slot in slots for source in slot.sources))


def find_layout(signature: Signature, names: Sequence[str], labels: Labels) -> Layout:
    """Match the model's columns to the table's; columns the model does not know are left alone."""
    check_distinct(names)
    present = dict.fromkeys(names)
    found: dict[str, Slot] = {}
    coordinates: dict[str, tuple[object, ...]] = {}
    for column in signature.columns.values():
        if column.name in present and column.plates:
            found[column.name] = Slot(column, (column.name,))
        elif len(column.plates) == 2 and (spelled := _find_spelled(signature, column, present, labels)) is not None:
            sources, discovered = spelled
            found[column.name] = Slot(column, sources, is_stacked=True)
            if discovered is not None:
                coordinates[signature.root(column.plates[1])] = discovered
    row = _row_plate(list(found.values()))
    # Bare labels do not name the variable, so they are looked for last, and only along the rows.
    for column in signature.columns.values():
        if len(column.plates) != 2 or column.name in found or row not in (None, column.plates[0]):
            continue
        if bare := _find_bare(column, present, labels.get(signature.root(column.plates[1]), ())):
            found[column.name] = Slot(column, bare, is_stacked=True)
    slots = tuple(found[name] for name in signature.columns if name in found)
    _check_spelling(signature, slots, present)
    if names and not slots and signature.columns:
        near = {name: meant for name in names if (meant := nearest(name, signature.columns))}
        raise MissingColumn(
            f"none of the columns is a variable of the model: {', '.join(f'`{name}`' for name in names[:5])}",
            expected="at least one of: " + ", ".join(signature.columns),
            hint=", ".join(f"rename `{name}` to `{meant}`" for name, meant in list(near.items())[:5]),
        )
    row = _row_plate(slots)
    return Layout(row, slots, _find_parents(signature, row, present), coordinates)


def check_distinct(names: Sequence[str]) -> None:
    """Refuse a name that two columns share."""
    for name, times in Counter(names).items():
        if times > 1:
            raise DuplicateColumn(f"{times} columns are named `{name}`", hint="rename or drop all but one")


def _check_spelling(signature: Signature, slots: Sequence[Slot], present: Collection[str]) -> None:
    """A column named like a variable but for spaces (or capitals, where it is needed) was meant to be that variable."""
    used = {source for slot in slots for source in slot.sources}
    is_idle = not any(slot.column.name for slot in slots if not slot.column.required)
    there = {slot.column.name for slot in slots}
    for column in signature.columns.values():
        if column.name in there:
            continue
        for name in present:
            same = name.strip() == column.name
            alike = name.strip().lower() == column.name.lower() and (column.required or is_idle)
            if name not in used and name != column.name and (same or alike):
                raise MissingColumn(
                    f"the data have a column {name!r}, and none named `{column.name}`",
                    where=f"variable {column.name}",
                    hint=f"rename it to `{column.name}`" + (", without the spaces" if same else ""),
                )


def _row_plate(slots: Sequence[Slot]) -> str | None:
    """The one plate that all variables found have as first axis; a table has no other."""
    if not slots:
        return None
    ruling = next((slot for slot in slots if slot.column.required), slots[0])
    row = ruling.column.plates[0]
    for slot in slots:
        if slot.column.plates[0] != row:
            raise ShapeError(
                f"`{slot.column.name}` lives on plate `{slot.column.plates[0]}`, `{ruling.column.name}` on `{row}`; "
                "the rows of one table cannot be both",
                where=f"columns `{ruling.column.name}` and `{slot.column.name}`",
                hint="give a dict of arrays, each with its own axes, or drop the column",
            )
    return row


def _find_parents(signature: Signature, row: str | None, present: Collection[str]) -> dict[str, Slot]:
    """The columns of outer groups, from the row plate outwards."""
    columns = signature.parent_columns()
    slots: dict[str, Slot] = {}
    while row is not None and row in columns:
        names = (f"{columns[row].name}[{row}]", columns[row].name)
        source = next((name for name in names if name in present), None)
        if source is None:
            break
        slots[row] = Slot(columns[row], (source,))
        row = columns[row].name
    return slots


def _find_spelled(
    signature: Signature, column: ColumnSpec, present: Collection[str], labels: Labels
) -> tuple[tuple[str, ...], tuple[object, ...] | None] | None:
    """Columns x[height] x[weight] or x_0 x_1, which side by side make x, and labels that their names tell."""
    plate = signature.root(column.plates[1])
    known = labels.get(plate)
    size = len(known) if known is not None else signature.plates[plate].extent
    for wanted in _spellings(column.name, known, size):
        if any(name in present for name in wanted):
            return _complete(column, wanted, present), None
    bracketed = tuple(name for name in present if name.startswith(f"{column.name}[") and name.endswith("]"))
    if known is None and bracketed:
        return _complete_brackets(column, bracketed, size)
    numbered = tuple(takewhile(present.__contains__, (f"{column.name}_{code}" for code in count())))
    if size is None and numbered:
        return numbered, None
    return None


def _find_bare(column: ColumnSpec, present: Collection[str], known: tuple[object, ...]) -> tuple[str, ...]:
    """Columns named by the labels of the plate alone; of a variable that may be absent, all of them or none."""
    wanted = tuple(str(label) for label in known)
    if not any(name in present for name in wanted):
        return ()
    if not column.required and not all(name in present for name in wanted):
        return ()
    return _complete(column, wanted, present)


def _spellings(name: str, known: tuple[object, ...] | None, size: int | None) -> list[tuple[str, ...]]:
    """The column names that a plate of known labels or size may have, in order of preference."""
    by_label = [tuple(f"{name}[{label}]" for label in known)] if known is not None else []
    by_number = [tuple(f"{name}_{code}" for code in range(size))] if size is not None else []
    return by_label + by_number


def _complete(column: ColumnSpec, wanted: tuple[str, ...], present: Collection[str]) -> tuple[str, ...]:
    """All of the columns, or none: one that is missing among them is an error."""
    missing = [name for name in wanted if name not in present]
    if missing:
        raise MissingColumn(
            f"`{column.name}` needs a column `{missing[0]}`, which the data lack ({len(missing)} missing in all)",
            where=f"variable {column.name} on plates ({', '.join(column.plates)})",
            expected=", ".join(f"`{name}`" for name in wanted[:8]) + (", ..." if len(wanted) > 8 else ""),
        )
    return wanted


def _complete_brackets(
    column: ColumnSpec, names: tuple[str, ...], size: int | None
) -> tuple[tuple[str, ...], tuple[object, ...]]:
    """Labels read from names such as x[height]; plain numbers 0, 1, ... are put in order."""
    labels: tuple[object, ...] = tuple(name[len(column.name) + 1 : -1] for name in names)
    if size is not None and len(labels) != size:
        raise ShapeError(
            f"`{column.name}` has {len(labels)} columns, but plate `{column.plates[1]}` has size {size}",
            where=f"columns {', '.join(names[:8])}",
        )
    numbers = tuple(range(len(labels)))
    if set(labels) == {str(number) for number in numbers}:
        return tuple(f"{column.name}[{number}]" for number in numbers), numbers
    return names, labels
