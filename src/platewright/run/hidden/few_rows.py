"""EM on the few rows that stand for all of them: gathered once, from memory or from a file, then iterated on alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Generic

import numpy as np

from platewright.backends.kernels.accelerated import Seen
from platewright.backends.kernels.few_rows import are_few, few_rows, gathered, gathered_with, rows_joined
from platewright.family import Array
from platewright.operation import Declined
from platewright.run.hidden.em import Estimate, Runner
from platewright.run.hidden.em_search import search, with_initial
from platewright.schemas.em import EMPlan
from platewright.schemas.few_rows import NAME, FewRows, RowColumn, find_few_rows
from platewright.schemas.weigh_rows import HiddenPlan

Values = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Gathered(Generic[HiddenPlan]):
    """Few rows with weights, and the sizes of all plates: that of the rows themselves stays what it was."""

    few: FewRows[HiddenPlan]
    columns: Values
    sizes: Mapping[str, int]

    @property
    def backend(self) -> str:
        """Who made the steps, and on what."""
        return f"numpy, {self.told}"

    @property
    def told(self) -> str:
        """One line about what was done."""
        many, short = self.sizes[self.few.row], self.sizes[self.few.weigher.few]
        return f"{short} rows stand for {many}: {self.few.because}"


def gathered_once(plan: HiddenPlan, columns: Values, sizes: Mapping[str, int]) -> Gathered[HiddenPlan] | Declined:
    """The few rows that stand for those in memory, or why all of them are needed in every iteration."""
    few = find_few_rows(plan)
    return few if isinstance(few, Declined) else gathered_columns(few, columns, sizes)


def gathered_from(
    plan: HiddenPlan, batches: Iterable[Values], sizes: Mapping[str, int]
) -> Gathered[HiddenPlan] | Declined:
    """The same of rows that come in batches."""
    few = find_few_rows(plan)
    return few if isinstance(few, Declined) else gathered_batches(few, batches, sizes)


def gathered_columns(
    few: FewRows[HiddenPlan], columns: Values, sizes: Mapping[str, int]
) -> Gathered[HiddenPlan] | Declined:
    """The few rows of columns in memory."""
    squared, kept = _flat(few, columns)
    rows, held, weight = few_rows(squared, kept)
    return _made(few, columns, sizes, rows, held, weight)


def gathered_batches(
    few: FewRows[HiddenPlan], batches: Iterable[Values], sizes: Mapping[str, int]
) -> Gathered[HiddenPlan] | Declined:
    """The few rows of batches of rows; what does not lie on them is that of the last."""
    found: tuple[Array, list[Array], Array] | None = None
    columns: Values = {}
    for columns in batches:
        squared, kept = _flat(few, columns)
        part = (squared, kept, np.ones(len(squared)))
        found = gathered(*part) if found is None else gathered_with(found, part)
        if not are_few(len(found[2]), sizes[few.row]):
            break
    assert found is not None  # there is at least one batch
    return _made(few, columns, sizes, *found)


def _made(
    few: FewRows[HiddenPlan], columns: Values, sizes: Mapping[str, int], rows: Array, kept: list[Array], weight: Array
) -> Gathered[HiddenPlan] | Declined:
    if not are_few(len(weight), sizes[few.row]):
        shown = ", ".join(column.name for column in few.kept)
        count = f"{sizes[few.row]} rows of `{few.row}`"
        if shown:
            return Declined(NAME, f"of {count} too many differ in {shown}")
        return Declined(NAME, f"{count} are not many beside {rows.shape[1]} columns")
    own = {column.name for column in (*few.squared, *few.kept)}
    found = {name: values for name, values in columns.items() if name not in own and name not in _on_rows(few)}
    begin = 0
    for column in few.squared:
        shape = np.moveaxis(np.asarray(columns[column.name]), column.axis, 0).shape[1:]
        end = begin + int(np.prod(shape))
        found[column.name] = _back(rows[:, begin:end].reshape(-1, *shape), column)
        begin = end
    for column, values in zip(few.kept, kept, strict=True):
        found[column.name] = _back(values, column)
    found[few.weigher.weight] = weight
    return Gathered(few, found, {**sizes, few.weigher.few: len(weight)})


def _on_rows(few: FewRows[HiddenPlan]) -> set[str]:
    """Columns of rows that no step reads."""
    nodes = few.plan.graph.nodes
    return {name for name, node in nodes.items() if few.row in {axis.plate for axis in node.axes}}


def _flat(few: FewRows[HiddenPlan], columns: Values) -> tuple[Array, list[Array]]:
    """Columns with rows first: those of which moments matter side by side, the others one by one."""
    parts = [_rows_first(columns, column) for column in few.squared]
    flat = rows_joined([(part, int(np.prod(part.shape[1:]))) for part in parts])
    return flat, [_rows_first(columns, column) for column in few.kept]


def _rows_first(columns: Values, column: RowColumn) -> Array:
    return np.moveaxis(np.asarray(columns[column.name]), column.axis, 0)


def _back(values: Array, column: RowColumn) -> Array:
    return np.ascontiguousarray(np.moveaxis(values, 0, column.axis))


@dataclass(frozen=True, eq=False)
class FewRunner(Runner):
    """EM on few rows; what is expected of each of the many is made on demand, at the end."""

    recalled: Callable[[Values], Values] = dict

    def probabilities(self, seen: Seen, values: Values) -> Values:
        """The expectations of all rows."""
        return self.recalled(values)


def run_on_few(found: Gathered[EMPlan], whole: Runner, **options: Any) -> Estimate:
    """The search for the best mode on few rows; `whole` has them all."""
    runner = few_runner(found, partial(Later, whole))
    return search(runner, **with_initial(whole.plan, found.sizes, options))


def few_runner(found: Gathered[EMPlan], recalled: Callable[[Values], Values]) -> FewRunner:
    """The two steps on few rows, and how what is expected of all of them is made at the end."""
    return FewRunner(found.few.plan, found.columns, found.sizes, few=found.few, recalled=recalled)


class Later(Mapping[str, Array]):
    """Expectations of all rows, made when somebody asks for the first time."""

    def __init__(self, runner: Runner, values: Values) -> None:
        self.runner, self.values_there = runner, values

    @cached_property
    def made(self) -> Values:
        """What the expectation of all rows gives."""
        return self.runner.expected(self.values_there).expectations

    def __getitem__(self, name: str) -> Array:
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.made)

    def __len__(self) -> int:
        return len(self.made)
