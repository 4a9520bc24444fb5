"""Laplace: errors with a sharp peak and long tails.

    p(x) = exp(-rate |x - mean|) / Z,      log Z = log 2 - log rate

For a known mean the conjugate prior of the rate is Gamma.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import call, exp, log, where
from platewright.algebra.domain import POSITIVE, REAL
from platewright.algebra.expression import Reference
from platewright.family import Array, Family, Parameter, Values, X

_mean = Parameter("mean", REAL)
_rate = Parameter("rate", POSITIVE)


def _quantile(q: Array, p: Values) -> Array:
    tail = np.log(2 * np.minimum(q, 1 - q))
    return p["mean"] + np.where(np.less(q, 0.5), tail, -tail) / p["rate"]


LAPLACE = Family(
    name="Laplace",
    parameters=(_mean, _rate),
    domain=REAL,
    statistics=(call("absolute", X - _mean.symbol),),
    natural=(-_rate.symbol,),
    log_normaliser=math.log(2) - log(_rate.symbol),
    spelled={"rate": {"scale": Reference("scale") ** -1, "rate": _rate.symbol}},
    cumulative=where(
        call("less", X, _mean.symbol),
        0.5 * exp(-_rate.symbol * call("absolute", X - _mean.symbol)),
        1 - 0.5 * exp(-_rate.symbol * call("absolute", X - _mean.symbol)),
    ),
    draw=lambda generator, p, size: p["mean"] + generator.laplace(size=size) / p["rate"],
    mean=lambda p: p["mean"],
    variance=lambda p: 2 / p["rate"] ** 2,
    mode=lambda p: p["mean"],
    quantile=_quantile,
)
