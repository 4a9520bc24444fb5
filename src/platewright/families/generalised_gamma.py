"""Generalised gamma: (rate x)^power is Gamma(shape, 1).

    p(x) = exp((power shape - 1) log x - (rate x)^power) / Z
    log Z = lgamma(shape) - log power - power shape log rate

Gamma has power 1, Weibull shape 1, and the half-normal power 2 and shape 1/2.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import call, exp, lgamma, log
from platewright.algebra.domain import POSITIVE
from platewright.algebra.expression import Reference
from platewright.algebra.lazy import special
from platewright.family import Array, Family, Parameter, Values, X

_shape = Parameter("shape", POSITIVE)
_rate = Parameter("rate", POSITIVE)
_power = Parameter("power", POSITIVE)
_raised = exp(_power.symbol * (log(_rate.symbol) + log(X)))


def _moment(p: Values, order: float) -> Array:
    logs = special.gammaln(p["shape"] + order / p["power"]) - special.gammaln(p["shape"])
    return np.exp(logs) * p["rate"] ** -order


GENERALISED_GAMMA = Family(
    name="GeneralisedGamma",
    parameters=(_shape, _rate, _power),
    domain=POSITIVE,
    statistics=(),
    natural=(),
    base=(_power.symbol * _shape.symbol - 1) * log(X) - _raised,
    log_normaliser=lgamma(_shape.symbol) - log(_power.symbol) - _power.symbol * _shape.symbol * log(_rate.symbol),
    spelled={"rate": {"rate": _rate.symbol, "scale": Reference("scale") ** -1}},
    cumulative=call("gamma_cdf", _shape.symbol, _raised),
    draw=lambda generator, p, size: generator.standard_gamma(p["shape"], size) ** (1 / p["power"]) / p["rate"],
    mean=lambda p: _moment(p, 1.0),
    variance=lambda p: _moment(p, 2.0) - _moment(p, 1.0) ** 2,
    mode=lambda p: np.maximum(p["shape"] - 1 / p["power"], 0) ** (1 / p["power"]) / p["rate"],
    quantile=lambda q, p: special.gammaincinv(p["shape"], q) ** (1 / p["power"]) / p["rate"],
)
