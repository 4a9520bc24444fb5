"""Logistic: a number whose chance to lie below x is logistic(rate (x - mean)).

    p(x) = rate L(z) L(-z),      z = rate (x - mean),      L(z) = 1 / (1 + exp(-z))

Normal in the middle, with tails of a Laplace; the noise behind a logit link.
"""

from __future__ import annotations

import math

from platewright.algebra.build import call, log
from platewright.algebra.domain import POSITIVE, REAL
from platewright.algebra.expression import Reference
from platewright.algebra.lazy import special
from platewright.family import Family, Parameter, X

_mean = Parameter("mean", REAL)
_rate = Parameter("rate", POSITIVE)
_z = _rate.symbol * (X - _mean.symbol)

LOGISTIC = Family(
    name="Logistic",
    parameters=(_mean, _rate),
    domain=REAL,
    statistics=(),
    natural=(),
    base=call("log_logistic", _z) + call("log_logistic", -_z),
    log_normaliser=-log(_rate.symbol),
    spelled={"rate": {"scale": Reference("scale") ** -1, "rate": _rate.symbol}},
    cumulative=call("logistic", _z),
    draw=lambda generator, p, size: p["mean"] + generator.logistic(size=size) / p["rate"],
    mean=lambda p: p["mean"],
    variance=lambda p: (math.pi / p["rate"]) ** 2 / 3,
    mode=lambda p: p["mean"],
    quantile=lambda q, p: p["mean"] + special.logit(q) / p["rate"],
)
