"""Where an exact zero meets the logarithm of zero, nothing is said: `0 log 0 = 0`, not NaN.

    y[n] log(e[n])      becomes      xlogy(y[n], e[n])          where e may be zero
    w[n] xlogy(y[n], e[n])    becomes      xlogy(w[n] y[n], e[n])
    y[n] (a + z log(0))       becomes      y[n] a + xlogy(y[n] z, 0)

Rates and probabilities that are exactly zero are point masses: no count is seen, and its log density is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from platewright.algebra.build import add, multiply
from platewright.algebra.expression import (
    Add,
    AtMost,
    Call,
    Constant,
    Expression,
    Index,
    Indicator,
    Literal,
    Multiply,
    Power,
    Reference,
    Sum,
    Where,
    children,
    free_indices,
    rebuild,
    walk,
)
from platewright.algebra.functions import FUNCTIONS

IsOpen = Callable[[Reference], bool]
"""Whether a variable is data that may be zero; computed parameters of posteriors never are."""


def zero_wins(expression: Expression, is_open: IsOpen) -> Expression:
    """The same expression, safe where a product holds the logarithm of something that may be zero."""
    if not any(isinstance(part, Call) and part.function in ("log", "xlogy") for part in walk(expression)):
        return expression
    inner = rebuild(expression, lambda part: zero_wins(part, is_open))
    return safe_product(inner, is_open) if isinstance(inner, Multiply) else inner


def safe_product(product: Multiply, is_open: IsOpen = lambda part: False) -> Expression:
    """One product, made safe; by itself it is asked about the numbers written in it only."""
    for factor in product.factors:
        match factor:
            case Call("log", (argument,)) if can_be_zero(argument, is_open):
                groups = [other for other in product.factors if _is_group(other)]
                inside = multiply(*(other for other in product.factors if other not in (factor, *groups)))
                if isinstance(inside, Constant) and not groups:
                    return product
                if isinstance(inside, Constant):
                    return Call("xlogy", (multiply(inside, *groups), argument))
                return multiply(*groups, Call("xlogy", (inside, argument)))
            case Add(terms) if any(_is_log_of_zero(term, is_open) for term in terms):
                others = [other for other in product.factors if other is not factor]
                parts = [multiply(*others, term) for term in terms]
                return add(*(safe_product(part, is_open) if isinstance(part, Multiply) else part for part in parts))
            case Call("xlogy", (weight, argument)):
                groups = [other for other in product.factors if _is_group(other)]
                outside = [other for other in product.factors if other not in (factor, *groups)]
                if outside:
                    return multiply(*groups, Call("xlogy", (multiply(weight, *outside), argument)))
    return product


def _is_log_of_zero(term: Expression, is_open: IsOpen) -> bool:
    """Whether a term of a sum is, or is a multiple of, the logarithm of something that may be zero."""
    match term:
        case Call("log", (argument,)) | Call("xlogy", (_, argument)):
            return can_be_zero(argument, is_open)
        case Multiply(factors):
            return any(_is_log_of_zero(factor, is_open) for factor in factors)
    return False


def _is_group(factor: Expression) -> bool:
    """`[z[n] = k]` sends rows to their groups and is not multiplied by: it may stay outside."""
    match factor:
        case Indicator(Reference(), Index()):
            return True
    return False


def may_be_infinite(expression: Expression, levels: Collection[Index]) -> bool:
    """Whether impossible levels make it minus infinity: outside of bounds, or with more of a kind than there are."""
    for part in walk(expression):
        if free_indices(part).isdisjoint(levels):
            continue
        match part:
            case AtMost():
                return True
            case Call("lgamma" | "log_beta", arguments) if any(_subtracts(argument) for argument in arguments):
                return True
    return False


def _subtracts(expression: Expression) -> bool:
    """Whether a sum takes something away that is no number."""
    terms = expression.terms if isinstance(expression, Add) else ()
    return any(
        isinstance(term, Multiply) and isinstance(term.factors[0], Constant) and term.factors[0].value < 0
        for term in terms
    )


def can_be_zero(argument: Expression, is_open: IsOpen) -> bool:
    """Whether the argument of a logarithm may come out as zero."""
    match argument:
        case Constant(value):
            return value <= 0
        case Literal(values, _, _, _):
            return min(values) <= 0
        case Index() | Indicator():
            return True
        case Reference():
            return is_open(argument)
        case Where(_, then, otherwise):
            return can_be_zero(then, is_open) or can_be_zero(otherwise, is_open)
        case Add(terms):
            return any(_is_loose(part, is_open) for term in terms for part in walk(term))
        case Call(function, _) if FUNCTIONS[function].positive:
            return False
        case Multiply() | Power() | Sum():
            return any(can_be_zero(part, is_open) for part in children(argument) if not isinstance(part, Constant))
    return any(_is_loose(part, is_open) for part in walk(argument))


def _is_loose(part: Expression, is_open: IsOpen) -> bool:
    """Parts that can take a sum to zero: data, choices, tables of numbers."""
    if isinstance(part, Reference):
        return is_open(part)
    return isinstance(part, (Where, Literal, Index, Indicator))
