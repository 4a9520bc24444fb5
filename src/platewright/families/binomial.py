"""Binomial: how often a coin falls heads in `count` throws.

    p(x) = C(count, x) exp(x log p + (count - x) log(1 - p)),      x = 0, ..., count

The conjugate prior of p is Beta.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import call, lgamma, log, where
from platewright.algebra.domain import NATURAL, UNIT
from platewright.algebra.expression import ZERO, Reference
from platewright.algebra.lazy import special
from platewright.families.count_quantile import count_quantile
from platewright.family import Array, Family, Parameter, Values, X

_count = Parameter("count", NATURAL)
_p = Parameter("p", UNIT)


def binomial_quantile(q: Array, p: Values) -> Array:
    """The smallest number of heads that is reached with chance q."""
    return count_quantile(q, special.bdtrik(q, p["count"], p["p"]), lambda k: _cdf(k, p), 0.0, p["count"])


def _cdf(k: Array, p: Values) -> Array:
    """P(X <= k), as the chance that the (k+1)-th smallest of `count` uniform numbers is above p."""
    rest = p["count"] - k
    return np.where(rest > 0, special.betaincc(k + 1, np.maximum(rest, 1), p["p"]), 1.0)


_whole = call("floor", X)
_above = call("beta_cdf", _whole + 1, call("maximum", _count.symbol - _whole, 1.0), _p.symbol)

BINOMIAL = Family(
    name="Binomial",
    parameters=(_count, _p),
    domain=NATURAL,
    statistics=(X, _count.symbol - X),
    natural=(log(_p.symbol), log(1 - _p.symbol)),
    base=lgamma(_count.symbol + 1) - lgamma(X + 1) - lgamma(_count.symbol - X + 1),
    log_normaliser=ZERO,
    upper=_count.symbol,
    spelled={"p": {"p": _p.symbol, "logit": call("logistic", Reference("logit"))}},
    draw=lambda generator, p, size: generator.binomial(p["count"].astype(np.int64), p["p"], size),
    mean=lambda p: p["count"] * p["p"],
    variance=lambda p: p["count"] * p["p"] * (1 - p["p"]),
    mode=lambda p: np.minimum(np.floor((p["count"] + 1) * p["p"]), p["count"]),
    quantile=binomial_quantile,
    cumulative=1 - where(call("less", _whole, _count.symbol), _above, ZERO),
)
