"""Geometric: the number of trials up to and with the first success.

    p(x) = exp(x log(1 - p)) / Z,      log Z = log(1 - p) - log p,      x = 1, 2, ...

The conjugate prior of p is Beta.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import call, exp, log
from platewright.algebra.domain import UNIT, Domain
from platewright.families.count_quantile import count_quantile
from platewright.family import Array, Family, Parameter, Values, X, weight

_p = Parameter("p", UNIT)


def _quantile(q: Array, p: Values) -> Array:
    log_miss = np.log1p(-p["p"])
    return count_quantile(q, np.log1p(-q) / log_miss, lambda k: -np.expm1(k * log_miss), 1.0, np.inf)


GEOMETRIC = Family(
    name="Geometric",
    parameters=(_p,),
    domain=Domain("integer", 1.0),
    statistics=(X,),
    natural=(log(1 - _p.symbol),),
    log_normaliser=log(1 - _p.symbol) - log(_p.symbol),
    stable_log_density=(X - 1) * log(1 - _p.symbol) + log(_p.symbol),
    from_natural={"p": -call("expm1", weight(0))},
    draw=lambda generator, p, size: generator.geometric(p["p"], size),
    mean=lambda p: 1 / p["p"],
    variance=lambda p: (1 - p["p"]) / p["p"] ** 2,
    mode=lambda p: np.ones_like(p["p"], dtype=float),
    quantile=_quantile,
    cumulative=1 - exp(call("floor", X) * log(1 - _p.symbol)),
)
