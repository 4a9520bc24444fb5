"""Builders that keep expressions tidy: flatten, fold constants, collect equal terms and powers.

add(x, x) -> 2 x        multiply(x, x) -> x^2        log(exp(x)) -> x        power(power(x, 2), 0.5) is kept
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from platewright.algebra.decimal_fold import added, multiplied
from platewright.algebra.expression import (
    ONE,
    ZERO,
    Add,
    AtMost,
    Call,
    Constant,
    Expression,
    Index,
    Indicator,
    Inverse,
    Lag,
    LogDeterminant,
    LogSumExp,
    Multiply,
    Power,
    Quadratic,
    Size,
    Sum,
    Where,
    free_indices,
)
from platewright.algebra.functions import FUNCTIONS
from platewright.algebra.kept import kept
from platewright.algebra.substitution import substitute as substitute
from platewright.algebra.tails import log_of, logistic_of, without_odds
from platewright.errors import ModelError, ParameterError


def expression(value: object) -> Expression:
    """Numbers become constants; expressions pass."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, bool):  # what `m.a == 1` is in Python: whether two objects are one
        raise ParameterError(
            f"{value} is a truth value, not a number or an expression",
            expected="a number, a variable of the model, or an expression of them",
            hint="write pw.equal(a, b) for a == b, pw.less(a, b) for a < b, or 1 and 0",
        )
    if isinstance(value, (int, float, np.integer, np.floating, np.bool_)):
        return Constant(float(value))
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return Constant(float(value))
    if isinstance(at := getattr(value, "index", None), Index):
        return at  # a plate stands for its index
    raise ParameterError(
        f"{value!r} is not a number or an expression",
        expected="a number, a variable of the model, or an expression of them",
        hint="give an array its axis by name: pw.array(values, over=plate)",
    )


def _coefficient(term: Expression) -> tuple[float, Expression]:
    """A term as number times the rest."""
    if isinstance(term, Constant):
        return term.value, ONE
    if isinstance(term, Multiply) and isinstance(first := term.factors[0], Constant):
        rest = term.factors[1:]
        return first.value, rest[0] if len(rest) == 1 else Multiply(rest)
    return 1.0, term


def add(*terms: object) -> Expression:
    """A sum with equal terms collected, in the order of first appearance."""
    if len(terms) == 2 and (longer := _with_one_more(*terms)) is not None:
        return longer
    collected: dict[Expression, float] = {}
    stack = [term if isinstance(term, Expression) else expression(term) for term in reversed(terms)]
    while stack:
        term = stack.pop()
        if isinstance(term, Add):
            stack.extend(reversed(term.terms))
            continue
        number, rest = _coefficient(term)
        before = collected.get(rest)
        collected[rest] = number if before is None else added(before, number)
    parts: list[Expression] = []
    for rest, number in collected.items():
        if number == 0.0:
            continue
        if rest is ONE:
            parts.append(Constant(number))
        elif number == 1.0:
            parts.append(rest)
        else:
            parts.append(_scaled(number, rest))
    if not parts:
        return ZERO
    return parts[0] if len(parts) == 1 else Add(tuple(parts))


def _with_one_more(first: object, last: object) -> Add | None:
    """A sum and one term more that is like none of its own: sums of many terms are written one after another."""
    if not isinstance(first, Add) or not isinstance(last, Expression) or isinstance(last, Add):
        return None
    (number, rest), before = _coefficient(last), rests(first)
    if number == 0.0 or rest in before:
        return None
    longer = Add((*first.terms, last))
    longer.__dict__["_rests"] = before | {rest}
    return longer


@kept
def rests(terms: Add) -> frozenset[Expression]:
    """The terms of a sum without their numbers."""
    return frozenset(_coefficient(term)[1] for term in terms.terms)


def _scaled(number: float, rest: Expression) -> Expression:
    factors = rest.factors if isinstance(rest, Multiply) else (rest,)
    return Multiply((Constant(number), *factors))


def multiply(*factors: object) -> Expression:
    """A product with equal bases collected into powers and numbers folded in front."""
    number = 1.0
    collected: dict[Expression, Expression] = {}
    stack = [factor if isinstance(factor, Expression) else expression(factor) for factor in reversed(factors)]
    while stack:
        factor = stack.pop()
        if isinstance(factor, Constant):
            number = multiplied(number, factor.value)
        elif isinstance(factor, Multiply):
            stack.extend(reversed(factor.factors))
        elif isinstance(factor, Indicator):
            collected[factor] = ONE  # [c = k]^2 = [c = k]
        else:
            base, exponent = (factor.base, factor.exponent) if isinstance(factor, Power) else (factor, ONE)
            before = collected.get(base)
            if before is not None or not isinstance(exponent, Constant):
                exponent = add(ZERO if before is None else before, exponent)  # numbers come first in an exponent
            collected[base] = exponent
    if number == 0.0:
        return ZERO
    parts: list[Expression] = []
    for base, exponent in collected.items():
        part = base if exponent is ONE else power(base, exponent)
        if isinstance(part, Constant):
            number = multiplied(number, part.value)
        elif isinstance(part, Multiply):
            parts.extend(part.factors)
        else:
            parts.append(part)
    if number == 0.0:
        return ZERO
    if not parts:
        return Constant(number)
    parts = without_odds(parts)
    if number != 1.0:
        if len(parts) == 1 and isinstance(parts[0], Add):
            return add(*(multiply(number, term) for term in parts[0].terms))
        parts.insert(0, Constant(number))
    return parts[0] if len(parts) == 1 else Multiply(tuple(parts))


