"""Evidence by quadrature: a sum over finer and finer grids around the mode of the few numbers that are left.

    u = mode + root of the curvature's inverse . sinh(t),      t on an even grid of step 1/2, 1/4, 1/8 ...

The rule of equal weights converges faster than any power of the step where the integrand is smooth, and sinh turns
tails that fall like a power into tails that fall exponentially. What the last halving of the step changed is the error.
An integrand over one number that does not settle so has jumps, and is cut at them (`pieces.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from platewright.backends.kernels.coordinates import Joined
from platewright.backends.kernels.pieces import in_pieces
from platewright.family import Array

TOLERANCE = 1e-9
"""Grids are refined until the log evidence changes by less."""
MOST_POINTS = 20_000
BEYOND = 37.0
"""Points this much below the top, in logs, are left out: e^-37 is what rounding leaves of 1."""
FALLEN = 20.0
"""Where the numbers of the machine end, the integrand must have fallen by so much."""
FARTHEST = 250.0
"""How far the grid may reach in t: sinh(250) is 10^108."""
FIRST_STEP = 0.5
ROUGH = 1 / 32
"""A smooth integrand has settled when the first step was halved so often."""
LATTICE = (-8.0, -3.0, -1.0, 0.0, 1.0, 3.0, 8.0)
"""Where climbs to modes may begin, in each coordinate."""

Cell = tuple[int, ...]
Ends = Mapping[str, tuple[float, float]]
"""The open range of each number."""


class Improper(ArithmeticError):
    """The integral has no end."""


class TooLarge(ValueError):
    """More points than are allowed."""


class Surface:
    """The log integrand over coordinates without constraints."""

    def __init__(self, log_evidence: Callable[..., float], chart: Joined, ends: Ends) -> None:
        self.log_evidence, self.chart, self.ends = log_evidence, chart, ends
        self.centre, self.root = np.zeros(0), np.zeros((0, 0))
        self.step = FIRST_STEP  # of the coarsest grid
        self.points = 0

    def at(self, u: Array) -> float:
        """The log density at coordinates: minus infinity where it is none, NaN where the numbers of the machine end."""
        self.points += 1
        with np.errstate(all="ignore"):
            values, volume = self.chart.values(np.asarray(u, dtype=float))
            if not all(is_inside(values[name], *ends) for name, ends in self.ends.items()):
                return np.nan
            total = self.log_evidence(values) + volume
        if total == np.inf:
            raise Improper("the density is infinite at a point")
        return total if np.isfinite(total) else -np.inf

    def bent(self, t: Array) -> float:
        """The same in the coordinates of the grid, with the volume of the change."""
        inside = self.at(self.centre + self.root @ np.sinh(t))
        return inside + float(np.log(np.cosh(t)).sum() + np.log(np.diagonal(self.root)).sum())


def is_inside(value: Array, lower: float, upper: float) -> bool:
    """Whether all elements are finite and between their ends."""
    return bool(np.isfinite(value).all() and (value > lower).all() and (value < upper).all())


def integrated(surface: Surface, most: int) -> tuple[float, float]:
    """The log of the integral, and what the last halving of the step changed."""
    seen = first_grid(surface, most)
    value, error, step = total_of(seen, surface.step), np.inf, surface.step
    while error > TOLERANCE and (error == np.inf or len(seen) * 2**surface.chart.size <= most):
        step /= 2
        seen = {tuple(2 * k for k in cell): found for cell, found in seen.items()}
        explore(surface, seen, step, most)
        before, value = value, total_of(seen, step)
        error = abs(value - before)
        if surface.chart.size == 1 and step <= ROUGH * surface.step and error > TOLERANCE:
            return rough(surface, seen, step, value, error, most)
    return value, error


def rough(
    surface: Surface, seen: Mapping[Cell, float], step: float, value: float, error: float, most: int
) -> tuple[float, float]:
    """The integral over one number that grids of even steps do not settle: it jumps, and is cut at the jumps."""
    top = max(seen.values())
    cells = [cell[0] for cell, found in seen.items() if found > top - BEYOND]
    allowed = surface.points + most

    known: dict[float, float] = {}

    def height(t: float) -> float:
        if t not in known:
            if surface.points > allowed:
                raise TooLarge(f"more than {most:,} points")
            known[t] = float(np.exp(surface.bent(np.array([t])) - top))
        return known[t]

    low, high = (min(cells) - 1) * step, (max(cells) + 1) * step
    try:
        total, apart = in_pieces(height, low, high, float(np.exp(value - top)))
    except TooLarge:
        return value, error
    return float(np.log(total)) + top, apart / total


def first_grid(surface: Surface, most: int) -> dict[Cell, float]:
    """All points of the coarsest grid that matter; the surface gets its modes."""
    modes = modes_of(surface)
    lay(surface, modes)
    seen: dict[Cell, float] = {}
    for mode in modes:
        t = np.arcsinh(np.linalg.solve(surface.root, mode - surface.centre))
        explore(surface, seen, surface.step, most, tuple(int(k) for k in np.rint(t / surface.step)))
    return seen


def modes_of(surface: Surface) -> list[Array]:
    """The different modes that matter, the highest first, by climbs from points of a lattice above their neighbours."""
    places = list(product(range(len(LATTICE)), repeat=surface.chart.size))
    heights = {place: surface.at(np.array([LATTICE[k] for k in place])) for place in places}
    above = [
        place
        for place in places
        if heights[place] > -np.inf and not any(heights.get(near, -np.inf) > heights[place] for near in around(place))
    ]
    if not above:
        raise ArithmeticError("the data have probability zero wherever it was looked")
    tops = [climbed(surface, np.array([LATTICE[k] for k in place])) for place in above]
    ranked = sorted(tops, key=surface.at, reverse=True)
    found: list[Array] = []
    for mode in ranked:
        apart = all(np.abs(mode - other).max() > 1e-3 * (1 + np.abs(mode).max()) for other in found)
        if apart and surface.at(mode) > surface.at(ranked[0]) - BEYOND:
            found.append(mode)
    return found


def lay(surface: Surface, modes: Sequence[Array]) -> None:
    """Place the grid: around one mode by its curvature; around several so that its even part covers them all."""
    surface.centre = modes[0]
    surface.root = root_of(surface, modes[0])
    if len(modes) == 1:
        return
    width = np.min([np.sqrt((root**2).sum(axis=1)) for root in (root_of(surface, mode) for mode in modes)], axis=0)
    low, high = np.min(modes, axis=0), np.max(modes, axis=0)
    half = np.maximum((high - low) / 2, width)
    surface.centre, surface.root = (low + high) / 2, np.diag(half)
    surface.step = min(FIRST_STEP, float((width / half).min()))


def climbed(surface: Surface, start: Array) -> Array:
    """The highest point near a start, by downhill simplex steps."""
    from scipy.optimize import minimize

    how = {"xatol": 1e-6, "fatol": 1e-9, "maxiter": 2000, "maxfev": 4000}
    found = minimize(lambda u: min(np.nan_to_num(-surface.at(u), nan=1e300), 1e300), start, method="Nelder-Mead",
                     options=how)  # fmt: skip
    return np.asarray(found.x, dtype=float)


def root_of(surface: Surface, centre: Array) -> Array:
    """A triangular root of the inverse curvature at a mode; where it is flat or bent upwards, the unit."""
    count, width = surface.chart.size, 1e-3 * (1 + np.abs(centre))
    top = surface.at(centre)
    curvature = np.zeros((count, count))
    for i, j in product(range(count), repeat=2):
        if j > i:
            continue
        a, b = np.eye(count)[i] * width[i], np.eye(count)[j] * width[j]
        if i == j:
            second = (surface.at(centre + a) - 2 * top + surface.at(centre - a)) / width[i] ** 2
        else:
            corners = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
            second = sum(p * q * surface.at(centre + p * a + q * b) for p, q in corners) / (4 * width[i] * width[j])
        curvature[i, j] = curvature[j, i] = -second
    try:
        root = np.linalg.cholesky(np.linalg.inv(curvature))
    except np.linalg.LinAlgError:
        return np.eye(count)
    return root if np.isfinite(root).all() else np.eye(count)


def explore(surface: Surface, seen: dict[Cell, float], step: float, most: int, begin: Cell | None = None) -> None:
    """Fill the grid outwards as far as points matter, from one cell or from all that were seen on a coarser grid."""
    top = max(seen.values(), default=-np.inf)
    first = list(seen) if begin is None else [begin]
    waiting = [(cell, cell) for cell in first]
    visited = set(first)
    while waiting:
        cell, inner = waiting.pop()
        if cell not in seen:
            found = surface.bent(step * np.array(cell, dtype=float))
            if np.isnan(found) or max(map(abs, cell)) * step > FARTHEST:
                if (
                    edge(surface, step * np.array(inner, dtype=float), step * np.array(cell, dtype=float))
                    > top - FALLEN
                ):
                    raise Improper(
                        "the integrand has not fallen where the numbers of the machine end: the posterior is improper, "
                        "or its tails are too heavy"
                    )
                found = -np.inf
            seen[cell] = found
            if len(seen) > most:
                raise TooLarge(f"more than {most:,} points")
        top = max(top, seen[cell])
        if seen[cell] < top - BEYOND and cell != begin:
            continue
        for near in around(cell):
            if near not in visited:
                visited.add(near)
                waiting.append((near, cell))


def edge(surface: Surface, inner: Array, outer: Array) -> float:
    """The height at the last point with a number on the way from one point to another."""
    height = surface.bent(inner)
    for _ in range(30):
        middle = (inner + outer) / 2
        found = surface.bent(middle)
        if np.isnan(found) or np.abs(middle).max() > FARTHEST:
            outer = middle
        else:
            inner, height = middle, found
    return height


def around(cell: Cell) -> Iterator[Cell]:
    for axis in range(len(cell)):
        for move in (-1, 1):
            yield (*cell[:axis], cell[axis] + move, *cell[axis + 1 :])


def total_of(seen: Mapping[Cell, float], step: float) -> float:
    """The log of the sum over all points times the volume of a cell."""
    logs = np.sort(np.array(list(seen.values())))
    count = len(next(iter(seen)))
    return float(np.logaddexp.reduce(logs)) + count * float(np.log(step))
