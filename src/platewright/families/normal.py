"""Normal: the sum of many small things.

    p(x) = exp(-precision (x - mean)^2 / 2) / Z,      log Z = log(2 pi) / 2 - log(precision) / 2

Its own conjugate prior for the mean; that of the precision is Gamma.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import call, log
from platewright.algebra.domain import POSITIVE, REAL
from platewright.algebra.expression import Reference
from platewright.algebra.lazy import special
from platewright.family import Family, Parameter, X, weight

_mean = Parameter("mean", REAL)
_precision = Parameter("precision", POSITIVE)
_log_scale = 0.5 * log(_precision.symbol) - 0.5 * math.log(2 * math.pi)

NORMAL = Family(
    name="Normal",
    parameters=(_mean, _precision),
    domain=REAL,
    statistics=(X, X**2),
    natural=(_precision.symbol * _mean.symbol, -0.5 * _precision.symbol),
    log_normaliser=0.5 * _precision.symbol * _mean.symbol**2 - _log_scale,
    stable_log_density=-0.5 * _precision.symbol * (X - _mean.symbol) ** 2 + _log_scale,
    spelled={
        "precision": {
            "sd": Reference("sd") ** -2,
            "variance": Reference("variance") ** -1,
            "precision": _precision.symbol,
        }
    },
    from_natural={"mean": weight(0) / (-2 * weight(1)), "precision": -2 * weight(1)},
    cumulative=call("normal_cdf", (X - _mean.symbol) * _precision.symbol**0.5),
    draw=lambda generator, p, size: p["mean"] + generator.standard_normal(size) / np.sqrt(p["precision"]),
    mean=lambda p: p["mean"],
    variance=lambda p: 1 / p["precision"],
    mode=lambda p: p["mean"],
    quantile=lambda q, p: p["mean"] + special.ndtri(q) / np.sqrt(p["precision"]),
)
