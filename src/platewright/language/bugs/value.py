"""A BUGS expression in our algebra: a body, and the axes along which it is a vector or a matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from platewright.algebra import build
from platewright.algebra.expression import ONE, ZERO, Constant, Expression, Index


@dataclass(frozen=True)
class Span:
    """One axis of a vector value: its index, how many elements count, and which (None: all)."""

    index: Index
    count: Expression
    mask: Expression | None = None
    size: int = 0
    first: Expression | None = None
    """Where the elements that count begin, for an axis that runs over a whole dimension under a mask."""
    by_table: bool = False
    """Whether its elements are looked up by a table: such sums are written out."""
    is_zero_outside: bool = False
    """Whether what its mask leaves out has no definition, and so adds nothing to a sum."""


@dataclass(frozen=True)
class Value:
    """A scalar when there are no axes."""

    body: Expression
    axes: tuple[Span, ...] = ()

    def at(self, *indices: Expression) -> Expression:
        """The body with its axes at given places."""
        return build.substitute(self.body, {axis.index: at for axis, at in zip(self.axes, indices)})

    def filled(self, neutral: Expression = ZERO) -> Expression:
        """The body with elements outside its masks replaced by a neutral one."""
        body = self.body
        for axis in self.axes:
            if axis.mask is not None and not (axis.is_zero_outside and neutral == ZERO):
                body = build.where(axis.mask, body, neutral)
        return body

    def changed(self) -> Value:
        """The value after a function that may make something of nothing."""
        return replace(self, axes=tuple(replace(axis, is_zero_outside=False) for axis in self.axes))

    def total(self) -> Expression:
        """The sum of all elements."""
        body = self.filled()
        for axis in self.axes:
            if axis.by_table:
                body = build.add(*(build.substitute(body, {axis.index: Constant(float(k))}) for k in range(axis.size)))
        return build.totals(body, [axis.index for axis in self.axes if not axis.by_table])

    def count(self) -> Expression:
        """The number of elements."""
        return build.multiply(ONE, *(axis.count for axis in self.axes))


def mapped(function: Callable[..., Expression], *values: Value) -> Value:
    """Element by element; scalars go with everything, vectors go in step."""
    longest = max(values, key=lambda value: len(value.axes))
    places = [axis.index for axis in longest.axes]
    bodies = []
    for value in values:
        if value.axes and len(value.axes) != len(longest.axes):
            raise ValueError("a vector and a matrix do not go in step")
        for one, two in zip(value.axes, longest.axes):
            if one.size != two.size:
                raise ValueError(f"vectors of {one.size} and {two.size} elements do not go in step")
        bodies.append(value.at(*places) if value.axes else value.body)
    axes = tuple(_masked(axes) for axes in zip(*(one.axes for one in values if one.axes)))
    found = Value(function(*bodies), axes)
    return found if function is build.multiply else found.changed()


def go_in_step(values: Sequence[Value]) -> bool:
    """Whether elements at the same place of several vectors belong together."""
    vectors = [value.axes for value in values if value.axes]
    return all(len({axis.first for axis in axes}) == 1 for axes in zip(*vectors))


def _masked(axes: tuple[Span, ...]) -> Span:
    """The first of several axes that go in step, with the mask that any of them has."""
    first = replace(axes[0], by_table=any(axis.by_table for axis in axes))
    for axis in axes:
        if axis.mask is not None:
            mask = build.substitute(axis.mask, {axis.index: first.index})
            outside = any(one.mask is not None and one.is_zero_outside for one in axes)
            return replace(first, mask=mask, count=axis.count, is_zero_outside=outside)
    return first


def matrix_product(left: Value, right: Value) -> Value:
    """`left %*% right`: the last axis of one against the first of the other."""
    if not left.axes or not right.axes:
        return mapped(build.multiply, left, right)
    inner = left.axes[-1]
    if inner.size != right.axes[0].size:
        raise ValueError(f"matrices of {inner.size} columns and {right.axes[0].size} rows do not multiply")
    other = right.at(inner.index, *(axis.index for axis in right.axes[1:]))
    both = Value(build.multiply(left.body, other), (_masked((inner, right.axes[0])),))
    return Value(both.total(), (*left.axes[:-1], *right.axes[1:]))
