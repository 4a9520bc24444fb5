"""Uniform: anywhere between `lower` and `upper`, all alike.

    p(x) = 1 / Z,      log Z = log(upper - lower),      lower <= x <= upper

Not an exponential family, as its ends move with its parameters; an unknown end is learned from the extreme values.
"""

from __future__ import annotations

from platewright.algebra.build import log
from platewright.algebra.domain import REAL
from platewright.family import Family, Parameter

_lower = Parameter("lower", REAL)
_upper = Parameter("upper", REAL)

UNIFORM = Family(
    name="Uniform",
    parameters=(_lower, _upper),
    domain=REAL,
    statistics=(),
    natural=(),
    log_normaliser=log(_upper.symbol - _lower.symbol),
    lower=_lower.symbol,
    upper=_upper.symbol,
    draw=lambda generator, p, size: generator.uniform(p["lower"], p["upper"], size),
    mean=lambda p: 0.5 * p["lower"] + 0.5 * p["upper"],
    variance=lambda p: (p["upper"] - p["lower"]) ** 2 / 12,
    quantile=lambda q, p: (1 - q) * p["lower"] + q * p["upper"],
)
