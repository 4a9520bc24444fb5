"""Quantiles of counts: the smallest whole number whose distribution function reaches q.

    inverse of the continued distribution function, say 3.0000000002      ->      3, since P(X <= 3) >= q > P(X <= 2)

The continued inverse is right to rounding only, so its neighbours decide.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from platewright.family import Array


def count_quantile(q: Array, near: Array, cdf: Callable[[Array], Array], lower: float, upper: Array | float) -> Array:
    """The smallest count from `lower` to `upper` with `cdf(count) >= q`, which lies within one of `ceil(near)`."""
    most = np.where(np.isfinite(upper), upper, np.finfo(float).max)
    guess = np.clip(np.ceil(np.nan_to_num(near, nan=lower)), lower, most)
    below = np.maximum(guess - 1, lower)
    guess = np.where(cdf(below) >= q, below, guess)
    guess = np.where(cdf(guess) < q, np.minimum(guess + 1, most), guess)
    return np.select([np.less_equal(q, 0), np.greater_equal(q, 1)], [lower, upper], guess)
