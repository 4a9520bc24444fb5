"""Expressions over named indices: the one language in which every log density is written.

Every expression is a scalar with free indices; a vector is a scalar that depends on one index, a matrix on two.
Indices align by name, never by position, so nothing broadcasts by accident.

    Sum(n, -0.5 * precision * (y[n] - mu[z[n]])**2)        the log likelihood of a Gaussian mixture given its classes

Nodes are frozen and compare by value. Build them with the functions of `algebra/build.py`, which keep them tidy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from operator import is_
from typing import Any

from platewright.algebra.kept import kept
from platewright.algebra.leaves import Constant as Constant
from platewright.algebra.leaves import Index as Index
from platewright.algebra.leaves import Lag as Lag
from platewright.algebra.leaves import Literal as Literal
from platewright.algebra.leaves import Reference as Reference
from platewright.algebra.leaves import Size as Size
from platewright.algebra.node import Expression as Expression
from platewright.algebra.node import builders, node


@node
class Add(Expression):
    """A sum of terms."""

    terms: tuple[Expression, ...]


@node
class Multiply(Expression):
    """A product of factors."""

    factors: tuple[Expression, ...]


@node
class Power(Expression):
    """A base raised to an exponent."""

    base: Expression
    exponent: Expression


@node
class Call(Expression):
    """One of the closed list of functions (see `functions.py`)."""

    function: str
    arguments: tuple[Expression, ...]


@node
class Sum(Expression):
    """A sum over all positions of an index."""

    index: Index
    body: Expression


@node
class LogSumExp(Expression):
    """The log of a sum of exponentials over all positions of an index."""

    index: Index
    body: Expression


@node
class Maximum(Expression):
    """The largest value over all positions of an index: the statistic of a bound."""

    index: Index
    body: Expression


@node
class Indicator(Expression):
    """One where both sides are equal, else zero: the `[c = k]` of Comment 4.1."""

    left: Expression
    right: Expression


@node
class AtMost(Expression):
    """A support constraint in log form: zero where `low <= high`, else minus infinity."""

    low: Expression
    high: Expression


@node
class Where(Expression):
    """`then` where the condition is one, else `otherwise`; the condition is an expression of value 0 or 1."""

    condition: Expression
    then: Expression
    otherwise: Expression


@node
class Quadratic(Expression):
    """`sum_{row, column} residual[row] matrix[row, column] residual[column]`, kept whole for the sake of numerics."""

    residual: Expression
    matrix: Expression
    row: Index
    column: Index


@node
class LogDeterminant(Expression):
    """The log determinant of a matrix given elementwise in `row` and `column`, which it binds."""

    matrix: Expression
    row: Index
    column: Index


@node
class Inverse(Expression):
    """An element, at (`at_row`, `at_column`), of the inverse of a matrix given elementwise in `row` and `column`."""

    matrix: Expression
    row: Index
    column: Index
    at_row: Expression
    at_column: Expression


@node
class Root(Expression):
    """An element of the lower Cholesky factor of a matrix given elementwise in `row` and `column`."""

    matrix: Expression
    row: Index
    column: Index
    at_row: Expression
    at_column: Expression


@node
class Before(Expression):
    """A state of the scan around it: as many steps ago as lags stand at its step, none for a state listed earlier.

    Steps are counted in the order of the scan, so that in one that runs backward they lead to later positions.
    """

    state: str
    indices: tuple[Expression, ...]


@node
class Scan(Expression):
    """A state at a place, where each step of all states follows from the steps before: `h[t] = f(h[t-1], ...)`.

    `axes` are those of each state; all of them have `step`, and they are bound in the bodies.
    """

    step: Index
    states: tuple[str, ...]
    axes: tuple[tuple[Index, ...], ...]
    bodies: tuple[Expression, ...]
    backward: bool
    state: str
    at: tuple[Expression, ...]

    @property
    def whole(self) -> Scan:
        """The same scan asked for its first state as it stands: what two looks into one scan have in common."""
        return Scan(self.step, self.states, self.axes, self.bodies, self.backward, self.states[0], self.axes[0])


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
        case Before(_, indices):
            return indices
        case Scan(bodies=bodies, at=at):
            return (*bodies, *at)
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
        case Scan(axes=axes):
            return tuple(dict.fromkeys(index for one in axes for index in one))
    return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all its parts, outermost first."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def parts(expression: Expression) -> Iterator[Expression]:
    """As `walk`, but a part that is held in several places is met once: nested definitions share theirs."""
    stack, met = [expression], set()
    while stack:
        node = stack.pop()
        if id(node) not in met:
            met.add(id(node))
            yield node
            stack.extend(reversed(children(node)))


@kept
def names(expression: Expression) -> frozenset[str]:
    """The variables that an expression refers to."""
    own = frozenset((expression.name,)) if isinstance(expression, Reference) else frozenset()
    return own.union(*map(names, children(expression)))


@kept
def references(expression: Expression) -> tuple[Reference, ...]:
    """The different places that an expression refers to, in the order in which they are met, the outermost first."""
    own = (expression,) if isinstance(expression, Reference) else ()
    return tuple(dict.fromkeys([*own, *(place for part in children(expression) for place in references(part))]))


def mentions(expression: Expression, wanted: Set[str]) -> bool:
    """Whether any of the wanted variables occurs."""
    return not names(expression).isdisjoint(wanted)


@kept
def sums_within(expression: Expression) -> int:
    """How many logarithms of sums of exponentials stand within each other."""
    deepest = max((sums_within(child) for child in children(expression)), default=0)
    return deepest + isinstance(expression, LogSumExp)


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
        case Scan(bodies=bodies, at=at):
            inner = frozenset[Index]().union(*map(free_indices, bodies)) - frozenset(bound(expression))
            return inner.union(*map(free_indices, at))
    found: frozenset[Index] = frozenset()
    for child in children(expression):
        found |= free_indices(child)
    return found - frozenset(bound(expression))


@kept
def all_indices(expression: Expression) -> frozenset[Index]:
    """Every index that occurs, free or bound."""
    own = (expression,) if isinstance(expression, Index) else bound(expression)
    return frozenset(own).union(*map(all_indices, children(expression)))


@kept
def bound_inside(expression: Expression) -> frozenset[Index]:
    """Every index that the expression or a part of it binds."""
    return frozenset(bound(expression)).union(*map(bound_inside, children(expression)))


def fresh(index: Index, taken: frozenset[Index] | set[Index]) -> Index:
    """An index over the same plate with a name that is not taken: column, column', column''."""
    used = {other.name for other in taken}
    name = index.name
    while name in used:
        name += "'"
    return Index(name, index.plate)


