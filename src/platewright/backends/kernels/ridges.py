"""Climb where slopes end: along ridges of absolute values and largest terms, by slopes gathered around a place.

    direction = the shortest sum_k w_k slope_k,   w_k >= 0, sum_k w_k = 1,   slope_k at places within a radius

On a ridge the slopes on both sides point at each other, and no single one leads up; their shortest mixture does, or it
is all but nought, and then the radius shrinks. (Gradient sampling: Burke, Lewis and Overton.)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from platewright.family import Array

FIRST_RADIUS = 0.1
"""The first radius around a place, in units of each coordinate or of one."""
NARROWEST = 1e-9
SHRUNK = 0.1
MOST_MOVES = 400
MOST_SHORTENED = 30
LEVEL = 1e-6
"""A mixture of slopes that promises so little, in log units over a radius of one, leads nowhere."""

Look = Callable[[Array], tuple[float, Array]]
"""Height and slope at coordinates."""


def along_ridges(look: Look, u: Array, height: float, slope: Array) -> Array:
    """Coordinates that are as high as ridges lead from a place where no slope led up any more."""
    generator = np.random.default_rng(0)
    units = np.maximum(1.0, np.abs(u))
    radius = FIRST_RADIUS
    for _ in range(MOST_MOVES):
        around = units * radius * generator.uniform(-1.0, 1.0, (2 * len(u), len(u)))
        slopes = np.array([slope, *(look(u + step)[1] for step in around)]) * units
        direction = shortest(slopes[np.isfinite(slopes).all(axis=1)])
        rise = float(direction @ direction)
        if rise > LEVEL**2:
            step, ahead = gone_along(look, u, units * direction / np.sqrt(rise), height, np.sqrt(rise), radius)
            if step > 0.0:
                u, (height, slope) = u + step * units * direction / np.sqrt(rise), ahead
                continue
        radius *= SHRUNK
        if radius < NARROWEST:
            break
    return u


def gone_along(
    look: Look, u: Array, way: Array, height: float, rise: float, radius: float
) -> tuple[float, tuple[float, Array]]:
    """The length of a step along a way that rises as it promises, doubled while that gains; nought if there is none."""
    length, best = radius, (0.0, (height, way))
    for _ in range(MOST_SHORTENED):
        ahead = look(u + length * way)
        if np.isfinite(ahead[0]) and ahead[0] > max(height + 1e-4 * length * rise, best[1][0]):
            best, length = (length, ahead), 2 * length
        elif best[0] > 0.0 or length < 1e-3 * radius:
            break
        else:
            length /= 2
    return best


def shortest(slopes: Array) -> Array:
    """The shortest mixture of some slopes: nonnegative least squares, with a row for weights that add up to one."""
    if not len(slopes):
        return np.zeros(slopes.shape[1])
    from scipy.optimize import nnls

    size = max(float(np.abs(slopes).max()), 1e-300)
    rows = np.vstack([slopes.T / size, np.ones(len(slopes))])
    weights = nnls(rows, np.append(np.zeros(slopes.shape[1]), 1.0))[0]
    return np.asarray(weights @ slopes / weights.sum())
