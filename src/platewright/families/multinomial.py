"""Multinomial: how often each label comes up in `count` draws.

    p(x) = count! prod_k probabilities_k^x_k / x_k!,      x_k = 0, 1, ... with sum count

Each element alone is Binomial.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import lgamma, log, log_sum_exp, total
from platewright.algebra.domain import NATURAL
from platewright.algebra.expression import ZERO, Reference
from platewright.families.binomial import binomial_quantile
from platewright.family import EVENT, EVENT_TOO, X_VECTOR, Array, Family, Parameter, Values

_count = Parameter("count", NATURAL)
_log_probabilities = Parameter("log_probabilities", rank=1)
_logits = Reference("logits", (EVENT,))


def _draw(generator: np.random.Generator, p: Values, size: tuple[int, ...]) -> Array:
    probabilities = np.exp(p["log_probabilities"])
    # Rounding may leave a sum just above 1, which NumPy refuses.
    probabilities = probabilities / probabilities.sum(axis=-1, keepdims=True)
    return generator.multinomial(p["count"].astype(np.int64), probabilities, size[:-1])


def _variance(p: Values) -> Array:
    probabilities = np.exp(p["log_probabilities"])
    return p["count"][..., None] * probabilities * (1 - probabilities)


def _quantile(q: Array, p: Values) -> Array:
    return binomial_quantile(q, {"count": p["count"][..., None], "p": np.exp(p["log_probabilities"])})


MULTINOMIAL = Family(
    name="Multinomial",
    parameters=(_count, _log_probabilities),
    domain=NATURAL,
    statistics=(X_VECTOR,),
    natural=(_log_probabilities.symbol,),
    base=lgamma(_count.symbol + 1) - total(lgamma(X_VECTOR + 1), EVENT),
    log_normaliser=ZERO,
    rank=1,
    spelled={
        "log_probabilities": {
            "probabilities": log(Reference("probabilities", (EVENT,))),
            "logits": _logits - log_sum_exp(Reference("logits", (EVENT_TOO,)), EVENT_TOO),
        }
    },
    draw=_draw,
    mean=lambda p: p["count"][..., None] * np.exp(p["log_probabilities"]),
    variance=_variance,
    quantile=_quantile,
)
