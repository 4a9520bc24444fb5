"""Von Mises: directions around a mean direction.

    p(x) = exp(concentration cos(x - mean)) / Z,      log Z = log(2 pi) + log I0(concentration)

Its own conjugate prior for the mean. Mean and variance are circular: the direction of E exp(ix), and 1 - |E exp(ix)|.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import call
from platewright.algebra.domain import CIRCLE, POSITIVE
from platewright.algebra.lazy import special
from platewright.family import Family, Parameter, X, weight

_mean = Parameter("mean", CIRCLE)
_concentration = Parameter("concentration", POSITIVE)

VON_MISES = Family(
    name="VonMises",
    parameters=(_mean, _concentration),
    domain=CIRCLE,
    statistics=(call("cos", X), call("sin", X)),
    natural=(
        _concentration.symbol * call("cos", _mean.symbol),
        _concentration.symbol * call("sin", _mean.symbol),
    ),
    log_normaliser=math.log(2 * math.pi) + call("log_bessel0", _concentration.symbol),
    from_natural={
        "mean": call("arctan2", weight(1), weight(0)),
        "concentration": (weight(0) ** 2 + weight(1) ** 2) ** 0.5,
    },
    draw=lambda generator, p, size: generator.vonmises(p["mean"], p["concentration"], size),
    mean=lambda p: np.angle(np.exp(1j * p["mean"])),
    variance=lambda p: 1 - special.i1e(p["concentration"]) / special.i0e(p["concentration"]),
    mode=lambda p: np.angle(np.exp(1j * p["mean"])),
)
