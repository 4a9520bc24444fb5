"""Differentiate an expression with respect to a variable at given positions.

    d/d w[e] of sum_k f(w[k])  =  f'(w[e])          d/d S[e, f] of log det S  =  (S^-1)[f, e]

The result is an expression again, so log normalisers yield moments (Lemma 4.2) and log densities yield gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from platewright.algebra.build import (
    add,
    call,
    equal,
    inverse,
    log,
    multiply,
    power,
    substitute,
    total,
    where,
)
from platewright.algebra.expression import (
    ZERO,
    Add,
    Call,
    Constant,
    Expression,
    Index,
    Inverse,
    LogDeterminant,
    LogSumExp,
    Multiply,
    Power,
    Quadratic,
    Reference,
    Sum,
    Where,
    all_indices,
    bound,
    fresh,
    mentions,
)
from platewright.algebra.kept import kept_for
from platewright.algebra.substitution import rename_bound
from platewright.errors import ModelError


@kept_for
def differentiate(expression: Expression, target: Reference) -> Expression:
    """The derivative with respect to `target`, an element whose positions may be free indices."""
    if not mentions(expression, {target.name}):
        return ZERO
    clashing = [index for index in bound(expression) if index in target.indices]
    if clashing:
        expression = rename_bound(expression, clashing, {i for i in target.indices if isinstance(i, Index)})
    match expression:
        case Reference(name, indices) if name == target.name and not any(mentions(i, {name}) for i in indices):
            return multiply(*(equal(one, two) for one, two in zip(indices, target.indices, strict=True)))
        case Add(terms):
            return add(*(differentiate(term, target) for term in terms))
        case Multiply(factors):
            parts = []
            for number, factor in enumerate(factors):
                change = differentiate(factor, target)
                if change is not ZERO:
                    parts.append(multiply(*factors[:number], *factors[number + 1 :], change))
            return add(*parts)
        # A choice is taken before the function: log(where(c, p, 0)) moves only where c holds, and 1 / 0 is never asked.
        case Power(Where(condition, then, otherwise), exponent):
            return where(condition, *(differentiate(power(branch, exponent), target) for branch in (then, otherwise)))
        case Call(function, (Where(condition, then, otherwise),)):
            return where(condition, *(differentiate(call(function, branch), target) for branch in (then, otherwise)))
        case Power(base, exponent):
            return _power(expression, base, exponent, target)
        case Call("xlogy", (count, chance)):
            slope = multiply(count, power(chance, -1.0), differentiate(chance, target))
            counted = multiply(log(chance), differentiate(count, target))
            return add(where(equal(count, 0.0), ZERO, slope), counted)
        case Call(function, arguments):
            return _call(function, arguments, target)
        case Sum(index, body):
            return total(differentiate(body, target), index)
        case LogSumExp(index, body):
            share = call("exp", add(body, multiply(-1.0, expression)))
            return total(multiply(share, differentiate(body, target)), index)
        case Where(condition, then, otherwise):
            return where(condition, differentiate(then, target), differentiate(otherwise, target))
        case Quadratic(residual, matrix, row, column):
            return _quadratic(residual, matrix, row, column, target)
        case LogDeterminant(matrix, row, column):
            change = differentiate(matrix, target)
            at_row, at_column = _two(row, expression, target)
            moved = substitute(change, {row: at_column, column: at_row})
            turned = inverse(matrix, row, column, at_row, at_column)
            return total(total(multiply(turned, moved), at_row), at_column)
        case Inverse(matrix, row, column, at_row, at_column):
            change = differentiate(matrix, target)
            one, two = _two(row, expression, target)
            left = inverse(matrix, row, column, at_row, one)
            right = inverse(matrix, row, column, two, at_column)
            moved = substitute(change, {row: one, column: two})
            return multiply(-1.0, total(total(multiply(left, moved, right), one), two))
    raise ModelError(f"{expression} cannot be differentiated with respect to {target}")


def _power(whole: Expression, base: Expression, exponent: Expression, target: Reference) -> Expression:
    inner = differentiate(base, target)
    outer = differentiate(exponent, target)
    parts = [multiply(exponent, power(base, add(exponent, Constant(-1.0))), inner)]
    if outer != ZERO:
        parts.append(multiply(whole, log(base), outer))
    return add(*parts)


def _call(function: str, arguments: tuple[Expression, ...], target: Reference) -> Expression:
    if function == "multivariate_lgamma":
        # log Gamma_d(x) = const + sum_j lgamma(x - j / 2): the sum of digammas is a function of its own
        argument, dimension = arguments
        return multiply(call("multivariate_digamma", argument, dimension), differentiate(argument, target))
    if function in ("maximum", "minimum"):
        left, right = arguments
        first = call("less", right, left) if function == "maximum" else call("less", left, right)
        return where(first, differentiate(left, target), differentiate(right, target))
    if function == "arctan2":
        above, below = arguments
        turned = add(multiply(below, differentiate(above, target)), multiply(-1.0, above, differentiate(below, target)))
        return multiply(turned, power(add(multiply(above, above), multiply(below, below)), -1.0))
    if function in ("gamma_cdf", "beta_cdf") and not any(mentions(part, {target.name}) for part in arguments[:-1]):
        return multiply(_cumulative_slope(function, arguments), differentiate(arguments[-1], target))
    argument = arguments[0]
    inner = differentiate(argument, target)
    if function not in _SLOPES or len(arguments) > 1:
        raise ModelError(f"the derivative of {function} is not known")
    return multiply(_SLOPES[function](argument), inner)


def _cumulative_slope(function: str, arguments: tuple[Expression, ...]) -> Expression:
    """The density that belongs to a cumulative distribution."""
    *shapes, x = arguments
    if function == "gamma_cdf":
        (shape,) = shapes
        logs = add(multiply(add(shape, -1.0), log(x)), multiply(-1.0, x), multiply(-1.0, call("lgamma", shape)))
        return call("exp", logs)
    a, b = shapes
    norm = add(call("lgamma", add(a, b)), multiply(-1.0, call("lgamma", a)), multiply(-1.0, call("lgamma", b)))
    rest = add(1.0, multiply(-1.0, x))
    return call("exp", add(norm, multiply(add(a, -1.0), log(x)), multiply(add(b, -1.0), log(rest))))


_HALF_LOG_TURN = 0.5 * math.log(2 * math.pi)
_SLOPES: dict[str, Callable[[Expression], Expression]] = {
    "log": lambda x: power(x, -1.0),
    "exp": lambda x: call("exp", x),
    "log1p": lambda x: power(add(1.0, x), -1.0),
    "expm1": lambda x: call("exp", x),
    "lgamma": lambda x: call("digamma", x),
    "digamma": lambda x: call("trigamma", x),
    "logistic": lambda x: multiply(call("logistic", x), call("logistic", multiply(-1.0, x))),
    "log_logistic": lambda x: call("logistic", multiply(-1.0, x)),
    "cos": lambda x: multiply(-1.0, call("sin", x)),
    "sin": lambda x: call("cos", x),
    "tanh": lambda x: add(1.0, multiply(-1.0, power(call("tanh", x), 2.0))),
    "log_bessel0": lambda x: call("bessel_ratio", x),
    "bessel_ratio": lambda x: add(
        1.0,
        multiply(-1.0, power(call("bessel_ratio", x), 2.0)),
        multiply(-1.0, call("bessel_ratio", x), power(x, -1.0)),
    ),
    "absolute": lambda x: where(call("less", x, 0.0), -1.0, 1.0),
    "normal_cdf": lambda x: call("exp", add(multiply(-0.5, x, x), -_HALF_LOG_TURN)),
    "normal_quantile": lambda p: call(
        "exp", add(multiply(0.5, power(call("normal_quantile", p), 2.0)), _HALF_LOG_TURN)
    ),
    "log_normal_cdf": lambda x: call(
        "exp", add(multiply(-0.5, x, x), -_HALF_LOG_TURN, multiply(-1.0, call("log_normal_cdf", x)))
    ),
}


def _quadratic(residual: Expression, matrix: Expression, row: Index, column: Index, target: Reference) -> Expression:
    """Both sides of the form, and the matrix in the middle."""
    parts = []
    change = differentiate(residual, target)
    if change != ZERO:
        there = substitute(change, {row: column})
        symmetric = add(matrix, substitute(matrix, {row: column, column: row}))
        parts.append(total(total(multiply(residual, symmetric, there), row), column))
    middle = differentiate(matrix, target)
    if middle != ZERO:
        there = substitute(residual, {row: column})
        parts.append(total(total(multiply(residual, middle, there), row), column))
    return add(*parts)


def _two(row: Index, expression: Expression, target: Reference) -> tuple[Index, Index]:
    """Two fresh indices over the plate of a matrix."""
    taken = set(all_indices(expression)) | {part for part in target.indices if isinstance(part, Index)}
    one = fresh(Index(row.plate + "*", row.plate), taken)
    two = fresh(one, taken | {one})
    return one, two
