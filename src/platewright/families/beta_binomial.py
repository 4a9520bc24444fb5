"""Beta-binomial: heads in `count` throws of a coin whose chance was drawn from a Beta, once for all of them.

    p(x) = C(count, x) B(x + a, count - x + b) / B(a, b),      x = 0, ..., count

A binomial that varies more than its count explains; at a = b = 1 all its values are equally likely.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import lgamma
from platewright.algebra.domain import NATURAL, POSITIVE
from platewright.algebra.lazy import special
from platewright.family import Array, Family, Parameter, Values, X

_count = Parameter("count", NATURAL)
_a = Parameter("a", POSITIVE)
_b = Parameter("b", POSITIVE)
_rest = _count.symbol - X


def _log_weight(x: Array, count: Array, a: Array, b: Array) -> Array:
    """The log probability of `x`, but for what does not depend on it."""
    return special.betaln(x + a, count - x + b) - special.betaln(x + 1, count - x + 1)


def _mode(p: Values) -> Array:
    """An end, or where neighbours are equally likely: x (2 - a - b) = count (1 - a) - 1 + b."""
    count, a, b = np.broadcast_arrays(p["count"], p["a"], p["b"])
    bend = a + b - 2
    level = (count * (a - 1) + 1 - b) / np.where(bend > 0, bend, 1.0)
    inner = np.clip(np.where(bend > 0, np.floor(level) + 1, 0.0), 0, count)
    places = np.stack([np.zeros_like(inner), inner, np.asarray(count, dtype=float)])
    best = np.argmax(_log_weight(places, count, a, b), axis=0)
    return np.take_along_axis(places, best[None], axis=0)[0]


def _variance(p: Values) -> Array:
    total = p["a"] + p["b"]
    share = p["a"] / total
    return p["count"] * share * (p["b"] / total) * (total + p["count"]) / (total + 1)


def _smallest(q: float, count: float, a: float, b: float) -> float:
    """The smallest count that is reached with chance q."""
    if q <= 0 or q >= 1:
        return count if q >= 1 else 0.0
    log_weight = _log_weight(np.arange(count + 1), np.asarray(count), np.asarray(a), np.asarray(b))
    weight = np.exp(log_weight - log_weight.max())
    return min(float(np.searchsorted(np.cumsum(weight / weight.sum()), q)), count)


def _quantile(q: Array, p: Values) -> Array:
    return np.asarray(np.vectorize(_smallest, otypes=[float])(q, p["count"], p["a"], p["b"]))


BETA_BINOMIAL = Family(
    name="BetaBinomial",
    parameters=(_count, _a, _b),
    domain=NATURAL,
    statistics=(),
    natural=(),
    base=lgamma(_count.symbol + 1)
    - lgamma(X + 1)
    - lgamma(_rest + 1)
    + lgamma(X + _a.symbol)
    + lgamma(_rest + _b.symbol),
    log_normaliser=lgamma(_count.symbol + _a.symbol + _b.symbol)
    + lgamma(_a.symbol)
    + lgamma(_b.symbol)
    - lgamma(_a.symbol + _b.symbol),
    upper=_count.symbol,
    draw=lambda generator, p, size: generator.binomial(
        p["count"].astype(np.int64), generator.beta(p["a"], p["b"], size), size
    ),
    mean=lambda p: p["count"] * p["a"] / (p["a"] + p["b"]),
    variance=_variance,
    mode=_mode,
    quantile=_quantile,
)
