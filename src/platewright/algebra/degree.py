"""The degree of an expression as a polynomial in some variables, by its form.

    w[d, k] z[n, k] - x[n, d]          degree 1 in x and z
    exp(x[n]),  1 / x[n]               no polynomial: HIGH

What is found is an upper bound: terms that would cancel are not looked for.
"""

from __future__ import annotations

from collections.abc import Set

from platewright.algebra.expression import (
    Add,
    Constant,
    Expression,
    Multiply,
    Power,
    Quadratic,
    Reference,
    Sum,
    Where,
    mentions,
)

HIGH = 1000
"""The degree of what is no polynomial."""


def degree(expression: Expression, variables: Set[str]) -> int:
    """The degree in all of the variables together; none of them may choose where something is looked up."""
    if not mentions(expression, variables):
        return 0
    match expression:
        case Reference(name, indices):
            return 1 if name in variables and not any(mentions(at, variables) for at in indices) else HIGH
        case Add(terms):
            return max(degree(term, variables) for term in terms)
        case Multiply(factors):
            return min(sum(degree(factor, variables) for factor in factors), HIGH)
        case Power(base, Constant(exponent)) if exponent >= 0 and exponent == int(exponent):
            return min(int(exponent) * degree(base, variables), HIGH)
        case Sum(_, body):
            return degree(body, variables)
        case Where(condition, then, otherwise) if not mentions(condition, variables):
            return max(degree(then, variables), degree(otherwise, variables))
        case Quadratic(residual, matrix, _, _) if not mentions(matrix, variables):
            return min(2 * degree(residual, variables), HIGH)
    return HIGH
