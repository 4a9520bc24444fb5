"""Arrays reduced along an axis as expressions are: the largest value, and the log of a sum of exponentials."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def largest(values: Array, axis: int) -> Array:
    """The largest value along an axis; minus infinity of none."""
    return np.asarray(np.max(np.asarray(values, dtype=float), axis=axis, initial=-np.inf))


def log_sum_exp(x: Array, axis: int) -> Array:
    """The log of a sum of exponentials along an axis."""
    top = np.max(x, axis=axis, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    found: Array = np.log(np.sum(np.exp(x - safe), axis=axis)) + np.squeeze(safe, axis)
    return found
