"""Log gamma less the large part of Stirling's formula, and sums of log gammas written with it so that nothing cancels.

    scaled_lgamma(x, s) = lgamma(x) - x log(s) + x

    lgamma(x) - x log(s)                      =  scaled_lgamma(x, s) - x
    sum_i lgamma(x_i) - lgamma(sum_i x_i)     =  sum_i scaled_lgamma(x_i, s) - scaled_lgamma(s, s),    s = sum_i x_i

    lgamma(a) + lgamma(b) - lgamma(a + b - 1) =  log_beta(a, b) + log(a + b - 1),     one over a binomial coefficient

At counts of a billion a log gamma is about 2e10, and its last digit 4e-6; evidence is a difference of such numbers.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from platewright.algebra.build import add, call, lgamma, log, multiply, total
from platewright.algebra.expression import ZERO, Add, Call, Constant, Expression, Index, Multiply, Sum, rebuild
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


def coefficients_gathered(expression: Expression) -> Expression:
    """The same number, with the three log gammas of binomial coefficients summed over rows together, not one by one."""
    if not isinstance(expression, Add):
        return expression
    terms = list(expression.terms)
    below = [found for term in terms if (found := _lgamma_of_rows(multiply(-1.0, term))) is not None]
    for term in expression.terms:
        if (above := _lgamma_of_rows(term)) is None:
            continue
        rows, whole = above
        parts = [part for over, part in below if over == rows]
        for one, other in combinations(parts, 2):
            used = [term, *(multiply(-1.0, _over_rows(rows, lgamma(part))) for part in (one, other))]
            if add(one, other, -1.0, multiply(-1.0, whole)) == ZERO and all(part in terms for part in used):
                coefficient = add(call("log_beta", one, other), log(whole))
                terms = [part for part in terms if part not in used]
                terms.append(multiply(-1.0, _over_rows(rows, coefficient)))
    return add(*terms)


def _lgamma_of_rows(term: Expression) -> tuple[tuple[Index, ...], Expression] | None:
    """The indices and the argument of a log gamma that is summed over something."""
    over: list[Index] = []
    while isinstance(term, Sum):
        over.append(term.index)
        term = term.body
    if over and isinstance(term, Call) and term.function == "lgamma":
        return tuple(over), term.arguments[0]
    return None


def _over_rows(over: tuple[Index, ...], body: Expression) -> Expression:
    for index in reversed(over):
        body = total(body, index)
    return body


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
