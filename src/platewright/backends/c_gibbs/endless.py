"""Factors that may be infinite, beside which an exact zero has to win."""

from __future__ import annotations

from platewright.algebra.expression import Add, Call, Constant, Expression, Literal, Power, children
from platewright.algebra.kept import kept

ENDLESS = frozenset({"log", "xlogy", "log1p", "lgamma", "log_logistic", "log_normal_cdf"})
"""Functions that may be infinite, so that an exact zero beside them has to win."""


def may_be_endless(factor: Expression) -> bool:
    """Whether a factor may be infinite where its unknowns are possible."""
    match factor:
        case Call("exp" | "logistic" | "normal_cdf", _):
            return False
        case Literal(values):
            return any(value in (float("inf"), float("-inf")) for value in values)
        case Power(Add(), Constant(value)) if value < 0:
            return True  # a difference may vanish
    return _holds_endless(factor)


@kept
def _holds_endless(expression: Expression) -> bool:
    own = isinstance(expression, Call) and expression.function in ENDLESS
    return own or any(map(_holds_endless, children(expression)))
