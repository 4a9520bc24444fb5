"""Wishart: unknown precision matrices.

    p(S) = |S|^((degrees - d - 1) / 2) exp(-trace(inverse_scale S) / 2) / Z
    log Z = degrees d log(2) / 2 + log Gamma_d(degrees / 2) - degrees log|inverse_scale| / 2      (Table 2, corrected)

It needs degrees > d - 1. The conjugate prior of the precision of a multivariate normal.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import call, inverse, log_determinant
from platewright.algebra.domain import MATRIX, POSITIVE
from platewright.algebra.expression import Reference, Size
from platewright.family import EVENT, EVENT_TOO, X_MATRIX, Array, Family, Parameter, Values, weight

_degrees = Parameter("degrees", POSITIVE)
_inverse_scale = Parameter("inverse_scale", MATRIX, rank=2)
_d = Size("event")


def draw_wishart(generator: np.random.Generator, p: Values, size: tuple[int, ...]) -> Array:
    """Bartlett: S = L A A' L' with L L' the scale and A lower triangular of chi and normal draws."""
    d = size[-1]
    degrees = np.broadcast_to(p["degrees"], size[:-2])
    root = np.linalg.cholesky(np.linalg.inv(p["inverse_scale"]))
    factor = np.tril(generator.standard_normal(size), -1)
    for j in range(d):
        factor[..., j, j] = np.sqrt(2 * generator.standard_gamma((degrees - j) / 2))
    half = root @ factor
    return half @ np.swapaxes(half, -1, -2)


def _mean(p: Values) -> Array:
    return p["degrees"][..., None, None] * np.linalg.inv(p["inverse_scale"])


def _variance(p: Values) -> Array:
    scale = np.linalg.inv(p["inverse_scale"])
    diagonal = np.diagonal(scale, axis1=-2, axis2=-1)
    return p["degrees"][..., None, None] * (scale**2 + diagonal[..., :, None] * diagonal[..., None, :])


def _mode(p: Values) -> Array:
    d = p["inverse_scale"].shape[-1]
    return np.maximum(p["degrees"] - d - 1, 0)[..., None, None] * np.linalg.inv(p["inverse_scale"])


WISHART = Family(
    name="Wishart",
    parameters=(_degrees, _inverse_scale),
    domain=MATRIX,
    statistics=(log_determinant(X_MATRIX, EVENT, EVENT_TOO), X_MATRIX),
    natural=((_degrees.symbol - _d - 1) / 2, -0.5 * _inverse_scale.symbol),
    log_normaliser=0.5 * math.log(2.0) * _degrees.symbol * _d
    + call("multivariate_lgamma", 0.5 * _degrees.symbol, _d)
    - 0.5 * _degrees.symbol * log_determinant(_inverse_scale.symbol, EVENT, EVENT_TOO),
    rank=2,
    spelled={
        "inverse_scale": {
            "scale": inverse(Reference("scale", (EVENT, EVENT_TOO)), EVENT, EVENT_TOO, EVENT, EVENT_TOO),
            "inverse_scale": _inverse_scale.symbol,
        }
    },
    from_natural={"degrees": 2 * weight(0) + _d + 1, "inverse_scale": -2 * weight(1, rank=2)},
    draw=draw_wishart,
    mean=_mean,
    variance=_variance,
    mode=_mode,
)
