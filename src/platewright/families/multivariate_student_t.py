"""Multivariate Student t: what a multivariate normal becomes when the scale of its precision is integrated out.

    p(x) = (1 + (x - mean)' precision (x - mean) / degrees)^(-(degrees + d) / 2) / Z
    log Z = lgamma(degrees / 2) - lgamma((degrees + d) / 2) + d log(pi degrees) / 2 - log det(precision) / 2

A posterior marginal; the precision is the inverse of the scale matrix.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import call, lgamma, log, log_determinant, quadratic
from platewright.algebra.domain import MATRIX, POSITIVE, VECTOR
from platewright.algebra.expression import Size
from platewright.families.student_t import standard_t_quantile
from platewright.family import EVENT, EVENT_TOO, X_VECTOR, Array, Family, Parameter, Values

_degrees = Parameter("degrees", POSITIVE)
_mean = Parameter("mean", VECTOR, rank=1)
_precision = Parameter("precision", MATRIX, rank=2)
_d = Size("event")
_distance = quadratic(X_VECTOR - _mean.symbol, _precision.symbol, EVENT, EVENT_TOO)


def _draw(generator: np.random.Generator, p: Values, size: tuple[int, ...]) -> Array:
    root = np.linalg.cholesky(p["precision"])
    noise = np.linalg.solve(np.swapaxes(root, -1, -2), generator.standard_normal(size)[..., None])[..., 0]
    shrink = np.sqrt(generator.chisquare(p["degrees"], size[:-1]) / p["degrees"])
    return p["mean"] + noise / shrink[..., None]


def _squared_scale(p: Values) -> Array:
    return np.diagonal(np.linalg.inv(p["precision"]), axis1=-2, axis2=-1)


def _mean_value(p: Values) -> Array:
    return np.where(p["degrees"][..., None] > 1, p["mean"], np.nan)


def _variance(p: Values) -> Array:
    degrees = p["degrees"][..., None]
    inflation = np.where(degrees > 2, degrees / np.where(degrees > 2, degrees - 2, 1), np.inf)
    return np.where(degrees > 1, inflation, np.nan) * _squared_scale(p)


def _quantile(q: Array, p: Values) -> Array:
    return p["mean"] + standard_t_quantile(q, p["degrees"][..., None]) * np.sqrt(_squared_scale(p))


MULTIVARIATE_STUDENT_T = Family(
    name="MultivariateStudentT",
    parameters=(_degrees, _mean, _precision),
    domain=VECTOR,
    statistics=(),
    natural=(),
    base=-0.5 * (_degrees.symbol + _d) * call("log1p", _distance / _degrees.symbol),
    log_normaliser=lgamma(0.5 * _degrees.symbol)
    - lgamma(0.5 * (_degrees.symbol + _d))
    + 0.5 * _d * (math.log(math.pi) + log(_degrees.symbol))
    - 0.5 * log_determinant(_precision.symbol, EVENT, EVENT_TOO),
    rank=1,
    draw=_draw,
    mean=_mean_value,
    variance=_variance,
    mode=lambda p: p["mean"],
    quantile=_quantile,
)
