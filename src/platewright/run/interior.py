"""Keep estimates a hair off the edge of their domain, where a density holds `0 log 0`, and find those that ran away.

A mode on the edge (a probability of exactly 0) makes terms such as `x log p` undefined at x = 0. Moving it by less than
rounding changes no sum over rows, and every term stays a number.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.family import Array
from platewright.language.variable import Variable

SMALLEST = 1e-300
NEXT_TO_ONE = 1.0 - 2.0**-53
STEEPEST = 23.0
"""How far the log density of a row may rise above its start, per number in the row: the scale fell by 1e-10."""


def moved_inside(node: Variable, value: Array) -> Array:
    """The same value, or the nearest one that is not on the edge of the domain."""
    domain = node.domain
    if domain.is_discrete or domain.kind not in ("real", "simplex"):
        return value
    if domain.kind == "simplex":
        return np.maximum(value, SMALLEST)
    if np.isfinite(domain.lower):
        step = SMALLEST if domain.lower == 0 else abs(domain.lower) * 2.0**-52
        value = np.maximum(value, domain.lower + step)
    if np.isfinite(domain.upper):
        value = np.minimum(value, domain.upper - abs(domain.upper) * 2.0**-53)
    return value


def has_run_away(values: Mapping[str, Array]) -> str:
    """The first estimate that is not a finite number, or nothing."""
    return next((name for name, value in values.items() if not np.isfinite(value).all()), "")
