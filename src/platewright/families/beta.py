"""Beta: an unknown proportion.

    p(x) = x^(a - 1) (1 - x)^(b - 1) / Z,      log Z = lgamma(a) + lgamma(b) - lgamma(a + b)

The conjugate prior of every probability of success.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import call, lgamma, log
from platewright.algebra.domain import POSITIVE, UNIT
from platewright.algebra.lazy import special
from platewright.family import Array, Family, Parameter, Values, X, weight

_a = Parameter("a", POSITIVE)
_b = Parameter("b", POSITIVE)


def _variance(p: Values) -> Array:
    total = p["a"] + p["b"]
    return p["a"] * p["b"] / (total**2 * (total + 1))


def _mode(p: Values) -> Array:
    """The peak; without one (a, b <= 1) the end with more mass, and the middle if both are 1."""
    left, right = np.maximum(p["a"] - 1, 0), np.maximum(p["b"] - 1, 0)
    total = left + right
    ends = np.where((p["a"] == 1) & (p["b"] == 1), 0.5, p["a"] > p["b"])
    return np.where(total > 0, left / np.where(total > 0, total, 1), ends)


BETA = Family(
    name="Beta",
    parameters=(_a, _b),
    domain=UNIT,
    statistics=(log(X), log(1 - X)),
    natural=(_a.symbol - 1, _b.symbol - 1),
    log_normaliser=lgamma(_a.symbol) + lgamma(_b.symbol) - lgamma(_a.symbol + _b.symbol),
    from_natural={"a": weight(0) + 1, "b": weight(1) + 1},
    cumulative=call("beta_cdf", _a.symbol, _b.symbol, X),
    draw=lambda generator, p, size: generator.beta(p["a"], p["b"], size),
    mean=lambda p: p["a"] / (p["a"] + p["b"]),
    variance=_variance,
    mode=_mode,
    quantile=lambda q, p: special.betaincinv(p["a"], p["b"], q),
)
