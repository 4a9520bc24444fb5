"""Half-Student t: a scale whose tail is as long as its degrees of freedom allow.

    p(x) = (1 + (x / scale)^2 / degrees)^(-(degrees + 1) / 2) / Z,      x > 0
    log Z = lgamma(degrees / 2) - lgamma((degrees + 1) / 2) + log(pi degrees) / 2 - log 2 + log scale

It is the size of a Student t about zero: half-Cauchy at one degree, half-normal at infinitely many. With z = x / scale,
z^2 / (z^2 + degrees) is Beta(1 / 2, degrees / 2), which gives the probabilities.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import call, lgamma, log
from platewright.algebra.domain import POSITIVE
from platewright.algebra.lazy import special
from platewright.family import Array, Family, Parameter, Values, X

_degrees = Parameter("degrees", POSITIVE)
_scale = Parameter("scale", POSITIVE)
_square = (X / _scale.symbol) ** 2


def _mean(p: Values) -> Array:
    degrees = np.where(p["degrees"] > 1, p["degrees"], np.nan)
    logs = special.gammaln(0.5 * (degrees + 1)) - special.gammaln(0.5 * degrees)
    mean = 2 * p["scale"] * np.sqrt(degrees / np.pi) * np.exp(logs) / (degrees - 1)
    return np.where(p["degrees"] > 1, mean, np.inf)


def _variance(p: Values) -> Array:
    degrees = np.where(p["degrees"] > 2, p["degrees"], np.nan)
    variance = p["scale"] ** 2 * degrees / (degrees - 2) - _mean(p) ** 2
    return np.where(p["degrees"] > 2, variance, np.inf)


def _quantile(q: Array, p: Values) -> Array:
    """From the share z^2 / (z^2 + degrees) and from its complement, so that neither end loses digits."""
    near = special.betaincinv(0.5, 0.5 * p["degrees"], q)
    far = special.betainccinv(0.5 * p["degrees"], 0.5, q)
    with np.errstate(divide="ignore"):
        return p["scale"] * np.sqrt(p["degrees"] * near / far)


HALF_STUDENT_T = Family(
    name="HalfStudentT",
    parameters=(_degrees, _scale),
    domain=POSITIVE,
    statistics=(),
    natural=(),
    base=-0.5 * (_degrees.symbol + 1) * call("log1p", _square / _degrees.symbol),
    log_normaliser=lgamma(0.5 * _degrees.symbol)
    - lgamma(0.5 * (_degrees.symbol + 1))
    + 0.5 * (math.log(math.pi) + log(_degrees.symbol))
    - math.log(2)
    + log(_scale.symbol),
    cumulative=call("beta_cdf", 0.5, 0.5 * _degrees.symbol, _square / (_square + _degrees.symbol)),
    draw=lambda generator, p, size: p["scale"] * np.abs(generator.standard_t(p["degrees"], size)),
    mean=_mean,
    variance=_variance,
    mode=lambda p: np.zeros_like(p["degrees"] * p["scale"], dtype=float),
    quantile=_quantile,
)
