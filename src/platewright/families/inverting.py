"""Invert a cumulative distribution between bounds, in the tail that keeps its digits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from platewright.family import Array

LEAST_MASS = 1e-9
"""The share of a family between bounds below which inverting F loses too many digits."""


def between(
    cumulative: Callable[[Array], Array],
    quantile: Callable[[Array], Array],
    lower: Array,
    upper: Array,
    share: Array,
    centre: Array | None = None,
) -> tuple[Array, Array]:
    """The point that leaves `share` of the mass between the bounds below it, and where it can be trusted."""
    low, high, part = (np.asarray(value, dtype=float) for value in np.broadcast_arrays(lower, upper, share))
    turned = np.zeros(np.shape(part), dtype=bool)
    if centre is not None:  # symmetric about it: work in the lower tail, which keeps its digits
        turned = low > centre
        low, high = np.where(turned, 2 * centre - high, low), np.where(turned, 2 * centre - low, high)
        part = np.where(turned, 1 - part, part)
    with np.errstate(all="ignore"):
        at_low, at_high = cumulative(low), cumulative(high)
        found = quantile(at_low + part * (at_high - at_low))
    sure = np.isfinite(found) & (at_high - at_low > LEAST_MASS * np.maximum(at_high, 1e-290))
    sure &= (at_high < 1) | (at_high - at_low > LEAST_MASS)
    found = np.clip(np.where(np.isfinite(found), found, np.where(np.isfinite(low), low, high)), low, high)
    return (found if centre is None else np.where(turned, 2 * centre - found, found)), sure


def within_ends(cumulative: Callable[[Array], Array], x: Array, lower: float, upper: float) -> Array:
    """A cumulative distribution, with 0 and 1 at and beyond the ends of its domain."""
    inside = (x > lower) & (x < upper)
    return np.where(inside, cumulative(np.where(inside, x, np.nan)), np.where(x <= lower, 0.0, 1.0))
