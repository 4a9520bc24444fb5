"""The log density of a few numbers over coordinates without ends: logs of positive ones, logits of shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from platewright.algebra.lazy import special
from platewright.family import Array

FARTHEST = 300.0
"""Logs and logits beyond which numbers of the machine end."""
FARTHEST_OPEN = 1e16
"""Plain numbers beyond which nobody looks."""
FALLEN = {1: 30.0, 2: 20.0, 3: 16.0}
"""Points so much below the top, in logs, are left out; 11 where there are more numbers."""

Ends = Sequence[tuple[float, float]]
Density = Callable[[Array], Array]


MOST_COPIED = 1 << 20
"""Numbers in the copies of the data that points are given at once."""


def portion(numbers: int) -> int:
    """How many points are worked on at once, where each has a copy of so many numbers."""
    return max(1, MOST_COPIED // max(numbers, 64))


class Unsettled(ArithmeticError):
    """The sum does not settle."""


class TooMany(Unsettled):
    """It would take more points than there may be."""


class Endless(Unsettled):
    """The density does not fall, as far as was looked."""


class Density_of:
    """The log density over coordinates without ends, and how many points were asked for."""

    def __init__(self, log_density: Density, ends: Ends) -> None:
        self.log_density, self.ends, self.points = log_density, ends, 0

    def __call__(self, u: Array) -> Array:
        self.points += len(u)
        values, volume = at_coordinates(u, self.ends)
        with np.errstate(all="ignore"):
            found = found_apart(self.log_density, values) + volume
        return np.where(np.isfinite(found) & np.isfinite(values).all(axis=1), found, -np.inf)


def found_apart(log_density: Density, values: Array) -> Array:
    """The log density at points; where a matrix at one of them is not positive, that one alone is minus infinity."""
    try:
        return log_density(values)
    except np.linalg.LinAlgError:
        if len(values) == 1:
            return np.array([-np.inf])
    half = len(values) // 2
    return np.concatenate([found_apart(log_density, part) for part in (values[:half], values[half:])])


def at_coordinates(u: Array, ends: Ends) -> tuple[Array, Array]:
    """The numbers at coordinates, one column each, and the log of the volume factor."""
    found, volume = np.array(u, dtype=float), np.zeros(len(u))
    with np.errstate(all="ignore"):
        for k, (low, high) in enumerate(ends):
            at = u[:, k]
            if np.isfinite(low) and np.isfinite(high):
                found[:, k] = low + (high - low) * special.expit(at)
                volume += special.log_expit(at) + special.log_expit(-at) + np.log(high - low)
            elif np.isfinite(low):
                found[:, k] = low + np.exp(at)
                volume += at
            elif np.isfinite(high):
                found[:, k] = high - np.exp(at)
                volume += at
    return found, volume


def coordinates_of(values: Array, ends: Ends) -> Array:
    """The coordinates of numbers, one column each."""
    found = np.array(values, dtype=float)
    with np.errstate(all="ignore"):
        for k, (low, high) in enumerate(ends):
            x = found[:, k]
            if np.isfinite(low) and np.isfinite(high):
                found[:, k] = special.logit((x - low) / (high - low))
            elif np.isfinite(low):
                found[:, k] = np.log(x - low)
            elif np.isfinite(high):
                found[:, k] = np.log(high - x)
    return found


def fallen(count: int) -> float:
    """How far below the top points are left out."""
    return FALLEN.get(count, 11.0)


def is_open(ends: Ends) -> Array:
    """Which numbers have no ends: their scale may be any."""
    return np.array([not np.isfinite(low) and not np.isfinite(high) for low, high in ends])


def limits(ends: Ends) -> Array:
    """The coordinates beyond which numbers end."""
    return np.where(is_open(ends), FARTHEST_OPEN, FARTHEST)
