"""Logistic-normal: a proportion whose logit, log x - log(1 - x), is Normal(mean, precision).

    p(x) = exp(-precision (logit x - mean)^2 / 2) / (x (1 - x) Z),      log Z = log(2 pi) / 2 - log(precision) / 2

Mean, sd, variance and precision are those of logit x.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import log
from platewright.algebra.domain import POSITIVE, REAL, UNIT
from platewright.algebra.expression import Reference
from platewright.algebra.lazy import special
from platewright.family import Array, Family, Parameter, Values, X

_mean = Parameter("mean", REAL)
_precision = Parameter("precision", POSITIVE)
_log_scale = 0.5 * log(_precision.symbol) - 0.5 * math.log(2 * math.pi)
_logit = log(X) - log(1 - X)

# The moments have no closed form; the trapezoid rule on a normal weight is exact to rounding for sd up to 10.
_NODES = np.linspace(-9, 9, 361)
_WEIGHTS = np.exp(-0.5 * _NODES**2) / np.exp(-0.5 * _NODES**2).sum()


def _at_nodes(p: Values) -> Array:
    mean, precision = np.asarray(p["mean"]), np.asarray(p["precision"])
    return special.expit(mean[..., None] + _NODES / np.sqrt(precision)[..., None])


def _variance(p: Values) -> Array:
    values = _at_nodes(p)
    return (values - (values @ _WEIGHTS)[..., None]) ** 2 @ _WEIGHTS


def _draw(generator: np.random.Generator, p: Values, size: tuple[int, ...]) -> Array:
    return special.expit(p["mean"] + generator.standard_normal(size) / np.sqrt(p["precision"]))


LOGISTIC_NORMAL = Family(
    name="LogisticNormal",
    parameters=(_mean, _precision),
    domain=UNIT,
    statistics=(_logit, _logit**2),
    natural=(_precision.symbol * _mean.symbol, -0.5 * _precision.symbol),
    base=-log(X) - log(1 - X),
    log_normaliser=0.5 * _precision.symbol * _mean.symbol**2 - _log_scale,
    stable_log_density=-0.5 * _precision.symbol * (_logit - _mean.symbol) ** 2 - log(X) - log(1 - X) + _log_scale,
    spelled={
        "precision": {
            "sd": Reference("sd") ** -2,
            "variance": Reference("variance") ** -1,
            "precision": _precision.symbol,
        }
    },
    draw=_draw,
    mean=lambda p: _at_nodes(p) @ _WEIGHTS,
    variance=_variance,
    quantile=lambda q, p: special.expit(p["mean"] + special.ndtri(q) / np.sqrt(p["precision"])),
)
