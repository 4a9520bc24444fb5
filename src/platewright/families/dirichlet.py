"""Dirichlet: unknown probabilities of categories.

    p(x) = prod_k x_k^(concentration_k - 1) / Z
    log Z = sum_k lgamma(concentration_k) - lgamma(sum_k concentration_k)

The conjugate prior of the probabilities of labels.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import lgamma, log, total
from platewright.algebra.domain import POSITIVE, SIMPLEX
from platewright.algebra.lazy import special
from platewright.family import EVENT, X_VECTOR, Array, Family, Parameter, Values, weight

_concentration = Parameter("concentration", POSITIVE, rank=1)


def _draw(generator: np.random.Generator, p: Values, size: tuple[int, ...]) -> Array:
    gammas = generator.standard_gamma(np.broadcast_to(p["concentration"], size))
    return gammas / gammas.sum(axis=-1, keepdims=True)


def _mean(p: Values) -> Array:
    return p["concentration"] / p["concentration"].sum(axis=-1, keepdims=True)


def _variance(p: Values) -> Array:
    mean = _mean(p)
    return mean * (1 - mean) / (1 + p["concentration"].sum(axis=-1, keepdims=True))


def _mode(p: Values) -> Array:
    """The peak; without one (no concentration above 1) the corner with most mass, and the centre if all are 1."""
    concentration = p["concentration"]
    excess = np.maximum(concentration - 1, 0)
    total = excess.sum(axis=-1, keepdims=True)
    if (total > 0).all():
        return excess / total
    largest = np.argmax(concentration, axis=-1)[..., None]
    corner = np.arange(concentration.shape[-1]) == largest
    is_flat = (concentration == 1).all(axis=-1, keepdims=True)
    ends = np.where(is_flat, 1 / concentration.shape[-1], corner)
    return np.where(total > 0, excess / np.where(total > 0, total, 1), ends)


def _quantile(q: Array, p: Values) -> Array:
    rest = p["concentration"].sum(axis=-1, keepdims=True) - p["concentration"]
    return special.betaincinv(p["concentration"], rest, q)


DIRICHLET = Family(
    name="Dirichlet",
    parameters=(_concentration,),
    domain=SIMPLEX,
    statistics=(log(X_VECTOR),),
    natural=(_concentration.symbol - 1,),
    log_normaliser=total(lgamma(_concentration.symbol), EVENT) - lgamma(total(_concentration.symbol, EVENT)),
    rank=1,
    from_natural={"concentration": weight(0, rank=1) + 1},
    draw=_draw,
    mean=_mean,
    variance=_variance,
    mode=_mode,
    quantile=_quantile,
)
