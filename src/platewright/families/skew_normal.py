"""Skew normal: a normal that leans to one side.

    p(x) = exp(-z^2 / 2) Phi(shape z) / Z,      z = (x - location) / scale,      log Z = log(pi / 2) / 2 + log scale

It is location + scale (shape |u| + v) / sqrt(1 + shape^2) with u and v standard normal: normal at shape 0, half-normal
at infinite shape. `location` and `scale` are its mean and sd only where it does not lean.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import call, log
from platewright.algebra.domain import POSITIVE, REAL
from platewright.algebra.lazy import special
from platewright.family import Array, Family, Parameter, Values, X

_location = Parameter("location", REAL)
_scale = Parameter("scale", POSITIVE)
_shape = Parameter("shape", REAL)
_z = (X - _location.symbol) / _scale.symbol


def _lean(p: Values) -> Array:
    """The share of the folded normal: shape / sqrt(1 + shape^2)."""
    return p["shape"] / np.hypot(1.0, p["shape"])


def _draw(generator: np.random.Generator, p: Values, size: tuple[int, ...]) -> Array:
    folded = np.abs(generator.standard_normal(size))
    z = _lean(p) * folded + generator.standard_normal(size) / np.hypot(1.0, p["shape"])
    return p["location"] + p["scale"] * z


def _mode(p: Values) -> Array:
    """Where z = shape phi(shape z) / Phi(shape z), by halving: the log density is concave and peaks at |z| < 1."""
    steepness = np.abs(p["shape"])
    low, high = np.zeros_like(steepness, dtype=float), np.ones_like(steepness, dtype=float)
    for _ in range(60):
        middle = 0.5 * (low + high)
        t = steepness * middle
        pull = steepness * np.exp(-0.5 * t**2 - 0.5 * math.log(2 * math.pi) - special.log_ndtr(t))
        low, high = np.where(middle < pull, middle, low), np.where(middle < pull, high, middle)
    return p["location"] + p["scale"] * np.sign(p["shape"]) * low


SKEW_NORMAL = Family(
    name="SkewNormal",
    parameters=(_location, _scale, _shape),
    domain=REAL,
    statistics=(),
    natural=(),
    base=-0.5 * _z**2 + call("log_normal_cdf", _shape.symbol * _z),
    log_normaliser=0.5 * math.log(math.pi / 2) + log(_scale.symbol),
    draw=_draw,
    mean=lambda p: p["location"] + p["scale"] * _lean(p) * math.sqrt(2 / math.pi),
    variance=lambda p: p["scale"] ** 2 * (1 - 2 / math.pi * _lean(p) ** 2),
    mode=_mode,
)
