"""The elements of a category plate: found out from what the data show, in one fixed order of authority.

    1. labels of the plate: the model's, those learned before, or those the source gives to an axis
    2. levels the source declares (pandas categories, polars Enum, Arrow dictionary): all, in their order
    3. integers: codes 0..size-1; where the size is not known, codes 0..max when 0 is among them, else names (10, 20, 30
       are three elements), in order; few codes with wide gaps are refused, since both could be meant
    4. sorted distinct values of text

What a column shows is `Evidence`; evidence of many columns, or of many pieces of a file, is merged before deciding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from platewright.data.blocks import blocks
from platewright.data.cells import Cells
from platewright.errors import MixedTypes, ShapeError, SizeError, SupportError

MOST_INTEGER_LABELS = 1_000_000
FEW_CODES = 10
WIDEST_GAP = 4
BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}

Kind = Literal["none", "integer", "text", "real", "boolean"]


@dataclass(frozen=True)
class Levels:
    """The elements of a plate: `labels` in order, or plain codes 0..size-1 where there are none."""

    size: int
    labels: tuple[object, ...] | None

    @cached_property
    def is_codes(self) -> bool:
        """Whether the label of each element is its code."""
        labels = self.labels
        if labels is None:
            return True
        return all(type(label) is int and label == code for code, label in enumerate(labels))

    @cached_property
    def index(self) -> Mapping[object, int]:
        """The code of each label; made once for all batches of a stream."""
        labels = self.labels if self.labels is not None else range(self.size)
        return {label: code for code, label in enumerate(labels)}


@dataclass(frozen=True)
class Evidence:
    """What a column shows of its plate: the distinct values, or all levels that its source declares."""

    column: str
    distinct: tuple[object, ...]
    declared: tuple[object, ...] | None = None
    spelled: bool = False


def observe(cells: Cells) -> Evidence:
    """The distinct values of a settled column of categories (codes with entries, or integers)."""
    if cells.entries is None:
        return Evidence(cells.name, tuple(_distinct_integers(cells.values.reshape(-1)).tolist()))
    if cells.declared:
        return Evidence(cells.name, cells.entries, declared=cells.entries)
    used = np.unique(cells.values)
    shown = tuple(cells.entries[code] for code in used[used >= 0].tolist())
    return Evidence(cells.name, shown, spelled=cells.spelled)


def merge(parts: Sequence[Evidence]) -> Evidence:
    """The evidence of several columns, or of several pieces of one column, together."""
    distinct = tuple(dict.fromkeys(value for part in parts for value in part.distinct))
    declared = [part.declared for part in parts if part.declared is not None]
    union = tuple(dict.fromkeys(level for levels in declared for level in levels)) if declared else None
    columns = ", ".join(dict.fromkeys(part.column for part in parts))
    return Evidence(columns, distinct, union, any(part.spelled for part in parts))


def decide(plate: str, size: int | None, evidence: Evidence) -> Levels:
    """The elements of a plate without labels, by points 2 to 4 above; `size` is the one known from elsewhere."""
    if evidence.declared is not None:
        return _decide_named(plate, size, evidence, evidence.declared)
    values = read_spelling(evidence.distinct) if evidence.spelled else evidence.distinct
    kind = kind_of(values)
    if len({kind_of([value]) for value in values}) > 1:
        raise MixedTypes(f"categories of plate `{plate}` mix text and numbers", where=f"column {evidence.column}")
    if kind == "none":
        return Levels(size or 0, None if size else ())
    if kind == "real":
        raise SupportError(
            f"the categories of plate `{plate}` are fractions",
            where=f"column {evidence.column}",
            expected="text or codes",
        )
    if kind == "boolean":
        return _decide_named(plate, size, evidence, (False, True))
    if kind == "integer":
        return _decide_integers(plate, size, [int(value) for value in values])  # type: ignore[call-overload]
    return _decide_named(plate, size, evidence, tuple(sorted(values)))  # type: ignore[type-var]


def kind_of(values: Sequence[object]) -> Kind:
    """The type of the first value, which stands for all."""
    if not values:
        return "none"
    value = values[0]
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    if isinstance(value, (int, np.integer)):
        return "integer"
    if isinstance(value, (float, np.floating)):
        return "real"
    return "text"


def read_spelling(texts: Iterable[object], labels: tuple[object, ...] | None = None) -> tuple[object, ...]:
    """The text of a CSV file as integers, true/false or text: as the labels are, or as all of it can be read."""
    spellings = tuple(str(text) for text in texts)
    wanted = kind_of(labels) if labels else None
    if wanted == "real":
        return tuple(_read_real(text) for text in spellings)
    if wanted == "text":
        return spellings
    if wanted != "integer" and all(text in BOOLEANS for text in spellings):
        return tuple(BOOLEANS[text] for text in spellings)
    if wanted == "integer" or all(is_integer_text(text) for text in spellings):
        return tuple(int(text) if is_integer_text(text) else text for text in spellings)
    if wanted == "boolean":
        return tuple(BOOLEANS.get(text, text) for text in spellings)
    return spellings


def is_integer_text(text: str) -> bool:
    """Whether a text is an integer in plain decimal digits, short enough to be one of 64 bits."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    return digits.isascii() and digits.isdigit() and len(digits) < 19


def _read_real(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _decide_named(plate: str, size: int | None, evidence: Evidence, labels: tuple[object, ...]) -> Levels:
    """Labels that must fill the plate exactly."""
    if size is None or size == len(labels):
        return Levels(len(labels), labels)
    shown = ", ".join(repr(label) for label in labels[:8]) + (", ..." if len(labels) > 8 else "")
    raise ShapeError(
        f"plate `{plate}` has size {size}, but column {evidence.column} shows {len(labels)} categories: {shown}",
        where=f"column {evidence.column}",
        expected=f"{size} categories",
        hint=f"name them: give plate `{plate}` its labels",
    )


def _decide_integers(plate: str, size: int | None, values: list[int]) -> Levels:
    """Codes where the size is known or they begin at 0; else names: what begins elsewhere was not counted from 0."""
    if size is not None:
        return Levels(size, None)
    if min(values) != 0:
        return Levels(len(values), tuple(sorted(values)))
    count = max(values) + 1
    if count > max(FEW_CODES, len(values) * WIDEST_GAP):
        raise SizeError(
            f"the {len(values)} integers of plate `{plate}` are 0 to {count - 1}: codes of {count} elements, or names?",
            expected=f"at least one in {WIDEST_GAP} of the codes 0 to {count - 1}, or another sign of what is meant",
            hint=f"for codes give the size, m.plate({plate!r}, {count}); for names convert the column to text",
        )
    return Levels(count, tuple(range(count)) if count <= MOST_INTEGER_LABELS else None)


def _distinct_integers(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sorted distinct values; by marking a table where the range is small, which needs no sort."""
    if values.size == 0:
        return values
    low, high = int(values.min()), int(values.max())
    if high - low > 4 * values.size + 65_536:
        return np.unique(values)
    seen = np.zeros(high - low + 1, dtype=np.bool_)
    for _, block in blocks(values):
        seen[block - low] = True
        if len(seen) <= len(block) and seen.all():  # nothing new can come
            break
    return np.flatnonzero(seen) + low
