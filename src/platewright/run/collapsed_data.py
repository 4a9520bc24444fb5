"""What a collapsed sampler needs before its first sweep: pilot fits, lists of rows, and tables filled from scratch."""

from __future__ import annotations

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
from platewright.run.allocation import MOST_NUMBERS
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.collapsed_gaussian import Pilot
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
        """The data, with pilot fits."""
        pilots: dict[str, list[Pilot]] = {}
        for pilot in self.plan.pilots:
            pilots.setdefault(pilot.name, []).append(pilot)
        found = dict(self.given)
        for name, parts in pilots.items():
            for number, value in enumerate(self._fitted(parts)):
                found[f"{name}_{number}"] = value
        return found

    def _dealt(self, members: Members) -> tuple[Array, Array]:
        codes = evaluate(members.code, Environment(self.given, self.sizes), (members.row,)).astype(np.int64)
        rows = np.argsort(codes, kind="stable").astype(np.int64)
        counts = np.bincount(codes, minlength=self.sizes[members.axis.plate])
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), rows

    def _fitted(self, parts: list[Pilot]) -> Array:
        """Least squares of all rows at once; any value would do, a near one keeps the digits."""
        lefts, rights = [], []
        hidden = {name: np.zeros(self._shape(name), dtype=np.int64) for name in self.plan.hidden}
        environment = Environment({**self.given, **hidden}, self.sizes)
        for pilot in parts:
            over = pilot.pool.over
            output = () if pilot.output is None else (pilot.output,)
            left = [np.ravel(evaluate(feature, environment, over)) for feature in pilot.columns]
            right = np.array(evaluate(pilot.right, environment, (*over, *output)))
            lefts.append(np.stack(left, axis=-1))
            rights.append(right.reshape(len(lefts[-1]), -1))
        left, right = np.concatenate(lefts), np.concatenate(rights)
        found = np.linalg.lstsq(left, right, rcond=None)[0]
        return found if parts[0].output is not None else found[:, 0]

    def _shape(self, name: str) -> tuple[int, ...]:
        return tuple(self.sizes[axis.plate] for axis in self.plan.graph.nodes[name].axes)

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
