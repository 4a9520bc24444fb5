"""Student t: a normal whose precision is not known; long tails.

    p(x) = (1 + precision (x - mean)^2 / degrees)^(-(degrees + 1) / 2) / Z
    log Z = lgamma(degrees / 2) - lgamma((degrees + 1) / 2) + log(pi degrees) / 2 - log(precision) / 2

It has no statistics of fixed size; the precision is scale^-2, not one over the variance. With z the distance from the
mean in scales, (1 + z / sqrt(z^2 + degrees)) / 2 is Beta(degrees / 2, degrees / 2), which gives the probabilities.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import call, lgamma, log
from platewright.algebra.domain import POSITIVE, REAL
from platewright.algebra.expression import Reference
from platewright.algebra.lazy import special
from platewright.family import Array, Family, Parameter, Values, X

_degrees = Parameter("degrees", POSITIVE)
_mean = Parameter("mean", REAL)
_precision = Parameter("precision", POSITIVE)
_distance = _precision.symbol * (X - _mean.symbol) ** 2
_share = 0.5 + 0.5 * _precision.symbol**0.5 * (X - _mean.symbol) * (_distance + _degrees.symbol) ** -0.5


def standard_t_quantile(q: Array, degrees: Array) -> Array:
    """From t^2 / (t^2 + degrees), which is Beta, and from its complement: no digits are lost in tails or middle."""
    outside = 2 * np.minimum(q, 1 - q)
    near, far = special.betainccinv(0.5, degrees / 2, outside), special.betaincinv(degrees / 2, 0.5, outside)
    with np.errstate(divide="ignore"):
        distance = np.sqrt(degrees * near / far)
    return np.where(np.less(q, 0.5), -distance, distance)


def _variance(p: Values) -> Array:
    degrees = p["degrees"]
    inflation = np.where(degrees > 2, degrees / np.where(degrees > 2, degrees - 2, 1), np.inf)
    return np.where(degrees > 1, inflation, np.nan) / p["precision"]


STUDENT_T = Family(
    name="StudentT",
    parameters=(_degrees, _mean, _precision),
    domain=REAL,
    statistics=(),
    natural=(),
    base=-0.5 * (_degrees.symbol + 1) * call("log1p", _distance / _degrees.symbol),
    log_normaliser=lgamma(0.5 * _degrees.symbol)
    - lgamma(0.5 * (_degrees.symbol + 1))
    + 0.5 * (math.log(math.pi) + log(_degrees.symbol))
    - 0.5 * log(_precision.symbol),
    spelled={"precision": {"scale": Reference("scale") ** -2, "precision": _precision.symbol}},
    cumulative=call("beta_cdf", 0.5 * _degrees.symbol, 0.5 * _degrees.symbol, _share),
    draw=lambda generator, p, size: p["mean"] + generator.standard_t(p["degrees"], size) / np.sqrt(p["precision"]),
    mean=lambda p: np.where(p["degrees"] > 1, p["mean"], np.nan),
    variance=_variance,
    mode=lambda p: p["mean"],
    quantile=lambda q, p: p["mean"] + standard_t_quantile(q, p["degrees"]) / np.sqrt(p["precision"]),
)
