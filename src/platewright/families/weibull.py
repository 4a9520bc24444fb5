"""Weibull: waiting times that age; x^shape is Exponential(rate).

    p(x) = exp((shape - 1) log x - rate x^shape) / Z,      log Z = -log shape - log rate,      rate = scale^-shape

For a known shape the conjugate prior of the rate is Gamma.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import exp, log
from platewright.algebra.domain import POSITIVE
from platewright.algebra.expression import Reference
from platewright.algebra.lazy import special
from platewright.family import Array, Family, Parameter, Values, X

_shape = Parameter("shape", POSITIVE)
_rate = Parameter("rate", POSITIVE)


def _scale(p: Values) -> Array:
    return p["rate"] ** (-1 / p["shape"])


def _variance(p: Values) -> Array:
    first, second = special.gamma(1 + 1 / p["shape"]), special.gamma(1 + 2 / p["shape"])
    return _scale(p) ** 2 * (second - first**2)


WEIBULL = Family(
    name="Weibull",
    parameters=(_shape, _rate),
    domain=POSITIVE,
    statistics=(log(X), X**_shape.symbol),
    natural=(_shape.symbol - 1, -_rate.symbol),
    log_normaliser=-log(_shape.symbol) - log(_rate.symbol),
    spelled={"rate": {"scale": Reference("scale") ** -_shape.symbol, "rate": _rate.symbol}},
    cumulative=1 - exp(-_rate.symbol * X**_shape.symbol),
    draw=lambda generator, p, size: (generator.standard_exponential(size) / p["rate"]) ** (1 / p["shape"]),
    mean=lambda p: _scale(p) * special.gamma(1 + 1 / p["shape"]),
    variance=_variance,
    mode=lambda p: (np.maximum(1 - 1 / p["shape"], 0) / p["rate"]) ** (1 / p["shape"]),
    quantile=lambda q, p: (-np.log1p(-q) / p["rate"]) ** (1 / p["shape"]),
    tail=lambda log_share, p: (-log_share / p["rate"]) ** (1 / p["shape"]),
)
