"""Newton's steps with exact curvature, on coordinates without constraints, until nothing is left to gain.

    direction = (- second derivatives)^-1 slope

In coordinates u of a value x(u):  second = J' H J + sum_i slope_i d^2 x_i / du^2,  J = dx/du;  only H looks at rows.
Where the density bends upwards the matrix is turned into one that bends down everywhere. Each step looks once at the
rows; its length is halved until it rises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from platewright.backends.kernels.coordinates import Joined, Plain
from platewright.backends.kernels.density import Density
from platewright.backends.kernels.ridges import along_ridges
from platewright.family import Array

MOST_SOLVED = 1500
"""With more coordinates than this a step costs more than many looks."""
MOST_NEWTONS = 60
MOST_HALVED = 40
MOST_ON_RIDGES = 50
"""Coordinates that are gathered slopes for, two looks each at a time."""
ROUNDING = 1e-14
"""What a height may lose by rounding, relative to its size."""
LAST = 1e-8
"""What a whole step may promise, in log units, to be the last: the next would promise its square."""
APART = 1e-5
"""How far apart the slopes of coordinates are taken that are not the values themselves."""


@dataclass(frozen=True, eq=False)
class Place:
    """Coordinates, the log density of the values there without a volume factor, its slope and its curvature."""

    u: Array
    height: float
    slope: Array
    curvature: Array


def looked_at(density: Density, u: Array) -> Place:
    """One pass over the rows at coordinates; a height of minus infinity where anything is no number."""
    coordinates = density.coordinates
    with np.errstate(all="ignore"):
        values = coordinates.values(u)[0]
        assert density.bent is not None
        bent = density.bent({**density.rest, **values})
        slopes = bent.slopes()
        slope = pulled(coordinates, u, values, slopes)
        curvature = -in_coordinates(coordinates, u, values, slopes, bent.second())
    is_sound = np.isfinite(bent.total) and np.isfinite(slope).all() and np.isfinite(curvature).all()
    return Place(u, float(bent.total) if is_sound else -np.inf, slope, curvature)


def pulled(coordinates: Joined, u: Array, values: Mapping[str, Array], slopes: Mapping[str, Array]) -> Array:
    """A gradient in values as one in coordinates, without the volume factor."""
    flat = {name: np.zeros_like(slope) for name, slope in slopes.items()}
    return coordinates.gradient(u, values, slopes) - coordinates.gradient(u, values, flat)


def in_coordinates(
    coordinates: Joined, u: Array, values: Mapping[str, Array], slopes: Mapping[str, Array], second: Array
) -> Array:
    """Second derivatives in coordinates from those in values."""
    if all(type(part) is Plain for part in coordinates.parts):
        return second
    shapes = {name: np.shape(slope) for name, slope in slopes.items()}

    def split(flat: Array) -> dict[str, Array]:
        found, begin = {}, 0
        for name, shape in shapes.items():
            count = int(np.prod(shape, dtype=int))
            found[name], begin = flat[begin : begin + count].reshape(shape), begin + count
        return found

    across = np.array([pulled(coordinates, u, values, split(column)) for column in second.T])
    found = np.array([pulled(coordinates, u, values, split(column)) for column in across.T])
    for part, place in zip(coordinates.parts, coordinates.slices, strict=True):
        if type(part) is not Plain:
            found[place, place] += turning(part, u[place], slopes[part.name])
    return found


def turning(part: Plain, u: Array, slope: Array) -> Array:
    """How a gradient in the coordinates of one unknown changes with these, its slope in values being the same."""

    def at(place: Array) -> Array:
        value = part.value(place)[0]
        return part.gradient(place, value, slope) - part.gradient(place, value, np.zeros_like(slope))

    steps = APART * np.eye(len(u))
    found = np.array([(at(u + step) - at(u - step)) / (2 * APART) for step in steps])
    return (found + found.T) / 2


def raised(density: Density, start: Place, last: float = LAST) -> Place:
    """The top of a hill, or the highest place after many steps; the start where nothing is to be gained."""
    here = start
    for _ in range(MOST_NEWTONS):
        direction = solved(here.curvature, here.slope)
        with np.errstate(all="ignore"):
            rise = float(here.slope @ direction)
        if not np.isfinite(rise) or rise <= ROUNDING * (1 + abs(here.height)):
            break
        length, ahead = 1.0, looked_at(density, here.u + direction)
        while ahead.height < here.height + 1e-4 * length * rise - ROUNDING * (1 + abs(here.height)):
            length /= 2
            if length < 0.5**MOST_HALVED:
                return beside_ridges(density, here)
            ahead = looked_at(density, here.u + length * direction)
        here = ahead
        if length == 1.0 and rise <= last:
            break
    return here


def beside_ridges(density: Density, here: Place) -> Place:
    """The highest place that ridges lead to from one where no step of Newton's is taken any more."""

    def look(u: Array) -> tuple[float, Array]:
        there = looked_at(density, u)
        return there.height, there.slope

    if len(here.u) > MOST_ON_RIDGES:
        return here
    ahead = looked_at(density, along_ridges(look, here.u, here.height, here.slope))
    return ahead if ahead.height > here.height else here


def solved(curvature: Array, slope: Array) -> Array:
    """The step to the top of a parabola that bends down in every direction, in units of its own widths."""
    own = np.abs(np.diag(curvature))
    widths = np.where(own > 0, own, 1.0) ** -0.5
    scaled = widths[:, None] * curvature * widths
    try:
        root = np.linalg.cholesky(scaled)
        return widths * np.linalg.solve(root.T, np.linalg.solve(root, widths * slope))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(scaled)
        kept = np.maximum(np.abs(values), 1e-9 * np.maximum(np.abs(values).max(initial=0.0), 1.0))
        return widths * (vectors @ ((vectors.T @ (widths * slope)) / kept))
