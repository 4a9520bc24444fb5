"""Poisson: counts of rare events.

    p(x) = exp(x log rate) / (x! Z),      log Z = rate,      x = 0, 1, ...

The conjugate prior of the rate is Gamma.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import call, exp, lgamma, log
from platewright.algebra.domain import NATURAL, POSITIVE
from platewright.algebra.lazy import special
from platewright.families.count_quantile import count_quantile
from platewright.family import Array, Family, Parameter, Values, X, weight

_rate = Parameter("rate", POSITIVE, may_be_zero=True)


def _quantile(q: Array, p: Values) -> Array:
    near = special.pdtrik(q, p["rate"])
    # Above 1e11 or so pdtrik gives up, and the normal quantile is as good.
    near = np.where(np.isnan(near), p["rate"] + np.sqrt(p["rate"]) * special.ndtri(q), near)
    return count_quantile(q, near, lambda k: special.pdtr(k, p["rate"]), 0.0, np.inf)


POISSON = Family(
    name="Poisson",
    parameters=(_rate,),
    domain=NATURAL,
    statistics=(X,),
    natural=(log(_rate.symbol),),
    base=-lgamma(X + 1),
    log_normaliser=_rate.symbol,
    from_natural={"rate": exp(weight(0))},
    draw=lambda generator, p, size: generator.poisson(p["rate"], size),
    mean=lambda p: p["rate"],
    variance=lambda p: p["rate"],
    mode=lambda p: np.floor(p["rate"]),
    quantile=_quantile,
    cumulative=1 - call("gamma_cdf", call("floor", X) + 1, _rate.symbol),
)
