"""What a collapsed sampler needs before its first sweep: pilot fits, lists of rows, and tables filled from scratch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import (
    Add,
    Constant,
    Expression,
    Index,
    Indicator,
    Multiply,
    Reference,
)
from platewright.errors import SizeError
from platewright.family import Array
from platewright.run.checks.allocation import MOST_NUMBERS
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.collapsed_gaussian import Centred
from platewright.schemas.collapsed_move import Members
from platewright.schemas.collapsed_tables import Table


@dataclass(frozen=True, eq=False)
class CollapsedData:
    """A plan with its columns and sizes, and what follows from them once and for all."""

    plan: CollapsedPlan
    given: Mapping[str, Array]
    sizes: Mapping[str, int]
    members: dict[Members, tuple[Array, Array]] = field(default_factory=dict)
    """For rows that a known code deals out: where each element's rows start, and the rows one after another."""

    def __post_init__(self) -> None:
        for move in self.plan.moves:
            for entry in move.entries:
                if entry.members is not None and entry.members not in self.members:
                    self.members[entry.members] = self._dealt(entry.members)
        for table in self.plan.tables:
            count = int(np.prod([float(self.sizes[plate]) for plate in table.plates]))
            if count > MOST_NUMBERS:
                raise SizeError(
                    f"`{table.name}` would hold {count:.3g} numbers ({8 * count / 2**30:.3g} GiB)",
                    expected=f"at most {MOST_NUMBERS:.3g} numbers in one table",
                )

    @cached_property
    def columns(self) -> Mapping[str, Array]:
        """The data, with right-hand sides about their pilot fit."""
        blocks: dict[str, list[Centred]] = {}
        for column in self.plan.centred:
            blocks.setdefault(column.block, []).append(column)
        found = dict(self.given)
        for parts in blocks.values():
            pilot = self._fitted([part for part in parts if part.pooled])
            found |= {part.name: self._centred(part, pilot) for part in parts}
        return found

    def _dealt(self, members: Members) -> tuple[Array, Array]:
        codes = evaluate(members.code, Environment(self.given, self.sizes), (members.row,)).astype(np.int64)
        rows = np.argsort(codes, kind="stable").astype(np.int64)
        counts = np.bincount(codes, minlength=self.sizes[members.axis.plate])
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), rows

    def _design(self, part: Centred) -> tuple[Array, Array]:
        """Features and right-hand sides, row by row."""
        environment = Environment(self.given, self.sizes)
        features = [np.array(evaluate(feature, environment, part.rows)) for feature in part.features]
        return np.stack(features, axis=-1), np.array(evaluate(part.right, environment, part.axes), dtype=float)

    def _fitted(self, parts: list[Centred]) -> Array:
        """Least squares of all rows at once; any value would do, a near one keeps the digits."""
        lefts, rights = [], []
        for part in parts:
            left, right = self._design(part)
            rows = math.prod(left.shape[:-1])
            lefts.append(left.reshape(rows, left.shape[-1]))
            rights.append(right.reshape(rows, math.prod(right.shape[left.ndim - 1 :])))
        found: Array = np.linalg.lstsq(np.concatenate(lefts), np.concatenate(rights), rcond=None)[0]
        return found

    def _centred(self, part: Centred, pilot: Array) -> Array:
        left, right = self._design(part)
        return np.asarray(right - (left @ pilot).reshape(right.shape))

    def filled(self, table: Table, hidden: Mapping[str, Array]) -> Array:
        """A table from all its rows."""
        environment = Environment({**self.columns, **hidden}, self.sizes)
        shape = tuple(self.sizes[plate] for plate in table.plates)
        value = np.array(evaluate(table.value, environment, table.over), dtype=float)
        found = np.zeros(shape)
        codes = tuple(evaluate(code, environment, table.over).astype(np.intp) for code in table.codes)
        if codes:
            np.add.at(found, codes, value)
            return found
        return np.asarray(value.sum())

    def is_whole(self, part: Expression) -> bool:
        """Whether a value is always an integer, so that a table of it is exact."""
        match part:
            case Constant(value):
                return float(value).is_integer()
            case Index() | Indicator():
                return True
            case Reference(name, _):
                return name in self.plan.hidden or np.asarray(self.columns.get(name, 0.5)).dtype.kind in "biu"
            case Add(parts) | Multiply(parts):
                return all(self.is_whole(inner) for inner in parts)
        return False
