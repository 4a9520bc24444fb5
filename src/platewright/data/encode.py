"""Turn categories into int64 codes of their plate, and name the first value that the plate does not have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.data.blocks import blocks, find
from platewright.data.cells import Cells, recode
from platewright.data.levels import Levels, is_integer_text, kind_of, read_spelling
from platewright.data.place import Place
from platewright.data.settle import missing_value
from platewright.data.support import as_integers, freeze
from platewright.errors import PlatewrightError, SupportError, UnseenLevel

LARGEST = int(np.iinfo(np.int64).max)


def settle_categories(place: Place, cells: Cells) -> Cells:
    """Bring settled values to one of two forms: codes with entries, or int64 integers."""
    values = cells.values
    if cells.entries is not None:
        return cells
    if values.size == 0:
        return replace(cells, values=np.zeros(values.shape, dtype=np.int64))
    if values.dtype.kind == "b":
        return replace(cells, values=values.astype(np.int64), entries=(False, True), declared=True)
    if values.dtype.kind == "u" and int(values.max()) > LARGEST:  # hashes: names, and never codes
        distinct, codes = np.unique(values, return_inverse=True)
        return replace(cells, values=codes.reshape(values.shape), entries=tuple(distinct.tolist()))
    if values.dtype.kind in "iu" or (values.dtype.kind == "f" and _is_integral(values)):
        return replace(cells, values=as_integers(place, values))
    if values.dtype.kind == "f":
        distinct, codes = np.unique(values, return_inverse=True)
        return replace(cells, values=codes.reshape(values.shape), entries=tuple(distinct.tolist()))
    return factorise(cells)


def factorise(cells: Cells) -> Cells:
    """Text as codes into its distinct values, in order of appearance."""
    index: dict[object, int] = {}
    texts = cells.values.ravel().tolist()
    # len(index) is read before the entry is added, so each new text gets the next code.
    codes = np.fromiter((index.setdefault(text, len(index)) for text in texts), np.int64, len(texts))
    return replace(cells, values=codes.reshape(cells.values.shape), entries=tuple(index))


def encode(place: Place, cells: Cells, levels: Levels) -> NDArray[Any]:
    """Codes of categories in the given levels, read-only and contiguous."""
    if cells.entries is None and (levels.is_codes or _are_codes_of_text(levels)):
        return freeze(_check_codes(place, cells.values, levels))
    if cells.entries is None:
        distinct, codes = np.unique(cells.values, return_inverse=True)
        cells = replace(cells, values=codes.reshape(cells.values.shape), entries=tuple(distinct.tolist()))
    elif cells.spelled:
        cells = replace(cells, entries=read_spelling(cells.entries or (), levels.labels))
    position, count = find(cells.values, lambda block: block < 0)
    if count:
        raise missing_value(place, position, count)
    codes = recode(cells, levels.index)
    position, count = find(codes, lambda block: block < 0)
    if count:
        entry = (cells.entries or ())[int(cells.values.reshape(-1)[position])]
        raise _unseen(place, entry, levels, position, count)
    return freeze(np.asarray(codes, order="C"))


def _is_integral(values: NDArray[Any]) -> bool:
    """Whether floats are integers, or have cells that `as_integers` will name as missing or infinite."""
    flat = np.ascontiguousarray(values)
    if find(flat, lambda block: ~np.isfinite(block))[1]:
        return True
    return find(flat, lambda block: np.floor(block) != block)[1] == 0


def _are_codes_of_text(levels: Levels) -> bool:
    """Whether integers can only be meant as codes: all labels are text, and none of them reads as a number."""
    return kind_of(levels.labels or ()) == "text" and not any(
        is_integer_text(str(label)) for label in levels.labels or ()
    )


def _check_codes(place: Place, values: NDArray[Any], levels: Levels) -> NDArray[Any]:
    for _, block in blocks(values):
        if block.min() < 0 or block.max() >= levels.size:
            position, count = find(values, lambda block: (block < 0) | (block >= levels.size))
            raise _unseen(place, int(values.reshape(-1)[position]), levels, position, count)
    return values


def _unseen(place: Place, value: object, levels: Levels, position: int, count: int) -> PlatewrightError:
    """An unknown name, or a code out of range where there are no names."""
    plate = place.column.domain.levels
    where = place.name_first(position, count)
    if levels.labels is None:
        return SupportError(
            f"`{place.column.name}` is {value!r}, but plate `{plate}` has size {levels.size}",
            where=where,
            expected=f"a code 0 to {levels.size - 1}",
            hint=f"if the values are names, give plate `{plate}` its labels",
        )
    known = ", ".join(repr(label) for label in levels.labels[:12]) + (", ..." if levels.size > 12 else "")
    text_and_number = kind_of(levels.labels) == "text" and not isinstance(value, str)
    return UnseenLevel(
        f"`{place.column.name}` is {value!r}, which plate `{plate}` does not know",
        where=where,
        expected=f"one of the known levels: {known or 'none'}",
        hint="the labels are text and the value is not; convert the column to text" if text_and_number else "",
    )
