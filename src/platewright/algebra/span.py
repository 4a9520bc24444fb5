"""Between what numbers a value must lie, whatever the unknowns are: intervals through an expression.

    e * lam,  lam in (0, inf)        with e = 2: (0, inf),    with e = 0: [0, 0],    with e = -1: (-inf, 0)

A span is never narrower than the truth, and may be wider: what it excludes is excluded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from platewright.algebra.domain import Domain
from platewright.algebra.evaluate import FUNCTIONS, Environment, evaluate
from platewright.algebra.expression import (
    Add,
    AtMost,
    Call,
    Constant,
    Expression,
    Index,
    Literal,
    LogSumExp,
    Maximum,
    Multiply,
    Power,
    Reference,
    Size,
    Sum,
    Where,
    names,
)
from platewright.algebra.functions import FUNCTIONS as TABLE

Array = np.ndarray
Span = tuple[Array, Array]

TINY = 1e-300
"""Stands for the open end of a half line from zero, so that a sign is not lost."""
RISING = ("exp", "log", "logistic", "log_logistic", "normal_cdf", "log_normal_cdf", "expm1", "log1p", "floor", "tanh")
LEAST = {"log": 0.0, "log1p": -1.0}
"""Where a function begins; below it no value counts."""
ANYTHING = (np.array(-np.inf), np.array(np.inf))


def span_of_domain(domain: Domain) -> Span:
    """Where the values of a variable lie that nobody knows yet."""
    lower = TINY if domain.kind == "real" and domain.lower == 0.0 else domain.lower
    return np.array(lower), np.array(domain.upper)


def span(
    expression: Expression, spans: Mapping[str, Span], sizes: Mapping[str, int], scope: tuple[Index, ...] = ()
) -> Span:
    """The least and the greatest value, with one axis for each index in scope (of length 1 where all are alike).

    `spans` has each variable that occurs: two numbers, or two arrays on its axes; the same array twice where known.
    """
    with np.errstate(all="ignore"):
        return _span(expression, spans, sizes, scope)


def _span(
    expression: Expression, spans: Mapping[str, Span], sizes: Mapping[str, int], scope: tuple[Index, ...]
) -> Span:
    def inner(part: Expression) -> Span:
        return _span(part, spans, sizes, scope)

    def both(value: float) -> Span:
        return np.full((1,) * len(scope), value), np.full((1,) * len(scope), value)

    match expression:
        case Constant(value):
            return both(value)
        case Size(plate):
            return both(float(sizes[plate]))
        case Reference(name, ()) if name in spans:
            return _at_depth(spans[name], len(scope))
        case Reference(name, _) if name in spans and np.ndim(spans[name][0]) == 0:
            return _at_depth(spans[name], len(scope))
    mentioned = names(expression)
    if all(name in spans and _is_known(spans[name]) for name in mentioned):
        found = evaluate(expression, Environment({name: spans[name][0] for name in mentioned}, sizes), scope)
        return found, found
    match expression:
        case Reference(name, indices) if name in spans:
            low, high = spans[name]
            if any(not _is_known(spans.get(part, ANYTHING)) for at in indices for part in names(at)):
                return _at_depth((low.min(initial=np.inf), high.max(initial=-np.inf)), len(scope))
            known = {part: spans[part][0] for at in indices for part in names(at)}
            at = Environment({**known, "low": low, "high": high}, sizes)
            return evaluate(Reference("low", indices), at, scope), evaluate(Reference("high", indices), at, scope)
        case Literal(values, _, _, _):
            return _at_depth((np.array(min(values)), np.array(max(values))), len(scope))
        case Add(terms):
            return reduce(_sum, [inner(term) for term in terms])
        case Multiply(factors):
            return reduce(_product, [inner(factor) for factor in factors])
        case Power(base, Constant(exponent)):
            return _power(inner(base), exponent)
        case Call("xlogy", (times, of)):
            return _product(inner(times), _rising("log", inner(of)))
        case Call(name, (argument,)) if name in RISING:
            return _rising(name, inner(argument))
        case Call("maximum" | "minimum" as name, (left, right)):
            (low, high), (other_low, other_high) = inner(left), inner(right)
            return FUNCTIONS[name](low, other_low), FUNCTIONS[name](high, other_high)
        case Call(name, _) if TABLE[name].positive or name == "absolute":
            return both(0.0)[0], both(np.inf)[0]
        case Sum(index, body) | LogSumExp(index, body) | Maximum(index, body):
            least, most = _span(body, spans, sizes, (*scope, index))
            size = sizes[index.plate]
            return _collected(expression, least, size), _collected(expression, most, size)
        case Where(_, then, otherwise):
            (low, high), (other_low, other_high) = inner(then), inner(otherwise)
            return np.minimum(low, other_low), np.maximum(high, other_high)
        case AtMost(low, high):
            is_possible = inner(low)[0] <= inner(high)[1]
            return both(-np.inf)[0], np.where(is_possible, 0.0, -np.inf)
    return _at_depth(ANYTHING, len(scope))


def _is_known(found: Span) -> bool:
    return found[0] is found[1]


def _at_depth(found: Span, depth: int) -> Span:
    """Two numbers with as many axes as are in scope."""
    low = np.reshape(found[0], (1,) * depth)
    return (low, low) if _is_known(found) else (low, np.reshape(found[1], (1,) * depth))


def _sum(left: Span, right: Span) -> Span:
    """Where infinities of both signs meet, nothing is known."""
    low, high = left[0] + right[0], left[1] + right[1]
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


def _product(left: Span, right: Span) -> Span:
    """The extremes lie at the ends; an exact zero wins over an infinity."""
    ends: Sequence[Array] = [
        np.where((a == 0) | (b == 0), 0.0, a * b)
        for a, b in ((left[0], right[0]), (left[0], right[1]), (left[1], right[0]), (left[1], right[1]))
    ]
    return np.minimum.reduce(np.broadcast_arrays(*ends)), np.maximum.reduce(np.broadcast_arrays(*ends))


def _power(base: Span, exponent: float) -> Span:
    low, high = base
    ends = np.power(low, exponent), np.power(high, exponent)
    if exponent < 0:
        ends = ends[::-1]
    if exponent % 2 == 0:
        across = (low < 0) & (high > 0)
        least, most = np.minimum(*ends), np.maximum(*ends)
        return (np.where(across, 0.0, least), most) if exponent > 0 else (least, np.where(across, np.inf, most))
    return np.where(low < 0, -np.inf, ends[0]), np.where(low < 0, np.inf, ends[1])


def _rising(name: str, of: Span) -> Span:
    start = LEAST.get(name, -np.inf)
    ends = (FUNCTIONS[name](np.maximum(end, start)) for end in of)
    return tuple(ends)  # type: ignore[return-value]


def _collected(expression: Expression, end: Array, size: int) -> Array:
    whole = np.broadcast_to(end, (*end.shape[:-1], size))
    if isinstance(expression, Sum):
        return np.asarray(whole.sum(axis=-1))
    if isinstance(expression, Maximum):
        return np.asarray(whole.max(axis=-1, initial=-np.inf))
    return np.asarray(np.logaddexp.reduce(whole, axis=-1)) if size else np.full(whole.shape[:-1], -np.inf)
