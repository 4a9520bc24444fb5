"""Multivariate normal over a named axis.

    p(x) = exp(-(x - mean)' precision (x - mean) / 2) / Z,      log Z = d log(2 pi) / 2 - log det(precision) / 2

Its own conjugate prior for the mean; that of the precision is Wishart.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import inverse, log_determinant, quadratic, total
from platewright.algebra.domain import MATRIX, VECTOR
from platewright.algebra.expression import Reference, Size
from platewright.algebra.lazy import special
from platewright.family import EVENT, EVENT_TOO, X_VECTOR, Array, Family, Parameter, Values

_mean = Parameter("mean", VECTOR, rank=1)
_precision = Parameter("precision", MATRIX, rank=2)
_log_scale = 0.5 * log_determinant(_precision.symbol, EVENT, EVENT_TOO) - 0.5 * math.log(2 * math.pi) * Size("event")
_quadratic_in_mean = quadratic(_mean.symbol, _precision.symbol, EVENT, EVENT_TOO)


def _draw(generator: np.random.Generator, p: Values, size: tuple[int, ...]) -> Array:
    root = np.linalg.cholesky(p["precision"])
    noise = generator.standard_normal(size)
    # precision = L L', so L'^-1 z has covariance (L L')^-1
    return p["mean"] + np.linalg.solve(np.swapaxes(root, -1, -2), noise[..., None])[..., 0]


def _variance(p: Values) -> Array:
    return np.diagonal(np.linalg.inv(p["precision"]), axis1=-2, axis2=-1)


MULTIVARIATE_NORMAL = Family(
    name="MultivariateNormal",
    parameters=(_mean, _precision),
    domain=VECTOR,
    statistics=(X_VECTOR, X_VECTOR * Reference("x", (EVENT_TOO,))),
    natural=(total(_precision.symbol * Reference("mean", (EVENT_TOO,)), EVENT_TOO), -0.5 * _precision.symbol),
    log_normaliser=0.5 * _quadratic_in_mean - _log_scale,
    stable_log_density=-0.5 * quadratic(X_VECTOR - _mean.symbol, _precision.symbol, EVENT, EVENT_TOO) + _log_scale,
    rank=1,
    spelled={
        "precision": {
            "covariance": inverse(Reference("covariance", (EVENT, EVENT_TOO)), EVENT, EVENT_TOO, EVENT, EVENT_TOO),
            "precision": _precision.symbol,
        }
    },
    draw=_draw,
    mean=lambda p: p["mean"],
    variance=_variance,
    mode=lambda p: p["mean"],
    quantile=lambda q, p: p["mean"] + special.ndtri(q) * np.sqrt(_variance(p)),
)
