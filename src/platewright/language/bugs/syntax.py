"""The tree of a BUGS text: frozen nodes, each with the place it was read from.

Loop(i, Range(1, N), (Draw(y[i], Density(dnorm, (mu[i], tau))), Assignment(mu[i], ...)))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Place:
    """Line and column, from 1."""

    line: int
    column: int


NOWHERE = Place(0, 0)


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written."""

    value: float
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Empty:
    """An index left out: the whole of its dimension."""


@dataclass(frozen=True, slots=True)
class Range:
    """`first : last`, both ends included."""

    first: Expression
    last: Expression
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Element:
    """A name with its indices; `indices` is None where no brackets stand (a scalar, or a whole array)."""

    name: str
    indices: tuple[Index, ...] | None = None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator on its operands; sums and products hold any number of them, `neg` and `not` one."""

    operator: str
    operands: tuple[Expression, ...]
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function by name."""

    name: str
    arguments: tuple[Expression, ...]
    place: Place = field(default=NOWHERE, compare=False)


Expression = Number | Element | Operation | FunctionCall
Index = Expression | Range | Empty


@dataclass(frozen=True, slots=True)
class Bounds:
    """`T(,)` truncates, `C(,)` censors, `I(,)` is the older word for either."""

    kind: str
    lower: Expression | None
    upper: Expression | None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Density:
    """The right side of `~`."""

    name: str
    arguments: tuple[Expression, ...]
    bounds: Bounds | None = None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Assignment:
    """`target <- value`, or `link(target) <- value`."""

    target: Element
    value: Expression
    link: str | None = None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Draw:
    """`target ~ density`."""

    target: Element
    density: Density
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Loop:
    """`for (variable in domain) { body }`."""

    variable: str
    domain: Expression | Range
    body: tuple[Statement, ...]
    place: Place = field(default=NOWHERE, compare=False)


Statement = Assignment | Draw | Loop


@dataclass(frozen=True, slots=True)
class Text:
    """A whole BUGS text: declared dimensions, the data block, the model block, and the text itself for messages."""

    model: tuple[Statement, ...]
    data: tuple[Statement, ...] = ()
    declared: tuple[tuple[str, tuple[Expression, ...]], ...] = ()
    source: str = field(default="", compare=False)


def parts(node: Index) -> tuple[Index, ...]:
    """The direct parts of an expression or an index."""
    match node:
        case Element(_, indices):
            return indices or ()
        case Operation(_, operands):
            return operands
        case FunctionCall(_, arguments):
            return arguments
        case Range(first, last):
            return (first, last)
    return ()


def walk(node: Index) -> Iterator[Index]:
    """An expression and all its parts, outermost first."""
    stack = [node]
    while stack:
        found = stack.pop()
        yield found
        stack.extend(reversed(parts(found)))


def elements(node: Index) -> Iterator[Element]:
    """Every name that occurs in an expression, with its indices."""
    return (part for part in walk(node) if isinstance(part, Element))


def expressions(statement: Assignment | Draw) -> tuple[Expression, ...]:
    """What stands on the right side of a statement."""
    if isinstance(statement, Assignment):
        return (statement.value,)
    bounds = statement.density.bounds
    ends = () if bounds is None else tuple(end for end in (bounds.lower, bounds.upper) if end is not None)
    return (*statement.density.arguments, *ends)
