"""Negative binomial: the failures before a number of successes; a Poisson whose rate varies as a Gamma.

    p(x) = Gamma(x + successes) / (Gamma(successes) x!) p^successes (1 - p)^x,      x = 0, 1, ...

`successes` need not be whole. The conjugate prior of p is Beta.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import call, lgamma, log
from platewright.algebra.domain import NATURAL, POSITIVE, UNIT
from platewright.algebra.lazy import special
from platewright.families.count_quantile import count_quantile
from platewright.family import Array, Family, Parameter, Values, X

_successes = Parameter("successes", POSITIVE)
_p = Parameter("p", UNIT)


def _quantile(q: Array, p: Values) -> Array:
    near = special.nbdtrik(q, p["successes"], p["p"])
    return count_quantile(q, near, lambda k: special.betainc(p["successes"], k + 1, p["p"]), 0.0, np.inf)


NEGATIVE_BINOMIAL = Family(
    name="NegativeBinomial",
    parameters=(_successes, _p),
    domain=NATURAL,
    statistics=(X,),
    natural=(log(1 - _p.symbol),),
    base=lgamma(X + _successes.symbol) - lgamma(X + 1),
    log_normaliser=lgamma(_successes.symbol) - _successes.symbol * log(_p.symbol),
    draw=lambda generator, p, size: generator.negative_binomial(p["successes"], p["p"], size),
    mean=lambda p: p["successes"] * (1 - p["p"]) / p["p"],
    variance=lambda p: p["successes"] * (1 - p["p"]) / p["p"] ** 2,
    mode=lambda p: np.floor(np.maximum(p["successes"] - 1, 0) * (1 - p["p"]) / p["p"]),
    quantile=_quantile,
    cumulative=1 - call("beta_cdf", call("floor", X) + 1, _successes.symbol, 1 - _p.symbol),
)
