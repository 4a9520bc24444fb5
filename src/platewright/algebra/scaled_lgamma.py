"""Log gamma less the large part of Stirling's formula, and sums of log gammas written with it so that nothing cancels.

    scaled_lgamma(x, s) = lgamma(x) - x log(s) + x

    lgamma(x) - x log(s)                      =  scaled_lgamma(x, s) - x
    sum_i lgamma(x_i) - lgamma(sum_i x_i)     =  sum_i scaled_lgamma(x_i, s) - scaled_lgamma(s, s),    s = sum_i x_i

At counts of a billion a log gamma is about 2e10, and its last digit 4e-6; evidence is a difference of such numbers.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import add, call, multiply, total
from platewright.algebra.expression import Add, Call, Constant, Expression, Multiply, Sum, rebuild
from platewright.algebra.lazy import special

Array = np.ndarray


def scaled_lgamma(x: Array, scale: Array) -> Array:
    """`lgamma(x) - x log(scale) + x`, from 10 on by Stirling's series, so that large parts do not cancel."""
    large = np.maximum(x, 10.0)
    beyond = (large - scale) / scale
    is_close = np.abs(beyond) < 0.5
    log_ratio = np.where(is_close, np.log1p(np.where(is_close, beyond, 0.0)), np.log(large / scale))
    square = 1.0 / (large * large)
    series = 1.0 / 156
    for number in (691.0 / 360360, 1.0 / 1188, 1.0 / 1680, 1.0 / 1260, 1.0 / 360, 1.0 / 12):
        series = number - square * series
    stirling = (large - 0.5) * log_ratio - 0.5 * np.log(scale) + 0.5 * np.log(2 * np.pi) + series / large
    return np.where(x < 10, special.gammaln(x) - x * np.log(scale) + x, stirling)


def log_beta(a: Array, b: Array) -> Array:
    """`lgamma(a) + lgamma(b) - lgamma(a + b)`, also where these are large."""
    return scaled_lgamma(a, a + b) + scaled_lgamma(b, a + b) - scaled_lgamma(a + b, a + b)


def gathered(expression: Expression) -> Expression:
    """The same number, with log gammas of a sum and its parts, or of a shape and a rate, taken together."""
    inner = rebuild(expression, gathered)
    if not isinstance(inner, Add):
        return inner
    terms = list(inner.terms)
    for term in inner.terms:
        match term:
            case Multiply((Constant(-1.0), Call("lgamma", (whole,)))):
                terms = _with_parts(terms, term, whole)
            case Multiply((Constant(-1.0), *factors)):
                terms = _with_shape(terms, term, tuple(factors))
    return add(*terms)


def _with_parts(terms: list[Expression], term: Expression, whole: Expression) -> list[Expression]:
    """`-lgamma(whole)` and the log gammas of its parts, where all of these are among the terms."""
    parts = whole.terms if isinstance(whole, Add) else (whole,)
    plain = [_over_sums(part) for part in parts]
    if plain == [call("lgamma", whole)] or any(part not in terms for part in plain):
        return terms
    others = [other for other in terms if other not in plain and other != term]
    if len(parts) == 2 and not any(isinstance(part, Sum) for part in parts):
        return [*others, call("log_beta", *parts)]
    new = [_over_sums(part, whole) for part in parts]
    return [*others, *new, multiply(-1.0, call("scaled_lgamma", whole, whole))]


def _over_sums(part: Expression, scale: Expression | None = None) -> Expression:
    """The log gammas of the terms of a sum, added up."""
    if isinstance(part, Sum):
        return total(_over_sums(part.body, scale), part.index)
    return call("lgamma", part) if scale is None else call("scaled_lgamma", part, scale)


def _with_shape(terms: list[Expression], term: Expression, factors: tuple[Expression, ...]) -> list[Expression]:
    """`-x log(s)` beside `lgamma(x)`."""
    for factor in factors:
        shape = multiply(*(other for other in factors if other is not factor))
        plain = call("lgamma", shape)
        if isinstance(factor, Call) and factor.function == "log" and plain in terms:
            others = [other for other in terms if other not in (plain, term)]
            return [*others, call("scaled_lgamma", shape, factor.arguments[0]), multiply(-1.0, shape)]
    return terms
