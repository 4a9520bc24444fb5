"""How much a function of tables changes when one element enters them.

log Gamma(a + 1) - log Gamma(a) = log a        counts that move by one leave no gamma function behind
log Gamma(a + x) - log Gamma(a) = x log a      where x is 0 or 1
log(b + d) - log(b) = log1p(d / b)             nothing cancels at large b
f g  ->  df (g + dg) + f dg
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from platewright.algebra.build import add, call, lgamma, log, multiply, power
from platewright.algebra.expression import (
    ONE,
    ZERO,
    Add,
    Call,
    Constant,
    Expression,
    Index,
    Indicator,
    Multiply,
    Power,
    Reference,
    Where,
    rebuild,
    walk,
)

Step = Callable[[Reference], Expression | None]
"""What is added to a reference, or None where it stays."""
MOST_TERMS = 64
MOST_STEPS = 8
"""Rising factorials longer than this are differences of log gamma functions."""


@dataclass(frozen=True)
class Shift:
    """What is added to each table, and which variables and indices are only ever 0 or 1."""

    step: Step
    binary: frozenset[str] = frozenset()

    def is_binary(self, part: Expression) -> bool:
        """Whether a value can be proved to be 0 or 1."""
        match part:
            case Constant(value):
                return value in (0.0, 1.0)
            case Indicator():
                return True
            case Reference(name, _) | Index(name, _):
                return name in self.binary
            case Multiply(factors):
                return all(self.is_binary(factor) for factor in factors)
            case Add((Constant(1.0), other)) | Add((other, Constant(1.0))):
                return self.is_binary(multiply(-1.0, other))
        return False


def moved(body: Expression, step: Step) -> Expression:
    """The body after the tables have moved."""
    if isinstance(body, Reference):
        added = step(body)
        if added is not None:
            return add(body, added)
    return rebuild(body, lambda part: moved(part, step))


def moves(body: Expression, step: Step) -> bool:
    """Whether anything in it moves."""
    return any(isinstance(part, Reference) and step(part) is not None for part in walk(body))


def difference(body: Expression, shift: Shift) -> Expression:
    """The body after minus the body before, so written that nothing large cancels."""
    if not moves(body, shift.step):
        return ZERO
    match body:
        case Reference():
            added = shift.step(body)
            return ZERO if added is None else added
        case Add(terms):
            return add(*(difference(term, shift) for term in terms))
        case Multiply(factors):
            first, rest = factors[0], multiply(*factors[1:])
            return add(
                multiply(difference(first, shift), moved(rest, shift.step)), multiply(first, difference(rest, shift))
            )
        case Power(base, Constant(2.0)):
            change = difference(base, shift)
            return multiply(change, add(multiply(2.0, base), change))
        case Power(base, Constant(-1.0)):
            return multiply(-1.0, difference(base, shift), power(base, -1.0), power(moved(base, shift.step), -1.0))
        case Call("log", (inner,)):
            return call("log1p", multiply(difference(inner, shift), power(inner, -1.0)))
        case Call("lgamma", (inner,)):
            return _gamma(inner, _plainest(difference(inner, shift), shift), shift)
        case Call("multivariate_lgamma", (inner, dimension)) if difference(inner, shift) == Constant(0.5):
            # All factors but the first and the last cancel: Gamma_d(a) is a product of Gamma(a - j / 2).
            after = add(inner, 0.5)
            return add(lgamma(after), multiply(-1.0, lgamma(add(after, multiply(-0.5, dimension)))))
        case Where(condition, then, otherwise) if not moves(condition, shift.step):
            return rebuild(Where(condition, then, otherwise), lambda part: _branch(part, condition, shift))
    return add(moved(body, shift.step), multiply(-1.0, body))


def _branch(part: Expression, condition: Expression, shift: Shift) -> Expression:
    return part if part == condition else difference(part, shift)


def _gamma(inner: Expression, change: Expression, shift: Shift) -> Expression:
    """`log Gamma(inner + change) - log Gamma(inner)`."""
    if isinstance(change, Constant) and float(change.value).is_integer() and 0 < abs(change.value) <= MOST_STEPS:
        count = int(change.value)
        if count > 0:
            return add(*(log(add(inner, float(i))) for i in range(count)))
        return multiply(-1.0, add(*(log(add(inner, float(i))) for i in range(count, 0))))
    if shift.is_binary(change):
        return multiply(change, log(inner))
    return add(lgamma(add(inner, change)), multiply(-1.0, lgamma(inner)))


def _plainest(change: Expression, shift: Shift) -> Expression:
    """A change as it stands when that shows it to be 0 or 1, else multiplied out."""
    return change if shift.is_binary(change) else distributed(change)


def distributed(whole: Expression) -> Expression:
    """Products of sums multiplied out, so that equal terms meet."""
    match whole:
        case Add(terms):
            return add(*(distributed(term) for term in terms))
        case Multiply(factors):
            found: list[Expression] = [ONE]
            for factor in factors:
                parts = factor.terms if isinstance(factor, Add) else (factor,)
                found = [_ordered(left, part) for left in found for part in parts]
                if len(found) > MOST_TERMS:
                    return whole
            return add(*found)
    return whole


def _ordered(left: Expression, right: Expression) -> Expression:
    """`x y` and `y x` become the same product."""
    product = multiply(left, right)
    return multiply(*sorted(product.factors, key=str)) if isinstance(product, Multiply) else product
