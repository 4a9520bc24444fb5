"""Read an expression as linear in some unknowns: `sum of coefficient * unknown[positions] + rest`.

Nested positions such as `mu[z[n]]` stay as they are: the row knows which element it touches.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from platewright.algebra.build import add, multiply, substitute
from platewright.algebra.expression import (
    ONE,
    Add,
    Expression,
    Index,
    Multiply,
    Reference,
    Sum,
    Where,
    all_indices,
    fresh,
    mentions,
)


@dataclass(frozen=True)
class Part:
    """`sum over inner of coefficient * variable[at]`."""

    variable: str
    at: tuple[Expression, ...]
    coefficient: Expression
    inner: tuple[Index, ...] = ()


@dataclass(frozen=True)
class Linear:
    """An expression linear in its parts' variables."""

    parts: tuple[Part, ...]
    rest: Expression


class NotLinear(Exception):
    """The part that is not linear in the unknowns."""

    def __init__(self, part: Expression) -> None:
        super().__init__(str(part))
        self.part = part


def linear(expression: Expression, unknowns: Set[str]) -> Linear:
    """The linear form; raises `NotLinear` with the offending part."""
    if not mentions(expression, unknowns):
        return Linear((), expression)
    match expression:
        case Reference(name, at) if name in unknowns:
            if any(mentions(position, unknowns) for position in at):
                raise NotLinear(expression)
            return Linear((Part(name, at, ONE),), 0 * ONE)
        case Add(terms):
            forms = [linear(term, unknowns) for term in terms]
            return Linear(merged([part for form in forms for part in form.parts]), add(*(form.rest for form in forms)))
        case Multiply(factors):
            holding = [factor for factor in factors if mentions(factor, unknowns)]
            if len(holding) > 1:
                raise NotLinear(expression)
            scale = multiply(*(factor for factor in factors if factor is not holding[0]))
            return _scaled(linear(holding[0], unknowns), scale)
        case Sum(index, body):
            return _summed(linear(body, unknowns), index)
        case Where(condition, then, otherwise) if not mentions(condition, unknowns):
            return linear(add(multiply(condition, then), multiply(1 - condition, otherwise)), unknowns)
    raise NotLinear(expression)


def _scaled(form: Linear, scale: Expression) -> Linear:
    taken = all_indices(scale)
    parts = []
    for part in form.parts:
        changes: dict[Expression, Expression] = {}
        for index in part.inner:
            if index in taken:
                changes[index] = fresh(index, taken | set(part.inner))
        parts.append(
            Part(
                part.variable,
                tuple(substitute(position, changes) for position in part.at),
                multiply(scale, substitute(part.coefficient, changes)),
                tuple(changes.get(index, index) for index in part.inner),  # type: ignore[misc]
            )
        )
    return Linear(tuple(parts), multiply(scale, form.rest))


def _summed(form: Linear, index: Index) -> Linear:
    from platewright.algebra.build import total

    parts = [Part(part.variable, part.at, part.coefficient, (*part.inner, index)) for part in form.parts]
    # An index that is not a position only sums the coefficient.
    parts = [without_idle(part) for part in parts]
    return Linear(merged(parts), total(form.rest, index) if form.rest != 0 * ONE else form.rest)


def without_idle(part: Part) -> Part:
    """An inner index that is no position only sums the coefficient."""
    from platewright.algebra.build import total
    from platewright.algebra.expression import free_indices

    used: set[Index] = set()
    for position in part.at:
        used |= free_indices(position)
    coefficient = part.coefficient
    for index in part.inner:
        if index not in used:
            coefficient = total(coefficient, index)
    return Part(part.variable, part.at, coefficient, tuple(index for index in part.inner if index in used))


def merged(parts: list[Part]) -> tuple[Part, ...]:
    """Parts at the same place are one part."""
    found: dict[tuple[object, ...], Part] = {}
    for part in parts:
        key = (part.variable, part.at, part.inner)
        if key in found:
            coefficient = add(found[key].coefficient, part.coefficient)
            found[key] = Part(part.variable, part.at, coefficient, part.inner)
        else:
            found[key] = part
    return tuple(part for part in found.values() if part.coefficient != 0 * ONE)
