"""Whether an estimate is a maximum: directions in which the objective does not fall, however far, are refused by name.

Looked at are the unknowns that were raised along slopes (what has a closed mode has one): each coordinate by itself,
where the estimate has gone, and the directions in which the curvature has all but gone, for there a line may separate
the outcomes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from platewright.algebra.expression import Reference, walk
from platewright.backends.kernels.coordinates import Above, Below, Between, Joined, Plain
from platewright.backends.kernels.newton import MOST_SOLVED, looked_at
from platewright.errors import NoMaximum
from platewright.family import Array
from platewright.run.hidden.em import Estimate, Runner
from platewright.run.hidden.peak import BENT, FAR, Peak
from platewright.run.samplers.unconstrained import unconstrained
from platewright.schemas.em import EMPlan

GONE = 1e-7
"""A curvature in units of its own coordinates that has all but gone."""
MOST_LOOKS = 400
MOST_READ = 20_000_000
"""Coordinates that are followed one by one, at two looks each, and how many rows these may read in all."""
ALL_BUT = 300.0
"""A logarithm of what is nothing but the last number of the machine."""
BACK = 100.0
MOST_BEYOND = 20
INVOLVED = 1e-3
"""The part of a direction that an unknown must have to be named."""


def peak_of(plan: EMPlan, runner: Runner, values: Mapping[str, Array]) -> Peak:
    """The objective about an estimate."""
    moving = [node for name in plan.learned if not (node := plan.graph.nodes[name]).domain.is_discrete]
    chart = unconstrained(moving, runner.sizes)
    held = {name: values[name] for name in plan.learned if plan.graph.nodes[name].domain.is_discrete}

    def derived() -> Array | None:
        """Of one ascent in which nothing is hidden: one pass over the rows."""
        if plan.latent.names or plan.blocks or len(plan.ascents) != 1 or plan.ascents[0].variables != plan.learned:
            return None
        density = runner.hills[0]
        u = density.coordinates.free(runner.text.named(values))
        if density.bent is None or len(u) > MOST_SOLVED:
            return None
        given = {**runner.data, **runner.text.named(values)}
        density.given({**given, **_summed(runner, 0, given)})
        here = looked_at(density, u)
        return here.curvature if np.isfinite(here.height) else None

    return Peak(lambda at: float(runner.look({**held, **at}).objective), chart, chart.free(values), derived)


def _summed(runner: Runner, number: int, given: Mapping[str, Array]) -> Mapping[str, Array]:
    """The statistics of a block, where it has any."""
    name = f"statistics_{number}"
    found: Mapping[str, Array] = runner.text(name)(given, runner.size) if name in runner.text else {}
    return found


def check_summit(plan: EMPlan, runner: Runner, found: Estimate, labels: Mapping[str, tuple[object, ...]]) -> None:
    """Refuse an estimate from which the objective goes on and on without falling."""
    raised = frozenset(name for ascent in plan.ascents for name in ascent.variables)
    if found.interrupted:
        return
    peak = peak_of(plan, runner, found.values)
    if not np.isfinite(peak.summit):
        return
    for way in _beyond_numbers(peak):
        if peak.summit - peak.height(peak.top - BACK * way) > 1:
            raise NoMaximum(*_told(plan, peak, way, False, labels))
    if not raised or plan.has_one_mode:
        return
    for way in _ways(plan, runner, found, peak, raised):
        most = FAR[-1] if _is_plain(peak.coordinates, way) else BENT
        if peak.run(way, most) and not (_ends(peak.coordinates, way) and peak.is_at_an_edge(way)):
            both = peak.run(-way, most)
            raise NoMaximum(*_told(plan, peak, way, both, labels))


def _beyond_numbers(peak: Peak) -> Iterator[Array]:
    """The way on of a coordinate that stands at the last numbers of the machine: a density may be infinite there."""
    for part, place in zip(peak.coordinates.parts, peak.coordinates.slices, strict=True):
        if not isinstance(part, Above | Below | Between):
            continue
        for at in np.flatnonzero(np.abs(peak.top[place]) > ALL_BUT)[:MOST_BEYOND]:
            yield np.sign(peak.top[place][at]) * np.eye(1, len(peak.top), place.start + int(at))[0]


def _ways(plan: EMPlan, runner: Runner, found: Estimate, peak: Peak, raised: frozenset[str]) -> Iterator[Array]:
    """Directions in which an estimate may have run off, each of unit size in units of its coordinates."""
    places = {p.name: at for p, at in zip(peak.coordinates.parts, peak.coordinates.slices, strict=True)}
    single = [at for name in plan.learned if name in raised for at in range(places[name].start, places[name].stop)]
    if len(single) <= MOST_LOOKS and len(single) * max(runner.sizes.values(), default=1) <= MOST_READ:
        for at in single:
            for sign in (1.0, -1.0):
                yield sign * np.eye(1, len(peak.top), at)[0] * _units(peak)
    whole = np.zeros(len(peak.top))
    whole[single] = peak.top[single]
    if len(single) > 1 and np.any(whole):
        yield whole / float(np.abs(whole / _units(peak)).max())
    given = {**runner.data, **runner.text.named({**found.expectations, **found.values})}
    for number, density in enumerate(runner.hills, start=len(plan.blocks)):
        ascent = plan.ascents[number - len(plan.blocks)]
        u = density.coordinates.free(runner.text.named(found.values))
        if density.bent is None or not 1 < len(u) <= MOST_SOLVED:
            continue
        density.given({**given, **_summed(runner, number, given)})
        here = looked_at(density, u)
        own = np.concatenate([np.arange(places[name].start, places[name].stop) for name in ascent.variables])
        if np.isfinite(here.height) and len(own) == len(u):
            for inner in _all_but_flat(here.curvature, here.slope, u):
                way = np.zeros(len(peak.top))
                way[own] = inner
                size = float(np.abs(way / _units(peak)).max(initial=0.0))
                if size > 0:
                    yield way / size


def _units(peak: Peak) -> Array:
    """One in coordinates that are logarithms or their like, else the size of the value."""
    parts = zip(peak.coordinates.parts, peak.coordinates.slices, strict=True)
    return np.concatenate([1 + np.abs(peak.top[at]) if type(p) is Plain else np.ones(p.size) for p, at in parts])


def _all_but_flat(curvature: Array, slope: Array, u: Array) -> Iterator[Array]:
    """Where the estimate lies, and which way is up, inside the directions that hardly bend; then these themselves."""
    widths = np.maximum(np.abs(np.diag(curvature)), 1e-300) ** -0.5
    values, vectors = np.linalg.eigh(widths[:, None] * curvature * widths)
    flat = vectors[:, np.abs(values) < GONE * max(1.0, float(np.abs(values).max(initial=0.0)))]
    if not flat.shape[1]:
        return
    for seen in (u / widths, widths * slope):
        inside = flat.T @ seen
        if np.abs(inside).max(initial=0.0) > 0:
            yield widths * (flat @ inside)
    for k in range(flat.shape[1]):
        for sign in (1.0, -1.0):
            yield sign * widths * flat[:, k]


def _is_plain(chart: Joined, way: Array) -> bool:
    """Whether all coordinates that move are values themselves."""
    moved = (type(p) is Plain for p, at in zip(chart.parts, chart.slices, strict=True) if np.any(way[at]))
    return all(moved)


def _ends(chart: Joined, way: Array) -> bool:
    """Whether all that moves has an edge there: a range that ends is left at the end that it has."""
    for part, place in zip(chart.parts, chart.slices, strict=True):
        up = np.any(way[place] > 0)
        if np.any(way[place]) and (type(part) is Plain or (up and isinstance(part, Above | Below))):
            return False
    return True


def _told(
    plan: EMPlan, peak: Peak, way: Array, both: bool, labels: Mapping[str, tuple[object, ...]]
) -> tuple[str, str]:
    """Which unknowns run where, with the columns that they meet, and what can be done."""
    least = INVOLVED * float(np.abs(way / _units(peak)).max())
    moved: list[str] = []
    names: list[str] = []
    for part, place in zip(peak.coordinates.parts, peak.coordinates.slices, strict=True):
        inner = way[place] / _units(peak)[place]
        for at in np.flatnonzero(np.abs(inner) > least):
            names.append(part.name)
            moved.append(f"`{_element(plan, part, int(at), labels)}` {'up' if inner[at] > 0 else 'down'}")
    columns = _columns(plan, set(names))
    met = (
        f", which meet{'s' if len(moved) == 1 else ''} {', '.join(f'`{name}`' for name in columns)}" if columns else ""
    )
    shown = ", ".join(moved[:6]) + (f" and {len(moved) - 6} more" if len(moved) > 6 else "")
    if both:
        return (
            f"there is no one maximum: the objective is the same all along {shown}{met}",
            "columns that follow from each other, or hold nothing: leave one out, or give proper priors",
        )
    return (
        f"there is no maximum: the objective does not fall however far one goes with {shown}{met}",
        "outcomes that a column separates, groups without any, or a scale that goes to nought have none: give proper "
        "priors, or learn with goal='posterior'",
    )


def _element(plan: EMPlan, part: Plain, at: int, labels: Mapping[str, tuple[object, ...]]) -> str:
    """The name of an unknown with the labels of an element."""
    axes = plan.graph.nodes[part.name].axes
    shape = tuple(part.shape)
    if not axes or part.size != int(np.prod(shape, dtype=int)):
        return part.name
    place = np.unravel_index(at, shape)
    shown = []
    for axis, k in zip(axes, place, strict=True):
        declared = plan.graph.plates[axis.plate].labels if axis.plate in plan.graph.plates else None
        known = labels.get(axis.plate) or declared
        shown.append(str(known[int(k)]) if known else str(int(k)))
    return f"{part.name}[{', '.join(shown)}]"


def _columns(plan: EMPlan, names: set[str]) -> list[str]:
    """The known columns that stand in a factor together with some unknowns."""
    met: set[str] = set()
    for factor in plan.factors:
        parts = {part.name for part in walk(factor.expression) if isinstance(part, Reference)}
        met |= parts if parts & names else set()
    return [name for name in plan.graph.nodes if name in met and plan.graph.is_known(name) and "@" not in name]
