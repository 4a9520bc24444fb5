"""What `times` and `plus` mean while variables are eliminated.

    SUM        times = x, plus = +           probabilities, each message divided by its largest entry
    LOG_SUM    times = +, plus = log(e^a + e^b)      the same in logs: slower, and nothing underflows
    MAX        times = +, plus = max         logs of the most probable state

The three give every query the same code. Messages in SUM are collected with underflow raised as an error, so a result
in it is never a silent zero; whoever calls it goes on in LOG_SUM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from platewright.family import Array

Axes = tuple[int, ...]


@dataclass(frozen=True)
class Semiring:
    """Two operations and their zero; `scaled` says whether values are numbers (True) or logs (False)."""

    name: str
    times: np.ufunc
    plus: np.ufunc
    zero: float
    scaled: bool

    def enter(self, log_values: Array) -> tuple[Array, float]:
        """A log table in this semiring, and the log of what it was divided by."""
        if not self.scaled:
            return log_values, 0.0
        top = float(log_values.max())
        if top == -np.inf:
            return np.zeros_like(log_values), 0.0
        shifted = log_values - top
        # exp of less than -708 is not a normal number; some vector exponentials do not raise the flag for it.
        if shifted.min(initial=0.0, where=shifted > -np.inf) < -708.0:
            raise FloatingPointError("underflow")
        return np.exp(shifted), top

    def logs(self, values: Array) -> Array:
        """The logs of values."""
        if not self.scaled:
            return values
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(values))

    def rescale(self, values: Array) -> tuple[Array, float]:
        """Values over their largest, in place, and the log of it; minus infinity when all are zero."""
        top = float(values.max(initial=self.zero))
        if top == self.zero:
            return values, -np.inf
        if self.scaled:
            np.divide(values, top, out=values)
            return values, float(np.log(top))
        return values, 0.0

    def total(self, rows: Array) -> Array:
        """Rows added up. Of logs, the largest is taken out first, so that what underflows is nothing beside it."""
        if self.plus is not np.logaddexp:
            return np.asarray(self.plus.reduce(rows, axis=0))
        top = rows.max(axis=0)
        with np.errstate(divide="ignore", under="ignore"):
            shifted = np.exp(rows - np.where(top > -np.inf, top, 0.0))
            return np.asarray(np.log(shifted.sum(axis=0)) + np.where(top > -np.inf, top, 0.0))

    def over(self, whole: Array, part: Array) -> Array:
        """Division, in place; where the part is zero so is the whole, and stays: what a message rules out, all do."""
        allowed = part > self.zero
        undo = np.divide if self.scaled else np.subtract
        return np.asarray(undo(whole, part, out=whole, where=allowed))


SUM = Semiring("sum", np.multiply, np.add, 0.0, True)
LOG_SUM = Semiring("log sum", np.add, np.logaddexp, -np.inf, False)
MAX = Semiring("max", np.add, np.maximum, -np.inf, False)


@dataclass(frozen=True)
class Named:
    """An array with one ascending number a variable: its place in the order of elimination."""

    axes: Axes
    values: Array

    def spread(self, axes: Axes) -> Array:
        """A view with an axis of length one for every variable that it does not hold."""
        own = dict(zip(self.axes, self.values.shape, strict=True))
        return self.values.reshape([own.get(axis, 1) for axis in axes])


def merged(operands: Sequence[Named], axes: Axes, sizes: Sequence[int], semiring: Semiring) -> list[Named]:
    """The operands, largest first, with small ones multiplied among themselves while that stays small."""
    full = prod(sizes[axis] for axis in axes)
    result: list[Named] = []
    for operand in sorted(operands, key=lambda operand: operand.values.size):
        if result:
            union = tuple(sorted({*result[-1].axes, *operand.axes}))
            if prod(sizes[axis] for axis in union) * 4 <= full:
                result[-1] = Named(union, semiring.times(result[-1].spread(union), operand.spread(union)))
                continue
        result.append(operand)
    return result[::-1] or [Named((), np.array(1.0 if semiring.scaled else 0.0))]


def product_of(operands: Sequence[Named], axes: Axes, sizes: Sequence[int], semiring: Semiring) -> Array:
    """The product as a new table over all of `axes`."""
    shape = [sizes[axis] for axis in axes]
    few = merged(operands, axes, sizes, semiring)
    result = np.empty(shape)
    if len(few) == 1:
        result[...] = few[0].spread(axes)
        return result
    semiring.times(few[0].spread(axes), few[1].spread(axes), out=result)
    for operand in few[2:]:
        semiring.times(result, operand.spread(axes), out=result)
    return result


def sum_down(table: Named, axes: Axes, semiring: Semiring) -> Array:
    """A new table, summed over all variables but `axes`; neighbouring axes that go, go together."""
    values = table.values
    if len(axes) == len(table.axes):
        return values.copy()
    shape = list(values.shape)
    gone = [axis not in axes for axis in table.axes]
    at = 0
    while at < len(shape):
        if not gone[at]:
            at += 1
            continue
        end = at
        while end < len(shape) and gone[end]:
            end += 1
        values = values.reshape(prod(shape[:at]), prod(shape[at:end]), prod(shape[end:]))
        values = semiring.total(np.moveaxis(values, 1, 0))
        del shape[at:end], gone[at:end]
    return values.reshape(shape)
