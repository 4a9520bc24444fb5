"""Half-normal: the size of a normal number, its sign forgotten.

    p(x) = exp(-precision x^2 / 2) / Z,      log Z = log(pi / 2) / 2 - log(precision) / 2

Here `sd` is that of the number with its sign, as the precision is.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import call, log
from platewright.algebra.domain import POSITIVE
from platewright.algebra.expression import Reference
from platewright.algebra.lazy import special
from platewright.family import Family, Parameter, X

_precision = Parameter("precision", POSITIVE)

HALF_NORMAL = Family(
    name="HalfNormal",
    parameters=(_precision,),
    domain=POSITIVE,
    statistics=(X**2,),
    natural=(-0.5 * _precision.symbol,),
    log_normaliser=0.5 * math.log(math.pi / 2) - 0.5 * log(_precision.symbol),
    spelled={
        "precision": {
            "sd": Reference("sd") ** -2,
            "variance": Reference("variance") ** -1,
            "precision": _precision.symbol,
        }
    },
    cumulative=2 * call("normal_cdf", X * _precision.symbol**0.5) - 1,
    draw=lambda generator, p, size: np.abs(generator.standard_normal(size)) / np.sqrt(p["precision"]),
    mean=lambda p: np.sqrt(2 / (np.pi * p["precision"])),
    variance=lambda p: (1 - 2 / np.pi) / p["precision"],
    mode=lambda p: np.zeros_like(p["precision"], dtype=float),
    quantile=lambda q, p: special.erfinv(q) * np.sqrt(2 / p["precision"]),
)
