"""Gamma: waiting times, rates and precisions.

    p(x) = exp((shape - 1) log x - rate x) / Z,      log Z = lgamma(shape) - shape log rate

The conjugate prior of every precision and every rate.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import call, lgamma, log
from platewright.algebra.domain import POSITIVE
from platewright.algebra.expression import Reference
from platewright.algebra.lazy import special
from platewright.family import Family, Parameter, X, weight

_shape = Parameter("shape", POSITIVE)
_rate = Parameter("rate", POSITIVE)

GAMMA = Family(
    name="Gamma",
    parameters=(_shape, _rate),
    domain=POSITIVE,
    statistics=(log(X), X),
    natural=(_shape.symbol - 1, -_rate.symbol),
    log_normaliser=lgamma(_shape.symbol) - _shape.symbol * log(_rate.symbol),
    spelled={"rate": {"rate": _rate.symbol, "scale": Reference("scale") ** -1}},
    from_natural={"shape": weight(0) + 1, "rate": -weight(1)},
    cumulative=call("gamma_cdf", _shape.symbol, _rate.symbol * X),
    draw=lambda generator, p, size: generator.standard_gamma(p["shape"], size) / p["rate"],
    mean=lambda p: p["shape"] / p["rate"],
    variance=lambda p: p["shape"] / p["rate"] ** 2,
    mode=lambda p: np.maximum(p["shape"] - 1, 0) / p["rate"],
    quantile=lambda q, p: special.gammaincinv(p["shape"], q) / p["rate"],
)
