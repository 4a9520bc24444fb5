"""Expressions over named indices: the one language in which every log density is written.

Every expression is a scalar with free indices; a vector is a scalar that depends on one index, a matrix on two.
Indices align by name, never by position, so nothing broadcasts by accident.

    Sum(n, -0.5 * precision * (y[n] - mu[z[n]])**2)        the log likelihood of a Gaussian mixture given its classes

Nodes are frozen and compare by value. Build them with the functions of `algebra/build.py`, which keep them tidy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

from platewright.algebra.kept import kept


class Expression:
    """A scalar with free indices. Arithmetic on expressions builds larger ones."""

    __slots__ = ("_hash",)
    # NumPy arrays must hand `array * expression` over to us instead of looping over their elements.
    __array_ufunc__ = None

    def __add__(self, other: object) -> Expression:
        return _build().add(self, other)

    __radd__ = __add__

    def __sub__(self, other: object) -> Expression:
        return _build().add(self, _build().multiply(-1.0, other))

    def __rsub__(self, other: object) -> Expression:
        return _build().add(other, _build().multiply(-1.0, self))

    def __mul__(self, other: object) -> Expression:
        return _build().multiply(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Expression:
        return _build().multiply(self, _build().power(other, -1.0))

    def __rtruediv__(self, other: object) -> Expression:
        return _build().multiply(other, _build().power(self, -1.0))

    def __pow__(self, other: object) -> Expression:
        return _build().power(self, other)

    def __rpow__(self, other: object) -> Expression:
        return _build().power(other, self)

    def __neg__(self) -> Expression:
        return _build().multiply(-1.0, self)

    def __getitem__(self, at: object) -> Expression:
        return _build().index(self, at)

    def __iter__(self) -> Iterator[Expression]:
        # Without this Python would try self[0], self[1], ... for ever.
        raise TypeError("an expression cannot be looped over; reduce it over a plate with pw.sum(..., over=plate)")

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth value; use pw.equal(a, b) and pw.where(condition, a, b)")

    def __str__(self) -> str:
        from platewright.algebra.text import text  # printing is needed only when somebody looks

        return text(self)


Node = TypeVar("Node")


def _build() -> Any:
    from platewright.algebra import build  # the operators and the builders need each other

    return build


@dataclass_transform(frozen_default=True)
def _node(cls: type[Node]) -> type[Node]:
    """A frozen dataclass whose hash is computed once: expressions are hashed far more often than made."""
    cls = dataclass(frozen=True, eq=True, repr=False)(cls)
    names = tuple(field.name for field in fields(cls))
    label = cls.__name__

    def __hash__(self: Any) -> int:
        try:
            return self._hash
        except AttributeError:
            value = hash((label, *(getattr(self, name) for name in names)))
            object.__setattr__(self, "_hash", value)
            return value

    cls.__hash__ = __hash__  # type: ignore[method-assign]
    cls.__repr__ = lambda self: f"<{self}>"  # type: ignore[method-assign]
    return cls


@_node
class Constant(Expression):
    """A number."""

    value: float


@_node
class Index(Expression):
    """A position on a plate; two indices over one plate differ by name. Its value is the position, from 0."""

    name: str
    plate: str


@_node
class Lag(Expression):
    """The previous position on an ordered plate; stands only inside a reference."""

    index: Index


@_node
class Reference(Expression):
    """A variable at given positions: `mu[k]`, `mu[z[n]]`, `x[n, j]`."""

    name: str
    indices: tuple[Expression, ...] = ()


@_node
class Literal(Expression):
    """A table of numbers written in the model; `plates` names its axes, `indices` says where it is looked up."""

    values: tuple[float, ...]
    shape: tuple[int, ...]
    plates: tuple[str, ...]
    indices: tuple[Expression, ...]


@_node
class Size(Expression):
    """The number of elements of a plate."""

    plate: str


@_node
class Add(Expression):
    """A sum of terms."""

    terms: tuple[Expression, ...]


@_node
class Multiply(Expression):
    """A product of factors."""

    factors: tuple[Expression, ...]


@_node
class Power(Expression):
    """A base raised to an exponent."""

    base: Expression
    exponent: Expression


@_node
class Call(Expression):
    """One of the closed list of functions (see `functions.py`)."""

    function: str
    arguments: tuple[Expression, ...]


@_node
class Sum(Expression):
    """A sum over all positions of an index."""

    index: Index
    body: Expression


@_node
class LogSumExp(Expression):
    """The log of a sum of exponentials over all positions of an index."""

    index: Index
    body: Expression


@_node
class Maximum(Expression):
    """The largest value over all positions of an index: the statistic of a bound."""

    index: Index
    body: Expression


@_node
class Indicator(Expression):
    """One where both sides are equal, else zero: the `[c = k]` of Comment 4.1."""

    left: Expression
    right: Expression


@_node
class AtMost(Expression):
    """A support constraint in log form: zero where `low <= high`, else minus infinity."""

    low: Expression
    high: Expression


@_node
class Where(Expression):
    """`then` where the condition is one, else `otherwise`; the condition is an expression of value 0 or 1."""

    condition: Expression
    then: Expression
    otherwise: Expression


@_node
class Quadratic(Expression):
    """`sum_{row, column} residual[row] matrix[row, column] residual[column]`, kept whole for the sake of numerics."""

    residual: Expression
    matrix: Expression
    row: Index
    column: Index


@_node
class LogDeterminant(Expression):
    """The log determinant of a matrix given elementwise in `row` and `column`, which it binds."""

    matrix: Expression
    row: Index
    column: Index


@_node
class Inverse(Expression):
    """An element, at (`at_row`, `at_column`), of the inverse of a matrix given elementwise in `row` and `column`."""

    matrix: Expression
    row: Index
    column: Index
    at_row: Expression
    at_column: Expression


@_node
class Root(Expression):
    """An element of the lower Cholesky factor of a matrix given elementwise in `row` and `column`."""

    matrix: Expression
    row: Index
    column: Index
    at_row: Expression
    at_column: Expression


Binder = Sum | LogSumExp | Maximum | Quadratic | LogDeterminant | Inverse | Root

ZERO = Constant(0.0)
ONE = Constant(1.0)


@kept
def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct parts of an expression, binding indices left out."""
    match expression:
        case Constant() | Index() | Size():
            return ()
        case Lag(index):
            return (index,)
        case Reference(_, indices) | Literal(_, _, _, indices):
            return indices
        case Add(terms):
            return terms
        case Multiply(factors):
            return factors
        case Power(base, exponent):
            return (base, exponent)
        case Call(_, arguments):
            return arguments
        case Sum(_, body) | LogSumExp(_, body) | Maximum(_, body):
            return (body,)
        case Indicator(left, right):
            return (left, right)
        case AtMost(low, high):
            return (low, high)
        case Where(condition, then, otherwise):
            return (condition, then, otherwise)
        case Quadratic(residual, matrix, _, _):
            return (residual, matrix)
        case LogDeterminant(matrix, _, _):
            return (matrix,)
        case Inverse(matrix, _, _, at_row, at_column) | Root(matrix, _, _, at_row, at_column):
            return (matrix, at_row, at_column)
    raise TypeError(f"not an expression: {expression!r}")


