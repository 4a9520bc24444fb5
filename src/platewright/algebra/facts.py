"""What is known about variables while their expressions are worked on: their axes and their signs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from platewright.algebra.domain import Domain
from platewright.algebra.expression import (
    Add,
    Call,
    Constant,
    Expression,
    Literal,
    Multiply,
    Power,
    Reference,
    Size,
    Sum,
)
from platewright.algebra.functions import FUNCTIONS


@dataclass(frozen=True)
class Facts:
    """For each variable the plates of its axes and the domain of its values."""

    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    domains: Mapping[str, Domain] = field(default_factory=dict)

    def is_positive(self, expression: Expression) -> bool:
        """Whether the value can be proved to be above zero."""
        match expression:
            case Constant(value):
                return value > 0
            case Literal(values, _, _, _):
                return all(value > 0 for value in values)
            case Size():
                return True
            case Reference(name, _):
                domain = self.domains.get(name)
                return domain is not None and domain.kind in ("real", "simplex") and domain.lower >= 0
            case Add(terms):
                return all(self.is_positive(term) for term in terms) or self._floor(terms) >= 0
            case Multiply(factors):
                return all(self.is_positive(factor) for factor in factors)
            case Power(base, _):
                return self.is_positive(base)
            case Call(function, _):
                return FUNCTIONS[function].positive
            case Sum(_, body):
                return self.is_positive(body)
        return False

    def _floor(self, terms: tuple[Expression, ...]) -> float:
        """What numbers and multiples of variables in intervals stay above when added up: 1 - p stays above 0."""
        total, has_variable = 0.0, False
        for term in terms:
            times, variable = (
                (term.factors[0].value, term.factors[1])
                if isinstance(term, Multiply) and len(term.factors) == 2 and isinstance(term.factors[0], Constant)
                else (1.0, term)
            )
            if isinstance(variable, Constant):
                total += times * variable.value
                continue
            domain = self.domains.get(variable.name) if isinstance(variable, Reference) else None
            if domain is None or domain.kind not in ("real", "simplex"):
                return -inf
            total += times * (domain.lower if times > 0 else domain.upper)
            has_variable = True
        return total if has_variable else -inf  # the ends of an interval are not reached

    def is_binary(self, variable: Reference) -> bool:
        """Whether the values of a variable are the numbers 0 and 1."""
        domain = self.domains.get(variable.name)
        return domain is not None and domain.kind == "integer" and (domain.lower, domain.upper) == (0, 1)
