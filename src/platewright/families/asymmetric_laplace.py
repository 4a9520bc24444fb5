"""Asymmetric Laplace: the error whose most likely line is that of a quantile.

    p(x) = exp(-rate (p max(x - location, 0) + (1 - p) max(location - x, 0))) / Z
    log Z = -log p - log(1 - p) - log rate

A share p of the values lies below `location`, so the line of largest probability is the regression on the p-th
quantile; at p = 1/2 it is Laplace. For known locations the conjugate prior of the rate is Gamma.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import call, exp, log, where
from platewright.algebra.domain import POSITIVE, REAL, UNIT
from platewright.algebra.expression import Reference
from platewright.family import Array, Family, Parameter, Values, X

_location = Parameter("location", REAL)
_rate = Parameter("rate", POSITIVE)
_p = Parameter("p", UNIT)
_above = call("maximum", X - _location.symbol, 0.0)
_below = call("maximum", _location.symbol - X, 0.0)


def _quantile(q: Array, p: Values) -> Array:
    with np.errstate(divide="ignore"):
        below = np.log(np.minimum(q / p["p"], 1)) / (1 - p["p"])
        above = np.log(np.minimum((1 - q) / (1 - p["p"]), 1)) / p["p"]
    return p["location"] + (below - above) / p["rate"]


ASYMMETRIC_LAPLACE = Family(
    name="AsymmetricLaplace",
    parameters=(_location, _rate, _p),
    domain=REAL,
    statistics=(_p.symbol * _above + (1 - _p.symbol) * _below,),
    natural=(-_rate.symbol,),
    log_normaliser=-log(_p.symbol) - log(1 - _p.symbol) - log(_rate.symbol),
    spelled={"rate": {"scale": Reference("scale") ** -1, "rate": _rate.symbol}},
    cumulative=where(
        call("less", X, _location.symbol),
        _p.symbol * exp(-_rate.symbol * (1 - _p.symbol) * _below),
        1 - (1 - _p.symbol) * exp(-_rate.symbol * _p.symbol * _above),
    ),
    draw=lambda generator, p, size: (
        p["location"]
        + (generator.exponential(size=size) / p["p"] - generator.exponential(size=size) / (1 - p["p"])) / p["rate"]
    ),
    mean=lambda p: p["location"] + (1 / p["p"] - 1 / (1 - p["p"])) / p["rate"],
    variance=lambda p: (p["p"] ** -2 + (1 - p["p"]) ** -2) / p["rate"] ** 2,
    mode=lambda p: p["location"],
    quantile=_quantile,
)