def power(base: object, exponent: object) -> Expression:
    """A power; numbers fold, integer powers go into products, powers of powers join where that is safe."""
    base, exponent = expression(base), expression(exponent)
    if exponent == ZERO:
        return ONE
    if exponent == ONE:
        return base
    match base, exponent:
        case Constant(number), Constant(degree):
            if number == 0.0 and degree < 0:
                raise ModelError("division by zero in the model", expected="a denominator that is not 0")
            if number < 0 and not float(degree).is_integer():
                raise ModelError(f"({number:g}) ** {degree:g} is not a real number", expected="a base >= 0")
            return Constant(number**degree)
        case Constant(number), _ if number == 1.0:
            return ONE
        case Power(inner, Constant(first)), Constant(second):
            # (x^2)^(1/2) is |x|, not x: powers join only when no sign can be lost.
            if float(second).is_integer() or not float(first).is_integer() or float(first) % 2 == 1:
                return power(inner, first * second)
        case Multiply(factors), Constant(degree) if float(degree).is_integer():
            return multiply(*(power(factor, degree) for factor in factors))
        case Multiply((Constant(number), *rest)), Constant(degree) if number > 0:
            return multiply(number**degree, power(multiply(*rest), degree))
        case Indicator(), Constant(degree) if degree > 0:
            return base
        case Call("exp", (argument,)), _:
            return call("exp", multiply(argument, exponent))
        case Add(), Constant(-1.0) if (found := logistic_of(base)) is not None:
            return found
    return Power(base, exponent)


_FOLDED: Mapping[str, Callable[..., float]] = {
    "log": math.log,
    "exp": math.exp,
    "lgamma": math.lgamma,
    "cos": math.cos,
    "sin": math.sin,
    "tanh": math.tanh,
    "log1p": math.log1p,
    "expm1": math.expm1,
    "absolute": abs,
    "floor": math.floor,
    "less": float.__lt__,
    "maximum": max,
    "minimum": min,
}


def call(function: str, *arguments: object) -> Expression:
    """A function of the closed list, folded on constants and against its inverse."""
    if function not in FUNCTIONS:
        raise ModelError(f"there is no function `{function}`", expected=", ".join(FUNCTIONS))
    parts = tuple(expression(argument) for argument in arguments)
    match function, parts:
        case "log", (Call("exp", (inner,)),):
            return inner
        case "exp", (Call("log", (inner,)),):
            return inner
        case "normal_quantile", (Call("normal_cdf", (inner,)),):
            return inner
        case "log", (whole,) if (found := log_of(whole)) is not None:
            return found
        case "log", (Constant(value),) if value < 0:
            raise ParameterError(f"the logarithm of {value:g}", expected="a positive number")
        case "log", (Constant(0.0),):
            return Call("log", parts)  # a rate or probability of exactly zero; what it multiplies decides
        case _ if function in _FOLDED and all(isinstance(part, Constant) for part in parts):
            return Constant(_folded(function, [part.value for part in parts if isinstance(part, Constant)]))
    return Call(function, parts)


def _folded(function: str, values: Sequence[float]) -> float:
    """A function of numbers, where it is a finite number."""
    try:
        return float(_FOLDED[function](*values))
    except (OverflowError, ValueError):  # exp(1000), cos(inf)
        shown = ", ".join(f"{value:g}" for value in values)
        raise ParameterError(f"{function}({shown}) is not a finite number", expected="smaller numbers") from None


def log(value: object) -> Expression:
    """Natural logarithm."""
    return call("log", value)


def exp(value: object) -> Expression:
    """Exponential."""
    return call("exp", value)


def lgamma(value: object) -> Expression:
    """Log of the gamma function."""
    return call("lgamma", value)


def equal(left: object, right: object) -> Expression:
    """The indicator `[left = right]`."""
    left, right = expression(left), expression(right)
    if left == right:
        return ONE
    if isinstance(left, Constant) and isinstance(right, Constant):
        return ZERO
    if isinstance(left, Constant) or (isinstance(left, Index) and not isinstance(right, (Index, Constant))):
        left, right = right, left
    return Indicator(left, right)


