"""Which log factors may have no finite density at a start, as their form tells: a sampler looks at these beforehand.

    log(rate) y - rate                         finite wherever the rate is positive
    lgamma(count + 1) - lgamma(count - y + 1)  not, where the count is below y

A start lies inside the range of every unknown, so that logarithms of positive unknowns are finite. What no unknown
enters is left alone: moving would not mend it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from platewright.algebra.expression import (
    ONE,
    Add,
    AtMost,
    Call,
    Constant,
    Expression,
    Inverse,
    Literal,
    LogDeterminant,
    Multiply,
    Power,
    Reference,
    Root,
    children,
    names,
    walk,
)
from platewright.algebra.facts import Facts
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Variable

MOVABLE = ("real", "integer", "levels")
FINITE_OF_POSITIVE = frozenset({"log", "lgamma", "digamma", "log_beta", "log_bessel0"})
FINITE_ANYWHERE = frozenset({"absolute", "arctan2", "cos", "floor", "less", "log_logistic", "maximum", "minimum"})
"""Of exponentials it is not sure: they overflow, and the logarithm of what they leave of zero is infinite."""


def doubtful_factors(graph: Graph, factors: Sequence[Factor], unknown: Sequence[str]) -> tuple[Factor, ...]:
    """The factors that an unknown enters in such a way that they may be impossible."""
    facts, wanted = graph.facts, frozenset(unknown)
    return tuple(f for f in factors if f.names & wanted and not _is_finite(f.expression, facts, wanted))


def movable_unknowns(graph: Graph, doubtful: Sequence[Factor], unknown: Sequence[str]) -> tuple[Variable, ...]:
    """The unknowns that may be moved to make such factors possible, in the order given."""
    touched = {name for factor in doubtful for name in factor.names}
    return tuple(graph.nodes[n] for n in unknown if n in touched and graph.nodes[n].domain.kind in MOVABLE)


def places_of(node: Variable, factor: Factor) -> list[tuple[Expression, ...]]:
    """Where a factor looks a variable up, each place once."""
    found = (part for part in walk(factor.expression) if isinstance(part, Reference) and part.name == node.name)
    return list(dict.fromkeys(part.indices for part in found))


def _is_finite(expression: Expression, facts: Facts, unknown: frozenset[str]) -> bool:
    """Whether the value is surely finite inside the ranges of the unknowns."""
    if not names(expression) & unknown:
        return True
    inside = all(_is_finite(part, facts, unknown) for part in children(expression))
    match expression:
        case Constant(value):
            return isfinite(value)
        case Literal(values):
            return inside and all(isfinite(value) for value in values)
        case AtMost():
            return False
        case Power(base, exponent):
            is_whole = isinstance(exponent, Constant) and exponent.value > 0 and float(exponent.value).is_integer()
            return inside and (is_whole or _is_positive(base, facts, unknown))
        case Call(function, arguments):
            if function in FINITE_OF_POSITIVE:
                return inside and all(_is_positive(argument, facts, unknown) for argument in arguments)
            return inside and function in FINITE_ANYWHERE
        case LogDeterminant(matrix) | Inverse(matrix) | Root(matrix):
            return _is_matrix(matrix, facts)
    return inside


def _is_positive(expression: Expression, facts: Facts, unknown: frozenset[str]) -> bool:
    """Above zero, `1 - share` included; known factors do not count, since moving would not mend them."""
    match expression:
        case Multiply(factors):
            moving = [factor for factor in factors if names(factor) & unknown or isinstance(factor, Constant)]
            return all(_is_positive(factor, facts, unknown) for factor in moving)
        case Add((one, Multiply((Constant(-1.0), Reference(name))))) if one == ONE and name in facts.domains:
            domain = facts.domains[name]
            return domain.kind in ("real", "simplex") and domain.lower >= 0 and domain.upper <= 1
    return facts.is_positive(expression)


def _is_matrix(expression: Expression, facts: Facts) -> bool:
    """Whether an expression is a positive definite unknown, or a positive multiple of one."""
    match expression:
        case Reference(name):
            return name in facts.domains and facts.domains[name].kind == "matrix"
        case Multiply(factors):
            matrices = [factor for factor in factors if _is_matrix(factor, facts)]
            rest = [factor for factor in factors if factor not in matrices]
            return len(matrices) == 1 and all(facts.is_positive(factor) for factor in rest)
    return False
