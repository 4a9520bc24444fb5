"""Half-Cauchy: a scale that may be far larger than thought.

    p(x) = (1 + (x / scale)^2)^-1 / Z,      log Z = log(pi / 2) + log scale

It has no statistics of fixed size and no finite moments.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import call, log
from platewright.algebra.domain import POSITIVE
from platewright.family import Family, Parameter, X

_scale = Parameter("scale", POSITIVE)

HALF_CAUCHY = Family(
    name="HalfCauchy",
    parameters=(_scale,),
    domain=POSITIVE,
    statistics=(),
    natural=(),
    base=-call("log1p", (X / _scale.symbol) ** 2),
    log_normaliser=math.log(math.pi / 2) + log(_scale.symbol),
    cumulative=(2 / math.pi) * call("arctan2", X, _scale.symbol),
    draw=lambda generator, p, size: p["scale"] * np.abs(generator.standard_cauchy(size)),
    mean=lambda p: np.full_like(p["scale"], np.inf, dtype=float),
    variance=lambda p: np.full_like(p["scale"], np.inf, dtype=float),
    mode=lambda p: np.zeros_like(p["scale"], dtype=float),
    quantile=lambda q, p: p["scale"] * np.tan(0.5 * np.pi * q),
)
