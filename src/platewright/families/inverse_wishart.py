"""Inverse Wishart: unknown covariance matrices; the inverse of S is Wishart with inverse scale `scale`.

    p(S) = |S|^(-(degrees + d + 1) / 2) exp(-trace(scale S^-1) / 2) / Z
    log Z = degrees d log(2) / 2 + log Gamma_d(degrees / 2) - degrees log|scale| / 2

It needs degrees > d - 1.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import call, inverse, log_determinant
from platewright.algebra.domain import MATRIX, POSITIVE
from platewright.algebra.expression import Size
from platewright.families.wishart import draw_wishart
from platewright.family import EVENT, EVENT_TOO, X_MATRIX, Array, Family, Parameter, Values, weight

_degrees = Parameter("degrees", POSITIVE)
_scale = Parameter("scale", MATRIX, rank=2)
_d = Size("event")


def _draw(generator: np.random.Generator, p: Values, size: tuple[int, ...]) -> Array:
    return np.linalg.inv(draw_wishart(generator, {"degrees": p["degrees"], "inverse_scale": p["scale"]}, size))


def _spare_degrees(p: Values) -> Array:
    """degrees - d, shaped to scale a matrix; moment k needs more than 2 k - 1 of them."""
    return (p["degrees"] - p["scale"].shape[-1])[..., None, None]


def _mean(p: Values) -> Array:
    spare = _spare_degrees(p)
    return np.where(spare > 1, p["scale"] / np.where(spare > 1, spare - 1, 1), np.nan)


def _variance(p: Values) -> Array:
    spare = np.where(_spare_degrees(p) > 3, _spare_degrees(p), np.nan)
    diagonal = np.diagonal(p["scale"], axis1=-2, axis2=-1)
    outer = diagonal[..., :, None] * diagonal[..., None, :]
    return ((spare + 1) * p["scale"] ** 2 + (spare - 1) * outer) / (spare * (spare - 1) ** 2 * (spare - 3))


def _mode(p: Values) -> Array:
    return p["scale"] / (p["degrees"] + p["scale"].shape[-1] + 1)[..., None, None]


INVERSE_WISHART = Family(
    name="InverseWishart",
    parameters=(_degrees, _scale),
    domain=MATRIX,
    statistics=(
        log_determinant(X_MATRIX, EVENT, EVENT_TOO),
        inverse(X_MATRIX, EVENT, EVENT_TOO, EVENT, EVENT_TOO),
    ),
    natural=(-0.5 * (_degrees.symbol + _d + 1), -0.5 * _scale.symbol),
    log_normaliser=0.5 * math.log(2.0) * _degrees.symbol * _d
    + call("multivariate_lgamma", 0.5 * _degrees.symbol, _d)
    - 0.5 * _degrees.symbol * log_determinant(_scale.symbol, EVENT, EVENT_TOO),
    rank=2,
    from_natural={"degrees": -2 * weight(0) - _d - 1, "scale": -2 * weight(1, rank=2)},
    draw=_draw,
    mean=_mean,
    variance=_variance,
    mode=_mode,
)
