"""Find a part of a log density that holds more powers of an unknown than any family has functions.

    (y - theta (y' - theta (y'' - ...)))^2      is a polynomial in theta of a degree that grows with the nesting

Powers are linearly independent, and stay so under any change of variable: a family with m statistics can take up
m of them at most. Which powers there are is told without multiplying out, in time linear in the expression.
"""

from __future__ import annotations

from platewright.algebra.expression import Add, Constant, Expression, Multiply, Power, Reference, Sum, names
from platewright.algebra.kept import kept_for

MOST = 6
"""Twice as many as the functions of any family on the shelf, a base measure among them."""

Powers = frozenset[int]


class _TooMany(Exception):
    def __init__(self, part: Expression) -> None:
        super().__init__(str(part))
        self.part = part


def part_with_too_many_powers(whole: Expression, name: str) -> Expression | None:
    """The innermost part in which more than `MOST` powers of an unknown meet; None where there is no such part."""
    try:
        _powers(whole, name)
    except _TooMany as found:
        return found.part
    return None


@kept_for
def _powers(whole: Expression, name: str) -> Powers | None:
    """The powers of the unknown in a polynomial, counting those that are sure; None where it is no polynomial."""
    if name not in names(whole):
        return frozenset({0})
    match whole:
        case Reference(own) if own == name and not any(name in names(at) for at in whole.indices):
            return frozenset({1})
        case Add(terms):
            known = [found for term in terms if (found := _powers(term, name)) is not None]
            return _few(frozenset().union(*known), whole)
        case Sum(_, body):
            return _powers(body, name)
        case Multiply(factors):
            every = [_powers(factor, name) for factor in factors]
            return _product(every, whole)
        case Power(base, Constant(exponent)) if exponent in (2.0, 3.0, 4.0):
            return _product([_powers(base, name)] * int(exponent), whole)
    return None


def _product(parts: list[Powers | None], whole: Expression) -> Powers | None:
    found: Powers = frozenset({0})
    for part in parts:
        if part is None:
            return None
        found = _few(frozenset(one + other for one in found for other in part), whole)
    return found


def _few(found: Powers, whole: Expression) -> Powers:
    if len(found - {0}) > MOST:
        raise _TooMany(whole)
    return found
