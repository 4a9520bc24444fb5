"""Generalised normal: errors whose log density falls with a power of their size.

    p(x) = exp(-(rate |x - mean|)^power) / Z,      log Z = log 2 + lgamma(1 + 1 / power) - log rate

The most likely line minimises the sum of |x - mean|^power. Power 1 is Laplace, power 2 a normal with sd scale / sqrt 2,
and large powers are nearly even between mean - scale and mean + scale; (rate |x - mean|)^power is Gamma(1 / power, 1).
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import call, lgamma, log, where
from platewright.algebra.domain import POSITIVE, REAL
from platewright.algebra.expression import Reference
from platewright.algebra.lazy import special
from platewright.family import Array, Family, Parameter, Values, X

_mean = Parameter("mean", REAL)
_rate = Parameter("rate", POSITIVE)
_power = Parameter("power", POSITIVE)
_raised = (_rate.symbol * call("absolute", X - _mean.symbol)) ** _power.symbol
_within = call("gamma_cdf", 1 / _power.symbol, _raised)


def _draw(generator: np.random.Generator, p: Values, size: tuple[int, ...]) -> Array:
    distance = generator.standard_gamma(1 / p["power"], size) ** (1 / p["power"])
    return p["mean"] + np.where(generator.random(size) < 0.5, -distance, distance) / p["rate"]


def _variance(p: Values) -> Array:
    return np.exp(special.gammaln(3 / p["power"]) - special.gammaln(1 / p["power"])) / p["rate"] ** 2


def _quantile(q: Array, p: Values) -> Array:
    """From the share that lies farther from the mean, or nearer to it: no digits are lost in tails or middle."""
    outside, inside = 2 * np.minimum(q, 1 - q), np.abs(1 - 2 * np.asarray(q))
    shape = 1 / p["power"]
    near, far = special.gammaincinv(shape, inside), special.gammainccinv(shape, outside)
    distance = np.where(inside < 0.5, near, far) ** shape / p["rate"]
    return p["mean"] + np.where(np.less(q, 0.5), -distance, distance)


GENERALISED_NORMAL = Family(
    name="GeneralisedNormal",
    parameters=(_mean, _rate, _power),
    domain=REAL,
    statistics=(),
    natural=(),
    base=-_raised,
    log_normaliser=math.log(2) + lgamma(1 + 1 / _power.symbol) - log(_rate.symbol),
    spelled={"rate": {"scale": Reference("scale") ** -1, "rate": _rate.symbol}},
    cumulative=where(call("less", X, _mean.symbol), 0.5 - 0.5 * _within, 0.5 + 0.5 * _within),
    draw=_draw,
    mean=lambda p: p["mean"],
    variance=_variance,
    mode=lambda p: p["mean"],
    quantile=_quantile,
)
