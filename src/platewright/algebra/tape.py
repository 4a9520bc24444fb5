"""Many expressions evaluated again and again while few of their variables change: a straight list of array operations.

    tape = Tape(sizes, moving={"a", "b"})        value = tape.add(expression)
    tape.fix(values); tape.run({"a": ..., "b": ...}); tape[value]

Equal parts are computed once, whatever sum or index they stand under; what no moving variable enters is computed by
`fix` alone. An array has one axis for each free index of its expression, in the order in which the tape met them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from platewright.algebra import evaluate as direct
from platewright.algebra.expression import (
    Add,
    AtMost,
    Call,
    Constant,
    Expression,
    Index,
    Indicator,
    Inverse,
    Lag,
    Literal,
    LogDeterminant,
    LogSumExp,
    Maximum,
    Multiply,
    Power,
    Quadratic,
    Reference,
    Root,
    Scan,
    Size,
    Sum,
    Where,
    free_indices,
)
from platewright.algebra.reductions import largest, log_sum_exp
from platewright.algebra.scanning import loop_of, run_scan

Array = np.ndarray
Axes = tuple[Index, ...]
Operation = Callable[..., Any]


@dataclass(frozen=True)
class Slot:
    """Where a value is kept, and the indices of its axes."""

    number: int
    axes: Axes


class Tape:
    """Operations in the order in which they run."""

    def __init__(self, sizes: Mapping[str, int], moving: Collection[str]) -> None:
        self.sizes = sizes
        self.moving = frozenset(moving)
        self.values: list[Any] = []
        self.careful = False
        """Whether products are computed such that an exact zero wins over an infinity."""
        self._rank: dict[Index, int] = {}
        self._known: dict[object, Slot] = {}
        self._scans: dict[Expression, list[Slot]] = {}
        self._inputs: dict[str, int] = {}
        self._moves: list[bool] = []
        self._fixed: list[tuple[int, Operation, tuple[int, ...]]] = []
        self._run: list[tuple[int, Operation, tuple[int, ...]]] = []

    def __getitem__(self, slot: Slot) -> Any:
        return self.values[slot.number]

    def fix(self, values: Mapping[str, Array]) -> None:
        """Compute all that no moving variable enters."""
        for name, number in self._inputs.items():
            if name not in self.moving:
                self.values[number] = np.asarray(values[name])
        self.careful = True
        self._play(self._fixed)
        self.careful = False

    def run(self, moved: Mapping[str, Array]) -> None:
        """Compute the rest."""
        for name, number in self._inputs.items():
            if name in self.moving:
                self.values[number] = np.asarray(moved[name])
        self._play(self._run)

    def _play(self, steps: Sequence[tuple[int, Operation, tuple[int, ...]]]) -> None:
        values = self.values
        for number, operation, sources in steps:
            values[number] = operation(*[values[source] for source in sources])

    # -- building ---

    def add(self, expression: Expression) -> Slot:
        """The slot of an expression; its operations join the tape where they are new."""
        found = self._known.get(expression)
        if found is None:
            found = self._build(expression)
            self._known[expression] = found
        return found

    def broadcast(self, slot: Slot, axes: Axes) -> Slot:
        """A value with exactly the given axes, in the given order, each at its full size."""
        if slot.axes == axes:
            return slot
        shape = tuple(self.sizes[axis.plate] for axis in axes)
        order = tuple(sorted(range(len(slot.axes)), key=lambda at: axes.index(slot.axes[at])))
        marks = tuple(slice(None) if axis in slot.axes else None for axis in axes)
        return self._step(lambda x: np.broadcast_to(np.transpose(x, order)[marks], shape), (slot,), axes)

    def _sorted(self, indices: Collection[Index]) -> Axes:
        for index in sorted(indices, key=lambda index: (index.name, index.plate)):
            self._rank.setdefault(index, len(self._rank))
        return tuple(sorted(indices, key=self._rank.__getitem__))

    def _step(self, operation: Operation, sources: Sequence[Slot], axes: Axes, moves: bool | None = None) -> Slot:
        """A new slot, filled before each run or once, as its sources say."""
        number = len(self.values)
        changes = any(self._moves[source.number] for source in sources) if moves is None else moves
        self.values.append(None)
        self._moves.append(changes)
        step = (number, operation, tuple(source.number for source in sources))
        (self._run if changes else self._fixed).append(step)
        return Slot(number, axes)

    def _input(self, name: str) -> Slot:
        if name not in self._inputs:
            self._inputs[name] = len(self.values)
            self.values.append(None)
            self._moves.append(name in self.moving)
        return Slot(self._inputs[name], ())

    def _constant(self, value: Any, axes: Axes = ()) -> Slot:
        self.values.append(value)
        self._moves.append(False)
        return Slot(len(self.values) - 1, axes)

    def _aligned(self, slot: Slot, axes: Axes) -> Slot:
        """A value that broadcasts against the given axes."""
        if not slot.axes or slot.axes == axes[len(axes) - len(slot.axes) :]:
            return slot
        key = ("aligned", slot, axes)
        if key not in self._known:
            marks = tuple(slice(None) if axis in slot.axes else None for axis in axes[axes.index(slot.axes[0]) :])
            self._known[key] = self._step(lambda x: x[marks], (slot,), axes)
        return self._known[key]

    def _together(self, operation: Operation, parts: Sequence[Slot]) -> Slot:
        """An operation element by element."""
        axes = self._sorted({axis for part in parts for axis in part.axes})
        return self._step(operation, [self._aligned(part, axes) for part in parts], axes)

    def _build(self, expression: Expression) -> Slot:
        match expression:
            case Constant(value):
                return self._constant(value)
            case Size(plate):
                return self._constant(float(self.sizes[plate]))
            case Index(_, plate):
                return self._constant(np.arange(self.sizes[plate]), self._sorted((expression,)))
            case Lag(index):
                return self._step(lambda x: np.maximum(x - 1, 0), (slot := self.add(index),), slot.axes)
            case Reference(name, indices):
                return self._looked_up(self._input(name), indices)
            case Literal(values, shape, _, indices):
                return self._looked_up(self._constant(np.asarray(values).reshape(shape)), indices)
            case Add(terms):
                return self._together(lambda *x: reduce(np.add, x), [self.add(term) for term in terms])
            case Multiply(factors):
                return self._together(self._product, [self.add(factor) for factor in factors])
            case Power(base, exponent):
                return self._power(base, exponent)
            case Call(function, arguments):
                return self._together(FUNCTIONS[function], [self.add(argument) for argument in arguments])
            case Sum():
                return self._sum(expression)
            case LogSumExp(index, body):
                return self._reduced(log_sum_exp, index, body)
            case Maximum(index, body):
                return self._reduced(largest, index, body)
            case Indicator(left, right):
                return self._together(lambda a, b: 1.0 * np.equal(a, b), [self.add(left), self.add(right)])
            case AtMost(low, high):
                return self._together(
                    lambda a, b: np.where(np.less_equal(a, b), 0.0, -np.inf), [self.add(low), self.add(high)]
                )
            case Where(condition, then, otherwise):
                return self._together(
                    lambda c, a, b: np.where(np.not_equal(c, 0), a, b),
                    [self.add(part) for part in (condition, then, otherwise)],
                )
        return self._matrix_form(expression)

    # -- arithmetic and sums ---

    def _product(self, *parts: Any) -> Any:
        if self.careful:
            return direct.product([np.asarray(part) for part in parts])
        return reduce(np.multiply, parts)

    def _power(self, base: Expression, exponent: Expression) -> Slot:
        special_cases: dict[float, Operation] = {
            -1.0: lambda x: 1.0 / x,
            2.0: lambda x: x * x,
            0.5: np.sqrt,
            -0.5: lambda x: 1.0 / np.sqrt(x),
            -2.0: lambda x: 1.0 / (x * x),
        }
        if isinstance(exponent, Constant):
            degree = exponent.value
            operation = special_cases.get(degree, lambda x: np.power(np.asarray(x, dtype=float), degree))
            return self._step(operation, (slot := self.add(base),), slot.axes)
        parts = [self.add(base), self.add(exponent)]
        return self._together(lambda x, y: np.power(np.asarray(x, dtype=float), y), parts)

    def _sum(self, expression: Sum) -> Slot:
        """Sums one inside the other are taken at once; a sum of products goes by `einsum`."""
        over: list[Index] = []
        body: Expression = expression
        while isinstance(body, Sum) and body.index not in over:
            over.append(body.index)
            body = body.body
        used = [index for index in over if index in free_indices(body)]
        times = float(np.prod([self.sizes[index.plate] for index in over if index not in used]))
        if isinstance(body, Multiply) and used:
            summed = self._contracted([self.add(factor) for factor in body.factors], used)
        else:
            inner = self.add(body)
            axis = tuple(inner.axes.index(index) for index in used)
            left = tuple(index for index in inner.axes if index not in used)
            summed = self._step(lambda x: np.sum(x, axis=axis), (inner,), left)
        return summed if times == 1.0 else self._step(lambda x: times * x, (summed,), summed.axes)

    def _contracted(self, parts: list[Slot], used: Sequence[Index]) -> Slot:
        """A sum of products without the product: a matrix times a vector where it is one."""
        every = self._sorted({axis for part in parts for axis in part.axes})
        left = tuple(axis for axis in every if axis not in used)
        lean = tuple(every.index(axis) for axis in used)
        if len(parts) == 2 and {len(part.axes) for part in parts} == {1, 2} and len(used) == 1:
            vector, table = sorted(parts, key=lambda part: len(part.axes))
            if vector.axes == tuple(used):
                first = table.axes[0] == used[0]
                plain: Operation = (lambda x, t: x @ t) if first else (lambda x, t: t @ x)
                return self._step(self._with_care(plain, [vector, table], every, lean), (vector, table), left)
        letters = {axis: chr(ord("a") + number) for number, axis in enumerate(every)}
        shown = ",".join("".join(letters[axis] for axis in part.axes) for part in parts)
        rule = f"{shown}->{''.join(letters[axis] for axis in left)}"
        return self._step(self._with_care(lambda *x: np.einsum(rule, *x), parts, every, lean), parts, left)

    def _with_care(self, plain: Operation, parts: Sequence[Slot], every: Axes, lean: tuple[int, ...]) -> Operation:
        """The plain sum of products, or the careful one."""
        marks = [tuple(slice(None) if axis in part.axes else None for axis in every) for part in parts]
        shape = tuple(self.sizes[axis.plate] for axis in every)

        def summed(*values: Any) -> Any:
            if not self.careful:
                return plain(*values)
            aligned = [np.asarray(value)[mark] for value, mark in zip(values, marks, strict=True)]
            return np.sum(np.broadcast_to(direct.product(aligned), shape), axis=lean)

        return summed

    def _reduced(self, operation: Operation, index: Index, body: Expression) -> Slot:
        inner = self.add(body)
        if index not in inner.axes:
            inner = self.broadcast(inner, self._sorted({*inner.axes, index}))
        axis = inner.axes.index(index)
        left = tuple(other for other in inner.axes if other != index)
        return self._step(lambda x: operation(x, axis), (inner,), left)

    # -- look-ups and matrices ---

    def _looked_up(self, table: Slot, indices: tuple[Expression, ...]) -> Slot:
        if not indices:
            return table
        if all(isinstance(at, Index) for at in indices) and len(set(indices)) == len(indices):
            axes = self._sorted([at for at in indices if isinstance(at, Index)])
            turned = tuple(indices.index(axis) for axis in axes)
            if turned == tuple(range(len(turned))):
                return Slot(table.number, axes)
            return self._step(lambda x: np.transpose(x, turned), (table,), axes)
        if all(isinstance(at, Constant) for at in indices):
            place = tuple(int(at.value) for at in indices if isinstance(at, Constant))
            return self._step(lambda x: x[place], (table,), ())
        parts = [self.add(at) for at in indices]
        axes = self._sorted({axis for part in parts for axis in part.axes})
        whole = [self._step(_whole, (part,), part.axes) for part in parts]
        return self._step(lambda x, *at: x[at], (table, *(self._aligned(part, axes) for part in whole)), axes)

    def flat_places(self, indices: tuple[Expression, ...], shape: tuple[int, ...], over: Axes) -> Slot:
        """For each element of `over`, as one long column, the place in an array of the given shape."""
        parts = [self.broadcast(self.add(at), over) for at in indices]

        def flat(*places: Any) -> Array:
            return np.asarray(np.ravel_multi_index([place.astype(np.intp) for place in places], shape)).ravel()

        return self._step(flat, parts, ())

    def _table(self, matrix: Expression, row: Index, column: Index) -> Slot:
        """A matrix with its two axes last."""
        inner = self.add(matrix)
        batch = tuple(axis for axis in inner.axes if axis not in (row, column))
        key = ("table", inner, row, column)
        if key not in self._known:
            self._known[key] = self._with_full_pair(inner, batch, row, column)
        return self._known[key]

    def _with_full_pair(self, inner: Slot, batch: Axes, row: Index, column: Index) -> Slot:
        wanted = (*batch, row, column)
        order = tuple(sorted(range(len(inner.axes)), key=lambda at: wanted.index(inner.axes[at])))
        marks = tuple(slice(None) if axis in inner.axes else None for axis in wanted)
        pair = (self.sizes[row.plate], self.sizes[column.plate])

        def full(x: Any) -> Array:
            turned = np.transpose(x, order)[marks]
            return np.broadcast_to(turned, (*turned.shape[:-2], *pair))

        return self._step(full, (inner,), wanted)

    def _matrix_form(self, expression: Expression) -> Slot:
        match expression:
            case Quadratic(residual, matrix, row, column):
                return self._quadratic(residual, matrix, row, column)
            case LogDeterminant(matrix, row, column):
                table = self._table(matrix, row, column)
                return self._step(lambda x: np.linalg.slogdet(x)[1], (table,), table.axes[:-2])
            case Inverse(matrix, row, column, at_row, at_column):
                return self._element(np.linalg.inv, matrix, (row, column), (at_row, at_column))
            case Root(matrix, row, column, at_row, at_column):
                return self._element(np.linalg.cholesky, matrix, (row, column), (at_row, at_column))
            case Scan():
                return self._scan(expression)
        raise TypeError(f"not an expression: {expression!r}")

    def _scan(self, scan: Scan) -> Slot:
        """A state at a place; all states at all steps are computed together, once."""
        loop = loop_of(scan)
        if scan.whole not in self._scans:
            sources = [self.broadcast(self.add(one.expression), one.axes) for one in loop.inputs]
            bodies = [_of_names(self.sizes, loop.names, *pair) for pair in zip(loop.bodies, loop.axes, strict=True)]
            whole = self._step(lambda *inputs: run_scan(scan, self.sizes, inputs, bodies), sources, ())
            self._scans[scan.whole] = [self._step(lambda x, n=n: x[n], (whole,), ()) for n in range(len(bodies))]
        table = self._scans[scan.whole][scan.states.index(scan.state)]
        return self._looked_up(table, (*loop.outer, *scan.at))

    def _element(
        self, whole: Operation, matrix: Expression, own: tuple[Index, Index], at: tuple[Expression, Expression]
    ) -> Slot:
        table = self._table(matrix, *own)
        key = (whole.__name__, table)
        if key not in self._known:
            self._known[key] = self._step(whole, (table,), table.axes)
        # The batch axes are looked up like the place itself: the place may be taken at indices of the batch.
        return self._looked_up(Slot(self._known[key].number, ()), (*table.axes[:-2], *at))

    def _quadratic(self, residual: Expression, matrix: Expression, row: Index, column: Index) -> Slot:
        vector, table = self.add(residual), self._table(matrix, row, column)
        if row not in vector.axes:
            vector = self.broadcast(vector, self._sorted({*vector.axes, row}))
        axes = self._sorted({*vector.axes, *table.axes} - {row, column})
        letters = {axis: chr(ord("a") + number) for number, axis in enumerate((*axes, row, column))}
        first = "".join(letters[axis] for axis in vector.axes)
        second = "".join(letters[axis] for axis in table.axes)
        third = first.replace(letters[row], letters[column])
        rule = f"{first},{second},{third}->{''.join(letters[axis] for axis in axes)}"
        return self._step(lambda x, s: np.einsum(rule, x, s, x), (vector, table), axes)


def _of_names(
    sizes: Mapping[str, int], names: Sequence[str], written: Expression, axes: Axes
) -> Callable[[Mapping[str, Array]], Array]:
    """An expression as a function of the values of its names."""
    tape = Tape(sizes, names)
    slot = tape.broadcast(tape.add(written), axes)
    tape.fix({})

    def found(values: Mapping[str, Array]) -> Array:
        tape.run(values)
        return np.asarray(tape[slot])

    return found


def _whole(x: Any) -> Array:
    return np.asarray(x).astype(np.intp)


FUNCTIONS: Mapping[str, Operation] = direct.FUNCTIONS
