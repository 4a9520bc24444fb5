"""Functions of variables that a user may write: `pw.dot`, `pw.sum`, `pw.exp`, `pw.where` and the like."""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra import build
from platewright.algebra.expression import Expression, Index
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
    for side in (left, right):
        _check_like(build.expression(side), over)
    return build.total(product, over.index)


def cumulative_sum(value: object, *, over: Plate) -> Expression:
    """At each element of a plate, the sum up to it: `c[k] = x[0] + ... + x[k]`.

    Every element is a sum over the whole plate, so that the work grows with the square of its size.
    """
    written = build.expression(value)
    _check(written, over, "cumulative_sum")
    before = Index(f"{over.index.name}'", over.index.plate)
    reached = 1 - build.call("less", over.index, before)
    return build.total(build.multiply(reached, build.substitute(written, {over.index: before})), before)


def _check_like(side: Expression, over: Plate) -> None:
    """A factor on the plate that the sum's plate is like, and not on that itself, was meant to be indexed by it.

    The plates of a previous value are not known yet: in such a sum it must say on which it is.
    """
    from platewright.algebra.expression import Reference, free_indices, walk
    from platewright.language.past import is_pending

    if over.like is None or over.index in (found := free_indices(side)):
        return
    before = [
        node
        for node in walk(side)
        if isinstance(node, Reference) and len(node.indices) == 1 and is_pending(node.indices[0])
    ]
    if not before and all(index.plate != over.like for index in found):
        return
    shown = f"m.lag('{before[0].name}')" if before else f"`{side}`"
    raise PlateError(
        f"{shown} does not say that it is on plate `{over.name}`, which is like `{over.like}`",
        where=f"dot(..., over={over.name})",
        hint=f"index it, {shown if before else '(...)'}[{over.name}]; if it is on `{over.like}` alone, write "
        f"pw.sum(left * right, over={over.name})",
    )


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


def erf(value: object) -> Expression:
    """The error function: the share of a normal of variance 1/2 between -x and x."""
    return 2 * build.call("normal_cdf", build.multiply(math.sqrt(2), value)) - 1


def lgamma(value: object) -> Expression:
    """The logarithm of the gamma function: `lgamma(n + 1)` is `log n!`."""
    return build.lgamma(value)


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
