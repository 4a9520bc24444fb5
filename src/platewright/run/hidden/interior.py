"""Keep estimates a hair off the edge of their domain, where a density holds `0 log 0`.

A mode on the edge (a probability of exactly 0) makes terms such as `x log p` undefined at x = 0. Moving it by less than
rounding changes no sum over rows, and every term stays a number.
"""

from __future__ import annotations

import numpy as np

from platewright.family import Array
from platewright.language.variable import Variable

SMALLEST = 1e-300


def moved_inside(node: Variable, value: Array) -> Array:
    """The same value, or the nearest one that is not on the edge of the domain."""
    domain = node.domain
    moved: Array = value
    if domain.is_discrete or domain.kind not in ("real", "simplex"):
        return value
    if domain.kind == "simplex":
        moved = np.maximum(value, SMALLEST)
        return moved
    if np.isfinite(domain.lower):
        moved = np.maximum(moved, domain.lower + _hair(domain.lower))
    if np.isfinite(domain.upper):
        moved = np.minimum(moved, domain.upper - _hair(domain.upper))
    return moved


def _hair(edge: float) -> float:
    return abs(edge) * np.finfo(float).eps if edge else SMALLEST
