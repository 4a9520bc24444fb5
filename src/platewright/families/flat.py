"""Flat: no preference between `lower` and `upper`.

    log p(x) = 0

Not a distribution: it has no mass to divide by, so there is nothing to draw and no evidence to compare.
"""

from __future__ import annotations

from math import inf

from platewright.algebra.domain import REAL
from platewright.algebra.expression import ZERO
from platewright.family import Family, Parameter

_lower = Parameter("lower", REAL)
_upper = Parameter("upper", REAL)

FLAT = Family(
    name="Flat",
    parameters=(_lower, _upper),
    domain=REAL,
    statistics=(),
    natural=(),
    log_normaliser=ZERO,
    defaults={"lower": -inf, "upper": inf},
    lower=_lower.symbol,
    upper=_upper.symbol,
    proper=False,
)
