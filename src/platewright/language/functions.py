"""Functions of variables that a user may write: `pw.dot`, `pw.sum`, `pw.exp`, `pw.where` and the like."""

from __future__ import annotations

import numpy as np

from platewright.algebra import build
from platewright.algebra.expression import Expression
from platewright.errors import ParameterError, PlateError
from platewright.language.plate import Plate


def sum(value: object, *, over: Plate) -> Expression:
    """Sum over a plate."""
    written = build.expression(value)
    _check(written, over, "sum")
    return build.total(written, over.index)


def dot(left: object, right: object, *, over: Plate) -> Expression:
    """The sum of products over a plate: `dot(m.w, m.x, over=column)`."""
    product = build.multiply(left, right)
    _check(product, over, "dot")
    return build.total(product, over.index)


def _check(value: Expression, over: Plate, word: str) -> None:
    from platewright.algebra.expression import free_indices

    if not isinstance(over, Plate):
        raise PlateError(f"{word}(..., over={over!r})", expected="over=plate")
    if over.index not in free_indices(value):
        raise PlateError(
            f"`{value}` does not depend on plate `{over.name}`",
            where=f"{word}(..., over={over.name})",
            expected=f"something that lives on {over.name}",
        )


def exp(value: object) -> Expression:
    """Exponential."""
    return build.exp(value)


def log(value: object) -> Expression:
    """Natural logarithm."""
    if isinstance(value, (int, float, np.number)) and value <= 0:
        raise ParameterError(f"the logarithm of {value:g}", expected="a positive number")
    return build.log(value)


def sqrt(value: object) -> Expression:
    """Square root."""
    return build.power(value, 0.5)


def logistic(value: object) -> Expression:
    """`1 / (1 + exp(-x))`: from the real line to probabilities (Equation 5, corrected)."""
    return build.call("logistic", value)


def probit(value: object) -> Expression:
    """The cumulative distribution of the standard normal."""
    return build.call("normal_cdf", value)


def tanh(value: object) -> Expression:
    """Hyperbolic tangent."""
    return build.call("tanh", value)


def arctan(value: object) -> Expression:
    """Arc tangent, between minus and plus a quarter turn (in radians)."""
    return build.call("arctan2", value, 1.0)


def cos(value: object) -> Expression:
    """Cosine."""
    return build.call("cos", value)


def sin(value: object) -> Expression:
    """Sine."""
    return build.call("sin", value)


def absolute(value: object) -> Expression:
    """Absolute value."""
    return build.call("absolute", value)


def maximum(left: object, right: object) -> Expression:
    """The larger of two."""
    return build.call("maximum", left, right)


def minimum(left: object, right: object) -> Expression:
    """The smaller of two."""
    return build.call("minimum", left, right)


def equal(left: object, right: object) -> Expression:
    """One where both are equal, else zero."""
    return build.equal(left, right)


def less(left: object, right: object) -> Expression:
    """One where left is below right, else zero."""
    return build.call("less", left, right)


def where(condition: object, then: object, otherwise: object) -> Expression:
    """`then` where the condition is one, else `otherwise`."""
    if isinstance(condition, (bool, np.bool_)):
        raise ParameterError(
            f"the condition of pw.where is {condition}, a plain truth value",
            expected="a variable or an expression that is 0 or 1",
            hint="`m.a == m.b` compares two Python objects; write pw.equal(m.a, m.b)",
        )
    return build.where(condition, then, otherwise)
