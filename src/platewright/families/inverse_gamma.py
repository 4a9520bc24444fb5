"""Inverse gamma: an unknown variance; its inverse is Gamma(shape, rate=scale).

    p(x) = exp(-(shape + 1) log x - scale / x) / Z,      log Z = lgamma(shape) - shape log scale

As a conditional it is recognised through the Gamma of 1 / x.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import call, lgamma, log
from platewright.algebra.domain import POSITIVE
from platewright.algebra.lazy import special
from platewright.family import Array, Family, Parameter, Values, X

_shape = Parameter("shape", POSITIVE)
_scale = Parameter("scale", POSITIVE)


def _mean(p: Values) -> Array:
    return np.where(p["shape"] > 1, p["scale"] / np.where(p["shape"] > 1, p["shape"] - 1, 1), np.inf)


def _variance(p: Values) -> Array:
    shape = np.where(p["shape"] > 2, p["shape"], np.inf)
    finite = (p["scale"] / (shape - 1)) ** 2 / (shape - 2)
    return np.where(p["shape"] > 2, finite, np.inf)


INVERSE_GAMMA = Family(
    name="InverseGamma",
    parameters=(_shape, _scale),
    domain=POSITIVE,
    statistics=(log(X), X**-1),
    natural=(-_shape.symbol - 1, -_scale.symbol),
    log_normaliser=lgamma(_shape.symbol) - _shape.symbol * log(_scale.symbol),
    cumulative=1 - call("gamma_cdf", _shape.symbol, _scale.symbol / X),
    draw=lambda generator, p, size: p["scale"] / generator.standard_gamma(p["shape"], size),
    mean=_mean,
    variance=_variance,
    mode=lambda p: p["scale"] / (p["shape"] + 1),
    quantile=lambda q, p: p["scale"] / special.gammainccinv(p["shape"], q),
)
