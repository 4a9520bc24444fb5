"""Evidence by quadrature: a sum over finer and finer grids around the mode of the few numbers that are left.

    u = mode + root of the curvature's inverse . sinh(t),      t on an even grid of step 1/2, 1/4, 1/8 ...

The rule of equal weights converges faster than any power of the step where the integrand is smooth, and sinh turns
tails that fall like a power into tails that fall exponentially. What the last halving of the step changed is the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from platewright.algebra.domain import Domain
from platewright.backends.kernels.coordinates import Joined
from platewright.errors import ImproperPosterior, PlatewrightError, SizeError
from platewright.family import Array
from platewright.run.checks.sanity import check_counts
from platewright.run.evidence.evidence import Evidence
from platewright.run.evidence.evidence_given import evidence_given
from platewright.run.samplers.unconstrained import unconstrained
from platewright.schemas.evidence import EvidencePlan

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
LATTICE = (-8.0, -3.0, -1.0, 0.0, 1.0, 3.0, 8.0)
"""Where climbs to modes may begin, in each coordinate."""

Cell = tuple[int, ...]


@dataclass
class Surface:
    """The log integrand over coordinates without constraints; each point is computed once."""

    log_evidence: Callable[[Mapping[str, Array]], float]
    chart: Joined
    domains: Mapping[str, Domain]
    centre: Array = field(default_factory=lambda: np.zeros(0))
    root: Array = field(default_factory=lambda: np.zeros((0, 0)))
    step: float = FIRST_STEP
    """The step of the coarsest grid."""
    points: int = 0

    def at(self, u: Array) -> float:
        """The log density at coordinates: minus infinity where it is none, NaN where the numbers of the machine end."""
        self.points += 1
        with np.errstate(all="ignore"):
            values, volume = self.chart.values(np.asarray(u, dtype=float))
            if not all(_is_inside(domain, values[name]) for name, domain in self.domains.items()):
                return np.nan
            total = self.log_evidence(values) + volume
        if total == np.inf:
            raise ImproperPosterior("the density is infinite at a point", hint="give proper priors")
        return total if np.isfinite(total) else -np.inf

    def bent(self, t: Array) -> float:
        """The same in the coordinates of the grid, with the volume of the change."""
        inside = self.at(self.centre + self.root @ np.sinh(t))
        return inside + float(np.log(np.cosh(t)).sum() + np.log(np.diagonal(self.root)).sum())


def _is_inside(domain: Domain, value: Array) -> bool:
    low, high = (-np.pi, np.pi) if domain.kind == "circle" else (domain.lower, domain.upper)
    return bool(np.isfinite(value).all() and (value > low).all() and (value < high).all())


def quadrature(
    plan: EvidencePlan, columns: Mapping[str, Array], sizes: Mapping[str, int], *, most: int = MOST_POINTS
) -> Evidence:
    """The log evidence by quadrature."""
    check_counts(most=most)
    surface, seen = _first_grid(plan, columns, sizes, most)
    value, error, step = _total(seen, surface.step), np.inf, surface.step
    while error > TOLERANCE and (error == np.inf or len(seen) * 2**surface.chart.size <= most):
        step /= 2
        seen = {tuple(2 * k for k in cell): found for cell, found in seen.items()}
        _explore(surface, seen, step, most)
        before, value = value, _total(seen, step)
        error = abs(value - before)
    shown = (
        f"{surface.points:,} points of {', '.join(plan.hidden)}, the last halving of the step changed it by {error:.0e}"
    )
    return Evidence(value, "quadrature", max(error, np.finfo(float).eps * abs(value)), shown, plan.proper)


def why_not(plan: EvidencePlan, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> str:
    """Why the integral over given data cannot be had this way, as the coarsest grid tells; or nothing."""
    try:
        _first_grid(plan, columns, sizes, MOST_POINTS)
    except PlatewrightError as error:
        return error.found
    return ""


def _first_grid(
    plan: EvidencePlan, columns: Mapping[str, Array], sizes: Mapping[str, int], most: int
) -> tuple[Surface, dict[Cell, float]]:
    """The surface with its modes, and all points of the coarsest grid that matter."""
    chart = unconstrained([plan.graph.nodes[name] for name in plan.hidden], sizes)
    domains = {name: plan.graph.nodes[name].domain for name in plan.hidden}
    surface = Surface(evidence_given(plan, columns, sizes), chart, domains)
    modes = _modes(surface)
    _lay(surface, modes)
    seen: dict[Cell, float] = {}
    for mode in modes:
        t = np.arcsinh(np.linalg.solve(surface.root, mode - surface.centre))
        _explore(surface, seen, surface.step, most, tuple(int(k) for k in np.rint(t / surface.step)))
    return surface, seen


def _modes(surface: Surface) -> list[Array]:
    """The different modes that matter, the highest first, by climbs from points of a lattice above their neighbours."""
    places = list(product(range(len(LATTICE)), repeat=surface.chart.size))
    heights = {place: surface.at(np.array([LATTICE[k] for k in place])) for place in places}
    above = [
        place
        for place in places
        if heights[place] > -np.inf and not any(heights.get(near, -np.inf) > heights[place] for near in _around(place))
    ]
    if not above:
        raise PlatewrightError("the data have probability zero wherever it was looked", hint="check data and priors")
    climbed = [_mode(surface, np.array([LATTICE[k] for k in place])) for place in above]
    ranked = sorted(climbed, key=surface.at, reverse=True)
    found: list[Array] = []
    for mode in ranked:
        apart = all(np.abs(mode - other).max() > 1e-3 * (1 + np.abs(mode).max()) for other in found)
        if apart and surface.at(mode) > surface.at(ranked[0]) - BEYOND:
            found.append(mode)
    return found


def _lay(surface: Surface, modes: Sequence[Array]) -> None:
    """Place the grid: around one mode by its curvature; around several so that its even part covers them all."""
    surface.centre = modes[0]
    surface.root = _root(surface, modes[0])
    if len(modes) == 1:
        return
    width = np.min([np.sqrt((root**2).sum(axis=1)) for root in (_root(surface, mode) for mode in modes)], axis=0)
    low, high = np.min(modes, axis=0), np.max(modes, axis=0)
    half = np.maximum((high - low) / 2, width)
    surface.centre, surface.root = (low + high) / 2, np.diag(half)
    surface.step = min(FIRST_STEP, float((width / half).min()))


def _mode(surface: Surface, start: Array) -> Array:
    """The highest point near a start, by downhill simplex steps."""
    from scipy.optimize import minimize

    how = {"xatol": 1e-6, "fatol": 1e-9, "maxiter": 2000, "maxfev": 4000}
    found = minimize(lambda u: min(np.nan_to_num(-surface.at(u), nan=1e300), 1e300), start, method="Nelder-Mead",
                     options=how)  # fmt: skip
    return np.asarray(found.x, dtype=float)


def _root(surface: Surface, centre: Array) -> Array:
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


def _explore(surface: Surface, seen: dict[Cell, float], step: float, most: int, begin: Cell | None = None) -> None:
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
                    _edge(surface, step * np.array(inner, dtype=float), step * np.array(cell, dtype=float))
                    > top - FALLEN
                ):
                    raise ImproperPosterior(
                        "the integrand has not fallen where the numbers of the machine end: the posterior is improper, "
                        "or its tails are too heavy",
                        hint="give proper priors, or use by='chib'",
                    )
                found = -np.inf
            seen[cell] = found
            if len(seen) > most:
                raise SizeError(f"more than {most:,} points", hint="most= allows more; or use by='chib'")
        top = max(top, seen[cell])
        if seen[cell] < top - BEYOND and cell != begin:
            continue
        for near in _around(cell):
            if near not in visited:
                visited.add(near)
                waiting.append((near, cell))


def _edge(surface: Surface, inner: Array, outer: Array) -> float:
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


def _around(cell: Cell) -> Iterator[Cell]:
    for axis in range(len(cell)):
        for move in (-1, 1):
            yield (*cell[:axis], cell[axis] + move, *cell[axis + 1 :])


def _total(seen: Mapping[Cell, float], step: float) -> float:
    """The log of the sum over all points times the volume of a cell."""
    logs = np.sort(np.array(list(seen.values())))
    count = len(next(iter(seen)))
    return float(np.logaddexp.reduce(logs)) + count * float(np.log(step))
