"""Which whole numbers an expression can give: a function that gives positions may index a table  (Figure 4(a)).

    rule = where(less(x, 3), 1, 0)          0 or 1             m.p[m.rule]: a distribution for each side of the rule
    rule_1 + 2 * rule_2                     0 to 3             a distribution for each pair of answers

The range is found from the form by interval arithmetic; it may be wider than what data can give, never narrower.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite

from platewright.algebra.domain import Domain
from platewright.algebra.expression import (
    Add,
    Call,
    Constant,
    Expression,
    Index,
    Indicator,
    Literal,
    Multiply,
    Reference,
    Where,
)
from platewright.language.plate import Plate
from platewright.language.variable import Variable

Range = tuple[int, int]


def range_of(written: Expression, variables: Mapping[str, Variable], plates: Mapping[str, Plate]) -> Range | None:
    """The least and the greatest whole number that an expression may be; None where it may be another number."""

    def of(part: Expression) -> Range | None:
        return range_of(part, variables, plates)

    match written:
        case Constant(value):
            return (int(value), int(value)) if isfinite(value) and value == int(value) else None
        case Indicator() | Call("less", _):
            return 0, 1
        case Literal(values):
            return (int(min(values)), int(max(values))) if all(value == int(value) for value in values) else None
        case Index(_, plate):
            return _positions(plates.get(plate))
        case Reference(name):
            return _of_variable(variables.get(name), variables, plates)
        case Where(_, then, otherwise):
            return _around(of(then), of(otherwise))
        case Add(terms):
            return _folded([of(term) for term in terms], lambda a, b: a + b)
        case Multiply(factors):
            return _folded([of(factor) for factor in factors], lambda a, b: a * b)
        case Call("maximum" | "minimum" as word, arguments):
            pick = max if word == "maximum" else min
            return _folded([of(argument) for argument in arguments], lambda a, b: pick(a, b))
    return None


def _of_variable(
    variable: Variable | None, variables: Mapping[str, Variable], plates: Mapping[str, Plate]
) -> Range | None:
    if variable is None:
        return None
    if variable.definition is not None:
        return range_of(variable.definition, variables, plates)
    domain: Domain = variable.domain
    if domain.kind == "levels":
        return _positions(plates.get(str(domain.levels)))
    if domain.kind == "integer" and domain.is_finite:
        return int(domain.lower), int(domain.upper)
    return None


def _positions(plate: Plate | None) -> Range | None:
    return (0, plate.size - 1) if plate is not None and plate.size is not None else None


def _around(one: Range | None, other: Range | None) -> Range | None:
    if one is None or other is None:
        return None
    return min(one[0], other[0]), max(one[1], other[1])


def _folded(ranges: list[Range | None], combined: Callable[[int, int], int]) -> Range | None:
    """The range of a sum or product of parts; each corner of two intervals may be an end of the next."""
    found: Range | None = None
    for part in ranges:
        if part is None:
            return None
        if found is None:
            found = part
            continue
        corners = [combined(a, b) for a in found for b in part]
        found = min(corners), max(corners)
    return found
