"""The tree of a Stan text: frozen nodes, each with the place it was read from.

Program(data=(Declaration(vector, y, (N,)),), model=(Tilde(y, normal, (mu, sigma)),), ...)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from platewright.language.bugs.syntax import NOWHERE, Place


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written; `whole` tells 2 from 2.0."""

    value: float
    whole: bool = False
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, or a loop's."""

    name: str
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Between:
    """`first : last` as an index; an end left out is that of the dimension, and both left out the whole of it."""

    first: Expression | None = None
    last: Expression | None = None


@dataclass(frozen=True, slots=True)
class Indexed:
    """Elements, slices or picks of a value."""

    inner: Expression
    indices: tuple[Expression | Between, ...]
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator on one, two or (`?`) three operands; `'` transposes."""

    operator: str
    operands: tuple[Expression, ...]
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function; the value before a bar is its first argument."""

    name: str
    arguments: tuple[Expression, ...]
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Listed:
    """`{a, b}` is an array and `[a, b]` a row vector."""

    items: tuple[Expression, ...]
    is_row: bool = False
    place: Place = field(default=NOWHERE, compare=False)


Expression = Number | Name | Indexed | Operation | Call | Listed


@dataclass(frozen=True, slots=True)
class Type:
    """What a variable holds: its kind, the sizes of its arrays and of its vectors, and its bounds."""

    kind: str
    arrays: tuple[Expression, ...] = ()
    sizes: tuple[Expression, ...] = ()
    bounds: tuple[tuple[str, Expression], ...] = ()

    @property
    def dimensions(self) -> tuple[Expression, ...]:
        """All sizes; a square matrix has its one size twice."""
        square = {"cov_matrix", "corr_matrix", "cholesky_factor_corr", "cholesky_factor_cov"}
        sizes = self.sizes * 2 if self.kind in square and len(self.sizes) == 1 else self.sizes
        return (*self.arrays, *sizes)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable with its type, and perhaps its value."""

    name: str
    type: Type
    value: Expression | None = None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Assignment:
    """`target = value`, or with an operator before the sign."""

    target: Expression
    operator: str
    value: Expression
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Tilde:
    """`value ~ distribution(arguments) T[lower, upper]`."""

    value: Expression
    distribution: str
    arguments: tuple[Expression, ...]
    truncation: tuple[Expression | None, Expression | None] | None = None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Loop:
    """`for (variable in first:last)`; without `last` it goes over the elements of an array."""

    variable: str
    first: Expression
    last: Expression | None
    body: tuple[Statement, ...]
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Choice:
    """`if (condition) ... else ...`."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Scope:
    """Statements in braces, with variables of their own."""

    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A statement that is not read: what it is called."""

    word: str
    place: Place = field(default=NOWHERE, compare=False)


Statement = Declaration | Assignment | Tilde | Loop | Choice | Scope | Refused

BLOCKS = ("data", "transformed_data", "parameters", "transformed_parameters", "model", "generated_quantities")


@dataclass(frozen=True, slots=True)
class Program:
    """The six blocks, empty where the text has none, and the text itself for messages."""

    blocks: dict[str, tuple[Statement, ...]]
    source: str = field(default="", compare=False)

    def declared(self, block: str) -> tuple[Declaration, ...]:
        """The variables that a block declares."""
        return tuple(one for one in self.blocks.get(block, ()) if isinstance(one, Declaration))


def parts(node: Expression | Between) -> tuple[Expression | Between, ...]:
    """The direct parts of an expression or an index."""
    match node:
        case Between(first, last):
            return tuple(end for end in (first, last) if end is not None)
        case Indexed(inner, indices):
            return (inner, *indices)
        case Operation(_, operands):
            return operands
        case Call(_, arguments):
            return arguments
        case Listed(items):
            return items
    return ()


def walk(node: Expression | Between) -> Iterator[Expression | Between]:
    """An expression and all its parts."""
    stack: list[Expression | Between] = [node]
    while stack:
        found = stack.pop()
        yield found
        stack.extend(reversed(parts(found)))


def named(node: Expression | Between) -> set[str]:
    """The variables that occur in an expression."""
    return {part.name for part in walk(node) if isinstance(part, Name)}


def inside(statement: Statement) -> tuple[Statement, ...]:
    """The statements within a statement."""
    match statement:
        case Loop() | Scope():
            return statement.body
        case Choice():
            return (*statement.then, *statement.otherwise)
    return ()


def expressions(statement: Statement) -> tuple[Expression, ...]:
    """The expressions that a statement itself holds."""
    match statement:
        case Declaration():
            ends = tuple(value for _, value in statement.type.bounds)
            own = () if statement.value is None else (statement.value,)
            return (*statement.type.dimensions, *ends, *own)
        case Assignment():
            return (statement.target, statement.value)
        case Tilde():
            ends = tuple(end for end in statement.truncation or () if end is not None)
            return (statement.value, *statement.arguments, *ends)
        case Loop():
            return (statement.first,) if statement.last is None else (statement.first, statement.last)
        case Choice():
            return (statement.condition,)
    return ()
