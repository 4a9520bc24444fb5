"""Chi-square: the sum of squares of `degrees` standard normal numbers.

    p(x) = x^(degrees / 2 - 1) exp(-x / 2) / Z,      log Z = degrees log(2) / 2 + lgamma(degrees / 2)

As a conditional it is recognised as the Gamma that it is.
"""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.build import call, lgamma, log
from platewright.algebra.domain import POSITIVE
from platewright.algebra.lazy import special
from platewright.family import Family, Parameter, X

_degrees = Parameter("degrees", POSITIVE)

CHI_SQUARE = Family(
    name="ChiSquare",
    parameters=(_degrees,),
    domain=POSITIVE,
    statistics=(log(X),),
    natural=(0.5 * _degrees.symbol - 1,),
    base=-0.5 * X,
    log_normaliser=0.5 * math.log(2) * _degrees.symbol + lgamma(0.5 * _degrees.symbol),
    cumulative=call("gamma_cdf", 0.5 * _degrees.symbol, 0.5 * X),
    draw=lambda generator, p, size: generator.chisquare(p["degrees"], size),
    mean=lambda p: p["degrees"],
    variance=lambda p: 2 * p["degrees"],
    mode=lambda p: np.maximum(p["degrees"] - 2, 0),
    quantile=lambda q, p: 2 * special.gammaincinv(p["degrees"] / 2, q),
)
