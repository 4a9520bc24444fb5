"""Log-normal: the product of many small factors; log x is Normal(mean, precision).

    p(x) = exp(-precision (log x - mean)^2 / 2) / (x Z),      log Z = log(2 pi) / 2 - log(precision) / 2

Mean, sd, variance and precision are those of log x.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import call, log
from platewright.algebra.domain import POSITIVE, REAL
from platewright.algebra.expression import Reference
from platewright.algebra.lazy import special
from platewright.family import Family, Parameter, X

_mean = Parameter("mean", REAL)
_precision = Parameter("precision", POSITIVE)
_log_scale = 0.5 * log(_precision.symbol) - 0.5 * math.log(2 * math.pi)

LOG_NORMAL = Family(
    name="LogNormal",
    parameters=(_mean, _precision),
    domain=POSITIVE,
    statistics=(log(X), log(X) ** 2),
    natural=(_precision.symbol * _mean.symbol, -0.5 * _precision.symbol),
    base=-log(X),
    log_normaliser=0.5 * _precision.symbol * _mean.symbol**2 - _log_scale,
    stable_log_density=-0.5 * _precision.symbol * (log(X) - _mean.symbol) ** 2 - log(X) + _log_scale,
    spelled={
        "precision": {
            "sd": Reference("sd") ** -2,
            "variance": Reference("variance") ** -1,
            "precision": _precision.symbol,
        }
    },
    cumulative=call("normal_cdf", (log(X) - _mean.symbol) * _precision.symbol**0.5),
    draw=lambda generator, p, size: np.exp(p["mean"] + generator.standard_normal(size) / np.sqrt(p["precision"])),
    mean=lambda p: np.exp(p["mean"] + 0.5 / p["precision"]),
    variance=lambda p: np.expm1(1 / p["precision"]) * np.exp(2 * p["mean"] + 1 / p["precision"]),
    mode=lambda p: np.exp(p["mean"] - 1 / p["precision"]),
    quantile=lambda q, p: np.exp(p["mean"] + special.ndtri(q) / np.sqrt(p["precision"])),
)
