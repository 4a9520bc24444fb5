"""Inverse Gaussian: when a drifting particle first reaches its goal.

    p(x) = x^(-3/2) exp(-shape (x - mean)^2 / (2 mean^2 x)) / Z,      log Z = log(2 pi) / 2 - log(shape) / 2

For a known mean the conjugate prior of the shape is Gamma.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import log
from platewright.algebra.domain import POSITIVE
from platewright.algebra.lazy import special
from platewright.family import Array, Family, Parameter, Values, X

_mean = Parameter("mean", POSITIVE)
_shape = Parameter("shape", POSITIVE)
_log_scale = 0.5 * log(_shape.symbol) - 0.5 * math.log(2 * math.pi)
_squares = (X - _mean.symbol) ** 2 / (2 * _mean.symbol**2 * X)


def _mode(p: Values) -> Array:
    skew = 1.5 * p["mean"] / p["shape"]
    return p["mean"] / (np.hypot(1, skew) + skew)


def _cdf(x: Array, p: Values) -> Array:
    root = np.sqrt(p["shape"] / x)
    mirrored = 2 * p["shape"] / p["mean"] + special.log_ndtr(-root * (x / p["mean"] + 1))
    return special.ndtr(root * (x / p["mean"] - 1)) + np.exp(mirrored)


def _quantile(q: Array, p: Values) -> Array:
    """By halving an interval of log x; outside it lies less than exp(-1000)."""
    shape = np.broadcast_shapes(np.shape(q), np.shape(p["mean"]), np.shape(p["shape"]))
    low = np.broadcast_to(np.log(np.minimum(p["mean"], p["shape"])) - 8, shape)
    high = np.broadcast_to(np.log(p["mean"] + p["mean"] ** 2 / p["shape"]) + 8, shape)
    for _ in range(64):
        middle = (low + high) / 2
        is_below = _cdf(np.exp(middle), p) < q
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return np.select([np.less_equal(q, 0), np.greater_equal(q, 1)], [0.0, np.inf], np.exp(high))


INVERSE_GAUSSIAN = Family(
    name="InverseGaussian",
    parameters=(_mean, _shape),
    domain=POSITIVE,
    statistics=(X, X**-1),
    natural=(-0.5 * _shape.symbol / _mean.symbol**2, -0.5 * _shape.symbol),
    base=-1.5 * log(X),
    log_normaliser=-_shape.symbol / _mean.symbol - _log_scale,
    stable_log_density=-_shape.symbol * _squares - 1.5 * log(X) + _log_scale,
    draw=lambda generator, p, size: generator.wald(p["mean"], p["shape"], size),
    mean=lambda p: p["mean"],
    variance=lambda p: p["mean"] ** 3 / p["shape"],
    mode=_mode,
    quantile=_quantile,
)
