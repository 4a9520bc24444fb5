"""Bernoulli: a coin.

    p(x) = exp(x log p + (1 - x) log(1 - p))

The conjugate prior of p is Beta.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import call, log
from platewright.algebra.domain import BINARY, UNIT
from platewright.algebra.expression import ZERO, Reference
from platewright.family import Family, Parameter, X

_p = Parameter("p", UNIT)

BERNOULLI = Family(
    name="Bernoulli",
    parameters=(_p,),
    domain=BINARY,
    statistics=(X, 1 - X),
    natural=(log(_p.symbol), log(1 - _p.symbol)),
    log_normaliser=ZERO,
    spelled={"p": {"p": _p.symbol, "logit": call("logistic", Reference("logit"))}},
    draw=lambda generator, p, size: (generator.random(size) < p["p"]).astype(np.int64),
    mean=lambda p: p["p"],
    variance=lambda p: p["p"] * (1 - p["p"]),
    mode=lambda p: (p["p"] > 0.5).astype(np.int64),
)
