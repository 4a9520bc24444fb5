"""`log Gamma` of few numbers without SciPy, whose import takes longer than all that a small problem needs."""

from __future__ import annotations

import math

import numpy as np

from platewright.algebra.lazy import special

FEW = 32


def lgamma(x: np.ndarray) -> np.ndarray:
    """By the standard library for few positive numbers, else by SciPy; which of them depends on the numbers only."""
    given = np.asarray(x, dtype=float)
    if given.size > FEW or not (given > 0).all():
        return np.asarray(special.gammaln(given))
    return np.reshape([math.lgamma(one) for one in given.ravel().tolist()], given.shape)