def rebuild(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The same node with each direct part changed, simplified again; the node itself where no part changes."""
    before = children(expression)
    parts = tuple([change(part) for part in before])
    if all(map(is_, before, parts)):
        return expression
    build: Any = builders()  # each kind of node has as many parts as its builder asks for
    match expression:
        case Lag():
            return build.lag(*parts)
        case Reference(name):
            return Reference(name, parts)
        case Literal(values, shape, plates):
            return Literal(values, shape, plates, parts)
        case Add():
            return build.add(*parts)
        case Multiply():
            return build.multiply(*parts)
        case Power():
            return build.power(*parts)
        case Call(function):
            return build.call(function, *parts)
        case Sum(index):
            return build.total(parts[0], index)
        case LogSumExp(index):
            return LogSumExp(index, *parts)
        case Maximum(index):
            return Maximum(index, *parts)
        case Indicator():
            return build.equal(*parts)
        case AtMost():
            return AtMost(*parts)
        case Where():
            return build.where(*parts)
        case Quadratic(_, _, row, column):
            return build.quadratic(parts[0], parts[1], row, column)
        case LogDeterminant(_, row, column):
            return build.log_determinant(parts[0], row, column)
        case Inverse(_, row, column):
            return build.inverse(parts[0], row, column, *parts[1:])
        case Root(_, row, column):
            return Root(parts[0], row, column, *parts[1:])
        case Before(state):
            return Before(state, parts)
        case Scan(step, states, axes, bodies, backward, state):
            count = len(bodies)
            return Scan(step, states, axes, parts[:count], backward, state, parts[count:])
    raise TypeError(f"not an expression: {expression!r}")