@kept
def bound(expression: Expression) -> tuple[Index, ...]:
    """The indices that this node itself binds."""
    match expression:
        case Sum(index, _) | LogSumExp(index, _) | Maximum(index, _):
            return (index,)
        case Quadratic(_, _, row, column) | LogDeterminant(_, row, column):
            return (row, column)
        case Inverse(_, row, column, _, _) | Root(_, row, column, _, _):
            return (row, column)
    return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all its parts, outermost first."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


@kept
def names(expression: Expression) -> frozenset[str]:
    """The variables that an expression refers to."""
    own = frozenset((expression.name,)) if isinstance(expression, Reference) else frozenset()
    return own.union(*(names(part) for part in children(expression)))


def mentions(expression: Expression, wanted: frozenset[str] | set[str]) -> bool:
    """Whether any of the wanted variables occurs."""
    return not names(expression).isdisjoint(wanted)


@kept
def free_indices(expression: Expression) -> frozenset[Index]:
    """The indices that an expression depends on."""
    match expression:
        case Index():
            return frozenset((expression,))
        case Inverse(matrix, row, column, at_row, at_column) | Root(matrix, row, column, at_row, at_column):
            inner = free_indices(matrix) - {row, column}
            return inner | free_indices(at_row) | free_indices(at_column)
        case Quadratic(residual, matrix, row, column):
            return (free_indices(residual) | free_indices(matrix)) - {row, column}
    found: frozenset[Index] = frozenset()
    for child in children(expression):
        found |= free_indices(child)
    return found - frozenset(bound(expression))


@kept
def all_indices(expression: Expression) -> frozenset[Index]:
    """Every index that occurs, free or bound."""
    found = set()
    for node in walk(expression):
        if isinstance(node, Index):
            found.add(node)
        found.update(bound(node))
    return frozenset(found)


def fresh(index: Index, taken: frozenset[Index] | set[Index]) -> Index:
    """An index over the same plate with a name that is not taken: column, column', column''."""
    used = {other.name for other in taken}
    name = index.name
    while name in used:
        name += "'"
    return Index(name, index.plate)


def rebuild(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The same node with each direct part changed; simplified again on the way up."""
    build = _build()
    match expression:
        case Constant() | Index() | Size():
            return expression
        case Lag(index):
            return build.lag(change(index))
        case Reference(name, indices):
            return Reference(name, tuple(change(part) for part in indices))
        case Literal(values, shape, plates, indices):
            return Literal(values, shape, plates, tuple(change(part) for part in indices))
        case Add(terms):
            return build.add(*(change(term) for term in terms))
        case Multiply(factors):
            return build.multiply(*(change(factor) for factor in factors))
        case Power(base, exponent):
            return build.power(change(base), change(exponent))
        case Call(function, arguments):
            return build.call(function, *(change(argument) for argument in arguments))
        case Sum(index, body):
            return build.total(change(body), index)
        case LogSumExp(index, body):
            return LogSumExp(index, change(body))
        case Maximum(index, body):
            return Maximum(index, change(body))
        case Indicator(left, right):
            return build.equal(change(left), change(right))
        case AtMost(low, high):
            return AtMost(change(low), change(high))
        case Where(condition, then, otherwise):
            return build.where(change(condition), change(then), change(otherwise))
        case Quadratic(residual, matrix, row, column):
            return build.quadratic(change(residual), change(matrix), row, column)
        case LogDeterminant(matrix, row, column):
            return build.log_determinant(change(matrix), row, column)
        case Inverse(matrix, row, column, at_row, at_column):
            return build.inverse(change(matrix), row, column, change(at_row), change(at_column))
        case Root(matrix, row, column, at_row, at_column):
            return Root(change(matrix), row, column, change(at_row), change(at_column))
    raise TypeError(f"not an expression: {expression!r}")
