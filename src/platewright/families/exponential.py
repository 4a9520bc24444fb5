"""Exponential: waiting times without memory.

    p(x) = exp(-rate x) / Z,      log Z = -log rate

As a conditional it is recognised as a Gamma of shape 1.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import exp, log
from platewright.algebra.domain import POSITIVE
from platewright.algebra.expression import Reference
from platewright.family import Family, Parameter, X

_rate = Parameter("rate", POSITIVE)

EXPONENTIAL = Family(
    name="Exponential",
    parameters=(_rate,),
    domain=POSITIVE,
    statistics=(X,),
    natural=(-_rate.symbol,),
    log_normaliser=-log(_rate.symbol),
    spelled={"rate": {"rate": _rate.symbol, "scale": Reference("scale") ** -1}},
    cumulative=1 - exp(-_rate.symbol * X),
    draw=lambda generator, p, size: generator.standard_exponential(size) / p["rate"],
    mean=lambda p: 1 / p["rate"],
    variance=lambda p: p["rate"] ** -2.0,
    mode=lambda p: np.zeros_like(p["rate"], dtype=float),
    quantile=lambda q, p: -np.log1p(-q) / p["rate"],
    tail=lambda log_share, p: -log_share / p["rate"],
)
