"""Categorical: one of several labels.

    p(x) = probabilities_x            (Comment 4.1: an extended case statement in x)

The conjugate prior of the probabilities is Dirichlet.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import log, log_sum_exp
from platewright.algebra.domain import Domain
from platewright.algebra.expression import ZERO, Reference
from platewright.family import EVENT, EVENT_TOO, Array, Family, Parameter, Values, X

_log_probabilities = Parameter("log_probabilities", rank=1)
_logits = Reference("logits", (EVENT,))


def _draw(generator: np.random.Generator, p: Values, size: tuple[int, ...]) -> Array:
    cumulative = np.cumsum(np.exp(p["log_probabilities"]), axis=-1)
    uniform = generator.random(size) * cumulative[..., -1]
    return (uniform[..., None] >= cumulative).sum(axis=-1)


CATEGORICAL = Family(
    name="Categorical",
    parameters=(_log_probabilities,),
    domain=Domain("levels", levels="event"),
    statistics=(),
    natural=(),
    base=Reference("log_probabilities", (X,)),
    log_normaliser=ZERO,
    spelled={
        "log_probabilities": {
            "probabilities": log(Reference("probabilities", (EVENT,))),
            "logits": _logits - log_sum_exp(Reference("logits", (EVENT_TOO,)), EVENT_TOO),
        }
    },
    draw=_draw,
    mode=lambda p: np.argmax(p["log_probabilities"], axis=-1),
)