def where(condition: object, then: object, otherwise: object) -> Expression:
    """`then` where the condition holds, else `otherwise`."""
    condition, then, otherwise = expression(condition), expression(then), expression(otherwise)
    if isinstance(condition, Constant):
        return then if condition.value else otherwise
    return then if then == otherwise else Where(condition, then, otherwise)


def lag(index: Expression) -> Expression:
    """The previous position of an index, or one before that."""
    if not isinstance(index, (Index, Lag)):
        raise ModelError("a lag needs the index of an ordered plate", expected="m.lag('z') inside the plate of z")
    return Lag(index)


def total(body: object, index: Index) -> Expression:
    """A sum over an index; what does not depend on it moves out as a factor."""
    body = expression(body)
    if index not in free_indices(body):
        return multiply(Size(index.plate), body)
    if _chosen(body, index) is not None:
        return ONE
    if isinstance(body, Multiply):
        outside = [factor for factor in body.factors if index not in free_indices(factor)]
        if outside:
            inside = [factor for factor in body.factors if index in free_indices(factor)]
            return multiply(*outside, total(multiply(*inside), index))
        for factor in body.factors:
            chosen = _chosen(factor, index)
            if chosen is not None:
                rest = multiply(*(other for other in body.factors if other is not factor))
                return substitute(rest, {index: chosen})
    return Sum(index, body)


def _chosen(factor: Expression, index: Index) -> Expression | None:
    """For `[index = other]`, the other side when it is an index of the same plate: the sum has one term."""
    if isinstance(factor, Indicator) and isinstance(factor.left, Index) and isinstance(factor.right, Index):
        other = factor.right if factor.left == index else factor.left
        if index in (factor.left, factor.right) and other.plate == index.plate:
            return other
    return None


def totals(body: object, indices: Iterable[Index]) -> Expression:
    """Sums over several indices."""
    result = expression(body)
    for index in indices:
        result = total(result, index)
    return result


def log_sum_exp(body: object, index: Index) -> Expression:
    """The log of a sum of exponentials over an index."""
    return LogSumExp(index, expression(body))


def at_most(low: object, high: object) -> Expression:
    """The log of `low <= high` as zero or minus infinity."""
    low, high = expression(low), expression(high)
    if isinstance(low, Constant) and isinstance(high, Constant):
        if low.value > high.value:
            raise ParameterError(f"the bounds {low.value:g} and {high.value:g} are the wrong way round")
        return ZERO
    return AtMost(low, high)


def quadratic(residual: Expression, matrix: Expression, row: Index, column: Index) -> Expression:
    """The quadratic form of a residual; scalar factors of the matrix move out."""
    outside, inside = _scalars(matrix, row, column)
    return multiply(*outside, Quadratic(residual, inside, row, column))


def log_determinant(matrix: Expression, row: Index, column: Index) -> Expression:
    """`log |s A| = d log s + log |A|` and `log |A^-1| = -log |A|`."""
    outside, inside = _scalars(matrix, row, column)
    if any(isinstance(factor, Constant) and factor.value < 0 for factor in outside):
        return LogDeterminant(matrix, row, column)  # the sign of a matrix has no logarithm of its own
    result: Expression
    match inside:
        case Inverse(inner, inner_row, inner_column, at_row, at_column) if {at_row, at_column} == {row, column}:
            result = multiply(-1.0, log_determinant(inner, inner_row, inner_column))
        case Indicator(left, right) if {left, right} == {row, column}:
            result = ZERO
        case _:
            result = LogDeterminant(inside, row, column)
    logs = [multiply(Size(row.plate), log(factor)) for factor in outside]
    return add(*logs, result)


def inverse(matrix: Expression, row: Index, column: Index, at_row: Expression, at_column: Expression) -> Expression:
    """`(s A)^-1 = s^-1 A^-1` and `(A^-1)^-1 = A`."""
    outside, inside = _scalars(matrix, row, column)
    result: Expression
    match inside:
        case Inverse(inner, inner_row, inner_column, there_row, there_column) if {there_row, there_column} == {
            row,
            column,
        }:
            result = substitute(inner, {inner_row: at_row, inner_column: at_column})
        case Indicator(left, right) if {left, right} == {row, column}:
            result = equal(at_row, at_column)
        case _:
            result = Inverse(inside, row, column, at_row, at_column)
    return multiply(*(power(factor, -1.0) for factor in outside), result)


def _scalars(matrix: Expression, row: Index, column: Index) -> tuple[list[Expression], Expression]:
    """Factors of a matrix that depend on neither of its indices, and the rest."""
    factors = matrix.factors if isinstance(matrix, Multiply) else (matrix,)
    inside = [factor for factor in factors if free_indices(factor) & {row, column}]
    outside = [factor for factor in factors if not free_indices(factor) & {row, column}]
    return outside, multiply(*inside)
