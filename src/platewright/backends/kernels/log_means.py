"""Means of numbers whose logarithms are at hand, and how far off they may be."""

from __future__ import annotations

import numpy as np

from platewright.family import Array


def log_mean(logs: Array) -> float:
    """The log of the mean of exponentials."""
    top = float(np.max(logs))
    if not np.isfinite(top):
        return top
    return top + float(np.log(np.mean(np.exp(logs - top))))


def error_of_independent(logs: Array) -> float:
    """The standard error of `log_mean` of independent draws."""
    weights = np.exp(logs - np.max(logs))
    return float(np.std(weights, ddof=1) / np.sqrt(len(weights)) / np.mean(weights))
