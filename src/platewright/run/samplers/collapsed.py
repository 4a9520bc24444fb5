"""Run a collapsed Gibbs plan, plainly: the judge of the compiled one.

    for each element:   take it out of its tables;  weigh every level;  draw one;  put it back

Tables of real numbers are filled anew before each sweep, so that rounding cannot pile up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index
from platewright.backends.kernels.collapsed import drawn_level
from platewright.backends.kernels.xoshiro import Xoshiro
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.run.samplers.collapsed_data import CollapsedData
from platewright.schemas.collapsed_move import Change, Entry, Members, Move, Stage, at_positions

At = Mapping[str, int]
"""The positions of an element, of a row, and of a level, by the name of their index."""


HIDDEN, RANDOM = "hidden ", "random numbers"
"""What hidden variables, and the words of the random state, are called in a stored state."""


class CollapsedSampler:
    """One chain: hidden variables, and the tables that follow from them."""

    def __init__(
        self,
        data: CollapsedData,
        hidden: Mapping[str, Array],
        random: Xoshiro,
        order: Mapping[str, Array] | None = None,
    ) -> None:
        self.data = data
        self.order = order or {}
        self.hidden = {name: np.array(values, dtype=np.int64) for name, values in hidden.items()}
        self.random = random
        self.tables: dict[str, Array] = {}
        self.fill()

    def fill(self) -> None:
        """All tables from scratch."""
        self.tables = {table.name: self.data.filled(table, self.hidden) for table in self.data.plan.tables}

    def state(self) -> dict[str, Array]:
        """All that the next sweep follows from."""
        found = {f"{HIDDEN}{name}": np.array(values) for name, values in self.hidden.items()}
        return {**found, RANDOM: self.random.state.copy()}

    def set_state(self, state: Mapping[str, Array]) -> None:
        """Go on from a state that was looked at."""
        for name, values in self.hidden.items():
            values[...] = state[f"{HIDDEN}{name}"]
        self.random.state[...] = state[RANDOM]

    def sweep(self, count: int = 1) -> None:
        """Every element of every hidden variable once, so many times over; plates in `order` in the order given."""
        for _ in range(count):
            self.fill()
            for move in self.data.plan.moves:
                for element in product(*(self.visited(axis.plate) for axis in move.axes)):
                    self.draw(move, element)

    def visited(self, plate: str) -> Sequence[int]:
        """The elements of a plate in the order of the visit."""
        return [int(k) for k in self.order[plate]] if plate in self.order else range(self.data.sizes[plate])

    def draw(self, move: Move, element: tuple[int, ...]) -> None:
        """One element given all others."""
        at = {axis.name: position for axis, position in zip(move.axes, element, strict=True)}
        old = int(self.hidden[move.hidden][element])
        self.enter(move.entries, {**at, move.level.name: old}, -1.0)
        with np.errstate(invalid="ignore"):  # an impossible state is refused, with its element
            log_weights = self.log_weights(move, at)
        new = self.chosen(log_weights, move.hidden, element)
        self.enter(move.entries, {**at, move.level.name: new}, 1.0)
        self.hidden[move.hidden][element] = new

    def log_weights(self, move: Move, at: At) -> Array:
        """The change of log evidence for each level, the element being out."""
        count = self.data.sizes[move.level.plate]
        found = np.zeros(count)
        for change in move.changes:
            found += self.changed(change, at, (move.level,)).reshape(count, -1).sum(axis=1)
        for level in range(count) if move.stages else ():
            found[level] += self.staged(move.stages, {**at, move.level.name: level})
        return found

    def staged(self, stages: Sequence[Stage], at: At) -> float:
        """Rows one after another, each weighed with those before it in place; then all are taken out again."""
        found = 0.0
        entered: list[tuple[Stage, At]] = []
        for stage in stages:
            for row in self.rows(stage.rows, stage.members, at):
                found += sum(float(self.changed(change, row, ()).sum()) for change in stage.changes)
                self.enter_row(stage.entries, row, 1.0)
                entered.append((stage, row))
        for stage, row in reversed(entered):
            self.enter_row(stage.entries, row, -1.0)
        return found

    def chosen(self, log_weights: Array, name: str, element: tuple[int, ...]) -> int:
        """A level with its probability."""
        top = log_weights.max()
        if not np.isfinite(top):
            raise PlatewrightError(
                f"no level of `{name}` has a positive probability",
                where=f"element {', '.join(str(number) for number in element)} of `{name}`",
                hint="look for probabilities of exactly 0 or 1 in the model, and for data of extreme size",
            )
        return drawn_level(log_weights, self.random.uniform())

    # -- tables --------------------------------------------------------------------------------------------------------

    def enter(self, entries: Sequence[Entry], at: At, sign: float) -> None:
        """Put an element into its tables, or take it out."""
        for entry in entries:
            for row in self.rows(entry.rows, entry.members, at):
                self.enter_row((entry,), row, sign)

    def enter_row(self, entries: Sequence[Entry], row: At, sign: float) -> None:
        """One row of an element."""
        for entry in entries:
            cell = tuple(int(self.value(code, row)) for code in entry.codes)
            self.tables[entry.table][cell] += sign * float(self.value(entry.value, row))

    def rows(self, rows: tuple[Index, ...], members: Members | None, at: At) -> Iterator[At]:
        """All rows of an element."""
        ranges: list[Sequence[int]] = []
        for index in rows:
            if members is not None and index == members.row:
                starts, listed = self.data.members[members]
                element = at[members.axis.name]
                ranges.append([int(row) for row in listed[starts[element] : starts[element + 1]]])
            else:
                ranges.append(range(self.data.sizes[index.plate]))
        for positions in product(*ranges):
            yield {**at, **{index.name: position for index, position in zip(rows, positions, strict=True)}}

    # -- expressions ---------------------------------------------------------------------------------------------------

    def changed(self, change: Change, at: At, axes: tuple[Index, ...]) -> Array:
        return np.array(self.value(change.expression, at, (*axes, *change.loops)))

    def value(self, expression: Expression, at: At, axes: tuple[Index, ...] = ()) -> Array:
        """An expression with the indices of `at` fixed."""
        environment = Environment(
            {
                **self.data.columns,
                **self.hidden,
                **self.tables,
                **{f"at {name}": np.array(p) for name, p in at.items()},
            },
            self.data.sizes,
        )
        with np.errstate(divide="ignore"):
            return np.asarray(evaluate(at_positions(expression, at), environment, axes))
