"""Pareto: sizes without a typical size, from `scale` upwards.

    p(x) = exp(-(shape + 1) log x) / Z,      log Z = -log shape - shape log scale,      x >= scale

The conjugate prior of the end of a Uniform; its scale is the bound under which the conditional vanishes, `lower`.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import exp, log
from platewright.algebra.domain import POSITIVE
from platewright.algebra.expression import Reference
from platewright.family import Array, Family, Parameter, Values, X, weight

_shape = Parameter("shape", POSITIVE)
_scale = Parameter("scale", POSITIVE)


def _mean(p: Values) -> Array:
    shape = np.where(p["shape"] > 1, p["shape"], np.inf)
    return np.where(p["shape"] > 1, p["scale"] / (1 - 1 / shape), np.inf)


def _variance(p: Values) -> Array:
    shape = np.where(p["shape"] > 2, p["shape"], 3)
    return np.where(p["shape"] > 2, p["scale"] ** 2 * shape / ((shape - 1) ** 2 * (shape - 2)), np.inf)


PARETO = Family(
    name="Pareto",
    parameters=(_shape, _scale),
    domain=POSITIVE,
    statistics=(log(X),),
    natural=(-_shape.symbol - 1,),
    log_normaliser=-log(_shape.symbol) - _shape.symbol * log(_scale.symbol),
    lower=_scale.symbol,
    from_natural={"shape": -weight(0) - 1, "scale": Reference("lower")},
    cumulative=1 - exp(_shape.symbol * (log(_scale.symbol) - log(X))),
    draw=lambda generator, p, size: p["scale"] * np.exp(generator.standard_exponential(size) / p["shape"]),
    mean=_mean,
    variance=_variance,
    mode=lambda p: p["scale"],
    quantile=lambda q, p: p["scale"] * np.exp(-np.log1p(-q) / p["shape"]),
)
