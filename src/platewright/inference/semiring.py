"""What `times` and `plus` mean while variables are eliminated.

    SUM        times = x, plus = +           probabilities, each message divided by its largest entry
    LOG_SUM    times = +, plus = log(e^a + e^b)      the same in logs: slower, and nothing underflows
    MAX        times = +, plus = max         logs of the most probable state

The three give every query the same code. SUM runs with underflow raised as an error, so a result in it is never a
silent zero; whoever calls it goes on in LOG_SUM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from platewright.family import Array

Axes = tuple[int, ...]

SMALL = 1 << 15
"""Tables up to this many entries are made whole; larger ones are summed level by level to save memory."""


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

    def over(self, whole: Array, part: Array) -> Array:
        """Division in which zero by zero is zero: what a message does not allow, nothing after it does."""
        if self.scaled:
            return np.asarray(np.divide(whole, part, out=np.zeros_like(whole), where=part > 0))
        return np.asarray(np.subtract(whole, part, out=np.full_like(whole, -np.inf), where=part > -np.inf))


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

    def at(self, level: int) -> Named:
        """The slice at one level of the first variable: no copy, since the first axis is the slowest."""
        return Named(self.axes[1:], self.values[level])


def product_of(operands: Sequence[Named], axes: Axes, sizes: Sequence[int], semiring: Semiring) -> Array:
    """The product as a new table over all of `axes`; small tables are multiplied among themselves first."""
    shape = [sizes[axis] for axis in axes]
    full = prod(shape)
    merged: list[Named] = []
    for operand in sorted(operands, key=lambda operand: operand.values.size):
        if merged:
            union = tuple(sorted({*merged[-1].axes, *operand.axes}))
            if prod(sizes[axis] for axis in union) * 4 <= full:
                merged[-1] = Named(union, semiring.times(merged[-1].spread(union), operand.spread(union)))
                continue
        merged.append(operand)
    if not merged:
        return np.full(shape, 1.0 if semiring.scaled else 0.0)
    result = np.empty(shape)
    merged.reverse()
    if len(merged) == 1:
        result[...] = merged[0].spread(axes)
        return result
    semiring.times(merged[0].spread(axes), merged[1].spread(axes), out=result)
    for operand in merged[2:]:
        semiring.times(result, operand.spread(axes), out=result)
    return result


def sum_out(operands: Sequence[Named], axes: Axes, sizes: Sequence[int], semiring: Semiring) -> Array:
    """The product summed over the first of `axes`, which all operands hold; large ones level by level."""
    if prod(sizes[axis] for axis in axes) <= SMALL or sizes[axes[0]] == 1:
        return np.asarray(semiring.plus.reduce(product_of(operands, axes, sizes, semiring), axis=0), order="C")
    rest = axes[1:]
    result = product_of([operand.at(0) for operand in operands], rest, sizes, semiring)
    for level in range(1, sizes[axes[0]]):
        more = product_of([operand.at(level) for operand in operands], rest, sizes, semiring)
        semiring.plus(result, more, out=result)
    return result


def sum_down(table: Named, axes: Axes, semiring: Semiring) -> Array:
    """The table summed over all variables but `axes`; neighbouring axes that go, go together."""
    values = table.values
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
        values = np.asarray(semiring.plus.reduce(values, axis=1))
        del shape[at:end], gone[at:end]
    return values.reshape(shape)
