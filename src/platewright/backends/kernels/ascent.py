"""Raise a log density from a point: steps along its slopes, each no longer than leads up.

    direction = |curvature|^-1 slope

In coordinates without constraints, without their volume factor: a mode is one of values, not of coordinates. Where
there are many coordinates, or a second derivative is not known, the curvature is taken from the steps themselves
(L-BFGS). A step is taken only if it rises, so a few steps are a step of generalised EM.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.backends.kernels.accelerated import Unlimited
from platewright.backends.kernels.coordinates import Plain
from platewright.backends.kernels.density import Density
from platewright.backends.kernels.newton import MOST_SOLVED, looked_at, raised
from platewright.family import Array

MOST_RAISES = 60
MOST_HALVINGS = 40
REMEMBERED = 10
ENOUGH = 1e-13
"""What may be left to gain, relative to the height."""
SETTLED = 1e-8
"""What a whole step of Newton may promise, relative to the height, to be the last."""
SIZES = (1.0, 1e-2, 1e-4, 1e-6, 1e-8)


def ascended(density: Density, values: Mapping[str, Array], one_top: bool = False) -> dict[str, Array]:
    """Values of the block that are higher than the given ones, or these where nothing is to be gained.

    Where there is one top, any start leads to it, and zero is looked at beside the given one.
    """
    u = density.coordinates.free(values)
    u = u if one_top else in_reach(density, u)
    if density.bent is not None and len(u) <= MOST_SOLVED:
        start = looked_at(density, u)
        if one_top and height_at(density, 0 * u) > start.height:
            start = looked_at(density, 0 * u)
        if np.isfinite(start.height):
            return density.coordinates.values(raised(density, start, SETTLED * (1 + abs(start.height))).u)[0]
    height, slope = looked(density, u)
    if not np.isfinite(height):
        return dict(values)
    steps: list[tuple[Array, Array]] = []
    for _ in range(MOST_RAISES):
        direction = remembered(slope, steps)
        with np.errstate(all="ignore"):
            rise = float(slope @ direction)
        if not np.isfinite(rise) or rise <= ENOUGH * (1 + abs(height)):
            break
        length = climbing_length(density, u, direction, height, rise)
        if length == 0.0:
            break
        before = slope
        u = u + length * direction
        height, slope = looked(density, u)
        steps = [*steps[1 - REMEMBERED :], (length * direction, before - slope)]
    return density.coordinates.values(u)[0]


def in_reach(density: Density, u: Array) -> Array:
    """The coordinates, or far smaller ones of unknowns without bounds where that alone halves what is to be gained.

    A start of size one is out of reach where covariates count in millions: there all slopes are those of a cliff.
    """
    plain = np.concatenate([np.full(part.size, type(part) is Plain) for part in density.coordinates.parts])
    places = [np.where(plain, size * u, u) for size in SIZES]
    heights = np.array([height_at(density, place) for place in places])
    best = int(np.argmax(heights))
    is_far = heights[best] - heights[0] > 0.5 * abs(heights[0]) if np.isfinite(heights[0]) else True
    return places[best] if is_far else u


def height_at(density: Density, u: Array) -> float:
    """The log density of the values at coordinates, without a volume factor; minus infinity where it is no number."""
    with np.errstate(all="ignore"):
        height = density.at_values(density.coordinates.values(u)[0])
    return -np.inf if np.isnan(height) else height


def looked(density: Density, u: Array) -> tuple[float, Array]:
    """The log density of the values at coordinates, without a volume factor, and its slope there."""
    coordinates = density.coordinates
    with np.errstate(all="ignore"):
        values = coordinates.values(u)[0]
        height = density.at_values(values)
        assert density.slopes is not None
        slopes = density.slopes({**density.rest, **values})
        flat = {name: np.zeros_like(slope) for name, slope in slopes.items()}
        slope = coordinates.gradient(u, values, slopes) - coordinates.gradient(u, values, flat)
    is_sound = np.isfinite(height) and np.isfinite(slope).all()
    return (height, slope) if is_sound else (-np.inf, np.zeros(len(u)))


def remembered(slope: Array, steps: list[tuple[Array, Array]]) -> Array:
    """The direction that the last steps and the changes of slopes along them tell."""
    products = [float(s @ y) for s, y in steps]
    sizes = [float(np.linalg.norm(s) * np.linalg.norm(y)) for s, y in steps]
    usable = [(s, y, p) for (s, y), p, size in zip(steps, products, sizes, strict=True) if p > 1e-10 * size]
    if not usable:
        return slope / max(1.0, float(np.abs(slope).max(initial=0.0)))
    direction, parts = slope.copy(), []
    for s, y, product in reversed(usable):
        parts.append(float(s @ direction) / product)
        direction -= parts[-1] * y
    direction *= usable[-1][2] / float(usable[-1][1] @ usable[-1][1])
    for (s, y, product), part in zip(usable, reversed(parts), strict=True):
        direction += (part - float(y @ direction) / product) * s
    return direction


def climbing_length(density: Density, u: Array, direction: Array, height: float, rise: float) -> float:
    """The longest of 1, 1/2, 1/4 ... that leads up as far as the slope says, or nothing."""
    length = 1.0
    for _ in range(MOST_HALVINGS):
        if height_at(density, u + length * direction) > height + 1e-4 * length * rise:
            return length
        length /= 2
    return 0.0


def kept_inside(name: str, value: Array, low: float, high: float) -> Array:
    """A value that was raised, if it is off the edges of its range: there a density that is finite holds no force."""
    if (np.clip(value, low, high) != value).any():
        raise Unlimited(name)
    return value
