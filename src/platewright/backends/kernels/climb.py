"""A start from which paths can be followed: climb by Newton's steps until the top is as near as draws are to it.

    direction = inverse(precision) gradient        gain = gradient' direction / 2

Draws of n coordinates lie about n/2 below the top, so a climb ends where no more than that is left to gain; higher up
there is nothing to sample. Scales are held where they are: with what they scale they would run to a point.
"""

from __future__ import annotations

import numpy as np

from platewright.backends.kernels.curvature import Bends, Split, bends_at, curvature_from
from platewright.backends.kernels.density import Density
from platewright.family import Array

MOST_CLIMBS = 40
MOST_LENGTHS = 40


def climbed(density: Density, u: Array, held: Array, split: Split, generator: np.random.Generator) -> Array:
    """Coordinates of higher density: first those of the trunk alone, for leaves would give way first, then all.

    Those `held` stay, and all stay where nothing is known of the density.
    """
    leaves = np.isin(np.arange(len(u)), split.order[: split.leaves])
    for stay in (held | leaves, held):
        u = _climbed(density, u, stay, split, generator)
    return u


def _climbed(density: Density, u: Array, stay: Array, split: Split, generator: np.random.Generator) -> Array:
    height, gradient = density.with_gradient(u)
    free = int((~stay).sum())
    if not free or not np.isfinite(height):
        return u
    stiff = 0.0
    for _ in range(MOST_CLIMBS):
        bends, size = _moderate(bends_at(density, u, split, generator))
        curvature = curvature_from(bends, split, np.zeros(len(u)))
        slope = np.where(stay, 0.0, gradient)
        for _ in range(MOST_LENGTHS):  # where the density is flat a step by its curvature alone leads anywhere
            metric = curvature.metric(stiff + 1e12 * stay)
            direction = np.where(stay, 0.0, metric.along(metric.back(slope / size)))
            rise = float(slope @ direction)
            if not np.isfinite(rise) or (stiff == 0.0 and rise <= free):
                return u
            length = _length(density, u, direction, height, rise)
            if length > 0.0:
                break
            stiff = max(8 * stiff, 1e-3)
        else:
            return u
        u = u + length * direction
        height, gradient = density.with_gradient(u)
        stiff = stiff / 64 if stiff > 1e-2 else 0.0
    return u


def _moderate(bends: Bends) -> tuple[Bends, float]:
    """At a wild start second derivatives may be beyond all bounds: a part of them, and what part it is."""
    most = max(float(np.abs(part).max(initial=0.0)) for part in (bends.leaves, bends.across, bends.trunk))
    size = max(1.0, most / 1e9)
    return Bends(bends.leaves / size, bends.across / size, bends.trunk / size), size


def _length(density: Density, u: Array, direction: Array, height: float, rise: float) -> float:
    """How far to go: nowhere, as far as the direction says, or twice as far as long as that leads up."""
    length, found = 1.0, density.log_density(u + direction)
    if not found > height + 1e-4 * rise:
        return 0.0
    for _ in range(MOST_LENGTHS):
        further = density.log_density(u + 2 * length * direction)
        if not further > found:
            break
        length, found = 2 * length, further
    return length
