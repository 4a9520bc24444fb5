"""The rows that a tree is grown on: inputs as small whole numbers, cuts between them, and the target.

    category     its code                      split by all levels, or one level against the others
    number       how many cuts lie at or below it        x < cuts[k]   when   code <= k

A number of few distinct values has a cut between each two; one of many has cuts that leave as many rows between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.errors import DataError, MissingColumn, MissingValue, NotFinite, ShapeError
from platewright.language.split import Attribute, Split
from platewright.trees.leaves import Floats, Leaf
from platewright.trees.native_library import tree_library

MOST_CUTS = 255
MOST_LEVELS = 256
FEW_ROWS = 10
"""In so few rows every level may be there once."""
LOOKED_AT = 100_000
"""How many values are enough to place cuts between them."""


@dataclass(frozen=True, eq=False)
class Input:
    """One input: its levels if it is a category, else its cuts."""

    attribute: Attribute
    cuts: Floats
    codes: NDArray[np.uint8]

    @property
    def name(self) -> str:
        """As the model or the table has it."""
        return self.attribute.name

    @property
    def is_category(self) -> bool:
        """Whether it has levels rather than an order."""
        return self.attribute.levels is not None

    @property
    def size(self) -> int:
        """How many codes there are."""
        return self.attribute.levels if self.attribute.levels is not None else len(self.cuts) + 1

    @property
    def representatives(self) -> NDArray[Any]:
        """A value for each row with the same answers to all questions."""
        if self.is_category:
            return self.codes
        below = self.cuts[:1] - 1.0 if len(self.cuts) else np.zeros(1)
        return np.concatenate((below, self.cuts))[self.codes]

    def coded(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        """The codes of new values."""
        if self.is_category:
            return np.asarray(values).astype(np.uint8)
        return codes_of(values, self.cuts)


@dataclass(frozen=True, eq=False)
class Rows:
    """Inputs and target of the rows, and what stands at a leaf."""

    inputs: tuple[Input, ...]
    target: NDArray[Any]
    leaf: Leaf

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.target)

    @cached_property
    def table(self) -> NDArray[np.uint8]:
        """Codes by row and input: what is known of one row lies together."""
        return np.ascontiguousarray(np.stack([one.codes for one in self.inputs], axis=1))

    @cached_property
    def attributes(self) -> Mapping[str, Attribute]:
        """The inputs by name."""
        return {one.name: one.attribute for one in self.inputs}


def read_input(attribute: Attribute, values: NDArray[Any], most_cuts: int = MOST_CUTS) -> Input:
    """A column as an input."""
    if attribute.levels is not None:
        if attribute.levels > MOST_LEVELS:
            raise DataError(
                f"`{attribute.name}` has {attribute.levels} levels",
                where="an input of a tree",
                expected=f"at most {MOST_LEVELS}",
                hint="an identifier says nothing about new rows: leave it out; group rare levels, or take numbers as "
                "numbers",
            )
        if len(values) > FEW_ROWS and len(np.unique(values)) == len(values):
            raise DataError(
                f"`{attribute.name}` has as many levels as there are rows",
                where="an input of a tree",
                expected="categories that repeat",
                hint="an identifier says nothing about new rows: leave it out",
            )
        return Input(attribute, np.empty(0), np.ascontiguousarray(values, dtype=np.uint8))
    values = np.asarray(values, dtype=float)
    if np.isnan(values).any():
        row = int(np.flatnonzero(np.isnan(values))[0])
        raise MissingValue(
            f"`{attribute.name}` is missing",
            where=f"row {row}, an input of a tree",
            hint="fill it, or make it a category with a level for what is missing",
        )
    if np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        raise NotFinite(f"`{attribute.name}` is infinite", where=f"row {row}, an input of a tree")
    cuts = cuts_of(values, most_cuts)
    return Input(attribute, cuts, codes_of(values, cuts))


def codes_of(values: NDArray[Any], cuts: Floats) -> NDArray[np.uint8]:
    """How many cuts lie at or below each value."""
    values, cuts = np.ascontiguousarray(values, dtype=float), np.ascontiguousarray(cuts)
    found = np.empty(len(values), dtype=np.uint8)
    tree_library().code_numbers(values.ctypes.data, len(values), cuts.ctypes.data, len(cuts), found.ctypes.data)
    return found


def cuts_of(values: Floats, most: int = MOST_CUTS) -> Floats:
    """Cuts between neighbouring values; where there are too many, those that leave equally many rows between them.

    Of very many rows some are looked at; where these show few values, all are.
    """
    if len(values) > LOOKED_AT:
        some = values[np.random.default_rng(0).integers(len(values), size=LOOKED_AT)]
        if len(np.unique(some)) > most + 1:
            values = some
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) > most + 1:
        below = np.cumsum(counts)
        wanted = np.arange(1, most + 1) * (len(values) / (most + 1))
        ends = np.unique(np.minimum(np.searchsorted(below, wanted), len(distinct) - 2))
    else:
        ends = np.arange(len(distinct) - 1)
    low, high = distinct[ends], distinct[ends + 1]
    middle = low + (high - low) / 2
    # Between neighbouring floating-point numbers there is no middle, and `low < cut` must hold.
    return np.where(middle > low, middle, high)


def coded_table(inputs: Sequence[Input], new: Mapping[str, Sequence[Any]]) -> NDArray[np.uint8]:
    """New rows as codes: levels by their names where they have any."""
    found = [_coded(one, new) for one in inputs]
    for one, codes in zip(inputs, found, strict=True):
        if len(codes) != len(found[0]):
            raise ShapeError(
                f"`{one.name}` has {len(codes)} rows, `{inputs[0].name}` has {len(found[0])}", expected="equal lengths"
            )
    return np.ascontiguousarray(np.stack(found, axis=1))


def _coded(one: Input, new: Mapping[str, Sequence[Any]]) -> NDArray[np.uint8]:
    if one.name not in new:
        raise MissingColumn(f"the new rows have no `{one.name}`", expected=f"a value of `{one.name}` for each new row")
    values = new[one.name]
    if one.is_category:
        return np.array([one.attribute.code(level) for level in np.asarray(values).tolist()], dtype=np.uint8)
    numbers = np.asarray(values, dtype=float)
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise NotFinite(f"`{one.name}` is {numbers[row]}", where=f"row {row}", expected="finite numbers")
    return one.coded(numbers)


def leaf_places(shape: Split | None, columns: Mapping[str, NDArray[Any]], count: int) -> NDArray[np.int64]:
    """The number of the leaf of a settled shape that each row falls into, from left to right."""
    found = np.zeros(count, dtype=np.int64)
    _place(shape, columns, np.arange(count), found, 0)
    return found


def _place(
    shape: Split | None,
    columns: Mapping[str, NDArray[Any]],
    rows: NDArray[np.int64],
    found: NDArray[np.int64],
    first: int,
) -> int:
    if shape is None:
        found[rows] = first
        return first + 1
    answers = answers_of(shape, np.asarray(columns[shape.on])[rows])
    for number, branch in enumerate(shape.branches):
        first = _place(branch, columns, rows[answers == number], found, first)
    return first


def answers_of(split: Split, values: NDArray[Any]) -> NDArray[np.int64]:
    """Which branch each value follows."""
    if split.below is not None:
        return np.where(values < split.below, 0, 1)
    if split.level is not None:
        return np.where(values == split.level, 0, 1)
    return np.asarray(values).astype(np.int64)


def grouped_statistics(leaf: Leaf, places: NDArray[np.int64], target: NDArray[Any], leaves: int) -> Floats:
    """The statistics of each leaf."""
    each = leaf.statistics(target)
    return np.stack([np.bincount(places, each[:, k], minlength=leaves) for k in range(each.shape[1])], axis=1)


def shape_evidence(
    leaf: Leaf,
    shape: Split | None,
    columns: Mapping[str, NDArray[Any]],
    target: NDArray[Any],
    shares: Sequence[float],
) -> float:
    """The log evidence of a fixed tree: a sum over its leaves."""
    places = leaf_places(shape, columns, len(target))
    found = grouped_statistics(leaf, places, target, len(shares))
    return float(leaf.log_evidence(found, np.asarray(shares)).sum())
