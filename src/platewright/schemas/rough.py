"""Unknowns whose conditional no family matches: which are coupled, and what moves them.

    alone, elements apart               slice along every element; a count k is the interval from k to k + 1
    coupled, with a gradient            Hamiltonian, together
    coupled, without one                slice by coordinate, one after another

Two unknowns are coupled when a factor holds both; the graph alone decides. A scale stands apart from what it scales,
and both are moved together once more along the funnel that they form; unknowns that multiply each other, once more
along the orbit on which their product stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import inf, prod

from platewright.algebra.domain import REAL
from platewright.algebra.expression import Lag, Reference, bound, walk
from platewright.algebra.zero_times_log import zero_wins
from platewright.graph.graph import Factor, Graph, topological
from platewright.operation import Declined
from platewright.program.derivatives import Scaled, Slope
from platewright.schemas.blocks import (
    Block,
    CoordinateBlock,
    ExactBlock,
    HamiltonianBlock,
    JumpBlock,
    OrbitBlock,
    ScaleBlock,
    SliceBlock,
)
from platewright.schemas.mirrors import mirrors
from platewright.schemas.orbits import orbits, ways
from platewright.schemas.relabellings import relabellings
from platewright.schemas.scaling import fixed_scales, scaled_form, scales_of, scales_within
from platewright.schemas.slopes import slopes_of

MOST_STRETCHED = 64
"""Unknowns that are known to have more elements are not stretched: so many know their spread well by themselves."""

MOST_IN_A_FUNNEL = 16
"""Unknowns with a closed form are drawn well given a scale that many elements tell; of so few it may be near nought."""


def rough_blocks(graph: Graph, factors: Sequence[Factor], reasons: Mapping[str, str]) -> list[Block]:
    """Blocks for the unknowns among the keys, each with the reason why it is not exact."""
    blocks: list[Block] = []
    smooth: list[str] = []
    scales = _scales(graph, factors, frozenset(reasons))
    apart = {block.variables[0] for block in scales if block.variables[0] in reasons}
    for name, reason in reasons.items():
        refused = _refusal(graph, factors, name)
        if refused is None and name not in apart:
            smooth.append(name)
        else:
            blocks.append(_alone(graph, factors, name, reason if refused is None else f"{reason}; {refused}"))
    moves: list[Block] = []
    for group in coupled(factors, smooth):
        blocks.append(_block(graph, factors, group, reasons))
        moves += _orbits(graph, factors, blocks[-1].variables)
    order = {name: at for at, name in enumerate(graph.nodes)}
    return [*sorted(blocks, key=lambda block: min(order[name] for name in block.variables)), *scales, *moves]


def _orbits(graph: Graph, factors: Sequence[Factor], group: Sequence[str]) -> list[OrbitBlock]:
    """Moves of unknowns of a group that multiply each other, along which their product stays."""
    found = []
    for orbit in orbits(graph, touching(factors, group), group):
        sizes = [graph.plates[axis.plate].size for axis in graph.nodes[orbit.stretched].axes]
        if prod(size or 1 for size in sizes) > MOST_STRETCHED:
            continue
        shown = f"`{orbit.slope.name}` multiplies `{orbit.stretched}`"
        for way in ways(orbit):
            found.append(OrbitBlock(orbit.variables, touching(factors, orbit.variables), orbit, way, shown))
    return found


def funnels(graph: Graph, factors: Sequence[Factor], blocks: Sequence[Block]) -> list[ScaleBlock]:
    """Moves of a scale with the few unknowns that it scales, with closed forms that are drawn in turn with it."""
    together = {name: block.variables for block in blocks if isinstance(block, ExactBlock) for name in block.variables}
    few = frozenset(name for name in together if 1 < _known_elements(graph, name) <= MOST_IN_A_FUNNEL)
    found = _scales(graph, factors, few)
    return [block for block in found if not set(block.variables[1:]) & set(together.get(block.variables[0], ()))]


def jumps(graph: Graph, factors: Sequence[Factor]) -> list[JumpBlock]:
    """Moves to modes that mirror each other: to the other side of zero, and to other labels."""
    found = []
    for mirror in mirrors(graph, factors):
        apart = f", for each {' and '.join(mirror.plates)} by itself" if mirror.plates else ""
        why = f"turning them over shows in no factor but their own priors{apart}"
        found.append(JumpBlock(mirror.variables, touching(factors, mirror.variables), mirror, why))
    for relabelling in relabellings(graph, factors):
        shown = ", ".join(dict.fromkeys(factor.owner for factor in relabelling.broken)) or "no factor"
        why = f"what exchanges elements of {relabelling.symmetry.plates[0]} shows in {shown} alone"
        found.append(JumpBlock(tuple(relabelling.parts), relabelling.broken, relabelling, why))
    return found


def _known_elements(graph: Graph, name: str) -> float:
    """How many elements an unknown has; without end where that is not known."""
    return prod(graph.plates[axis.plate].size or inf for axis in graph.nodes[name].axes)


def _scales(graph: Graph, factors: Sequence[Factor], scalable: Collection[str]) -> list[ScaleBlock]:
    """Moves of a scale together with all of some unknowns that it scales, parents first."""
    members: dict[str, list[Scaled]] = {}
    for name in topological(graph):
        scaled = scaled_form(graph.nodes[name]) if name in scalable else None
        for scale in scales_of(graph, scaled, graph.unknown) if scaled is not None else ():
            assert scaled is not None
            members.setdefault(scale, []).append(scaled)
    found = []
    for scale, forms in members.items():
        group = (scale, *(form.name for form in forms))
        shown = ", ".join(f"`{form.name}`" for form in forms)
        why = f"`{scale}` sets the precision of {shown}"
        found.append(ScaleBlock(group, touching(factors, group), tuple(forms), why))
    order = {name: at for at, name in enumerate(graph.nodes)}
    return sorted(found, key=lambda block: order[block.variables[1]])


def _block(graph: Graph, every: Sequence[Factor], group: Sequence[str], reasons: Mapping[str, str]) -> Block:
    every = _safe(graph, every)
    factors = touching(every, group)
    why = "; ".join(dict.fromkeys(reasons[name] for name in group))
    if len(group) == 1 and meets_itself(graph, factors, group[0]) is None:
        return SliceBlock(tuple(group), factors, why)
    joined = (*group, *_neighbours(graph, factors, group))
    around = touching(every, joined)
    slopes = slopes_of(around, joined)
    if not isinstance(slopes, Declined):
        return _along_gradient(graph, joined, around, slopes, why)
    slopes = slopes_of(factors, group)
    if isinstance(slopes, Declined):
        return CoordinateBlock(tuple(group), factors, f"{why}; {slopes.reason}")
    return _along_gradient(graph, tuple(group), factors, slopes, why)


def _along_gradient(
    graph: Graph, group: tuple[str, ...], factors: tuple[Factor, ...], slopes: tuple[Slope, ...], why: str
) -> HamiltonianBlock:
    scaled, held = fixed_scales(graph, group), scales_within(graph, group)
    return HamiltonianBlock(group, factors, slopes, why, scaled, leaves_of(graph, factors, group), held)


def leaves_of(graph: Graph, factors: Sequence[Factor], group: Sequence[str]) -> tuple[str, ...]:
    """Members of a group none of whose elements meet, those with most elements first."""
    found: list[str] = []
    taken: set[str] = set()
    for name in sorted(group, key=lambda name: _elements(graph, name), reverse=True):
        if not graph.nodes[name].axes or name in taken or meets_itself(graph, factors, name) is not None:
            continue
        found.append(name)
        for factor in touching(factors, (name,)):
            taken |= factor.names
    return tuple(found)


def _elements(graph: Graph, name: str) -> tuple[int, int]:
    """How many axes, and how many elements where sizes are known."""
    axes = graph.nodes[name].axes
    return len(axes), prod(graph.plates[axis.plate].size or 1 for axis in axes)


def _neighbours(graph: Graph, factors: Sequence[Factor], group: Sequence[str]) -> tuple[str, ...]:
    """Single real unknowns in the factors of a group: they move with it, besides their own exact draw."""
    return tuple(
        name
        for name in graph.unknown
        if name not in group
        and graph.nodes[name].domain == REAL
        and not graph.nodes[name].axes
        and any(name in factor.names for factor in factors)
    )


def _refusal(graph: Graph, factors: Sequence[Factor], name: str) -> str | None:
    """Why an unknown has no gradient of its own."""
    if graph.nodes[name].domain.is_discrete:
        return f"`{name}` is {graph.nodes[name].domain}"
    found = slopes_of(touching(factors, (name,)), (name,))
    return found.reason if isinstance(found, Declined) else None


def _alone(graph: Graph, every: Sequence[Factor], name: str, why: str) -> Block:
    factors = _safe(graph, touching(every, (name,)))
    if meets_itself(graph, factors, name) is None:
        return SliceBlock((name,), factors, why)
    return CoordinateBlock((name,), factors, why)


def _safe(graph: Graph, factors: Sequence[Factor]) -> tuple[Factor, ...]:
    """The factors where an unknown that is zero, such as an animal that is not there, may stand in a logarithm."""

    def is_open(part: Reference) -> bool:
        return part.name in graph.unknown and graph.nodes[part.name].domain.is_discrete

    return tuple(replace(factor, expression=zero_wins(factor.expression, is_open)) for factor in factors)


def touching(factors: Sequence[Factor], group: Sequence[str]) -> tuple[Factor, ...]:
    """The factors that hold one of several unknowns."""
    wanted = frozenset(group)
    return tuple(factor for factor in factors if factor.names & wanted)


def coupled(factors: Sequence[Factor], unknowns: Sequence[str]) -> list[list[str]]:
    """Groups of unknowns that factors tie together, in the order of writing."""
    group = {name: name for name in unknowns}
    for factor in factors:
        members = [name for name in unknowns if name in factor.names]
        for other in members[1:]:
            old, new = group[other], group[members[0]]
            group = {name: new if mark == old else mark for name, mark in group.items()}
    return [[name for name in unknowns if group[name] == mark] for mark in dict.fromkeys(group.values())]


def meets_itself(graph: Graph, factors: Sequence[Factor], name: str) -> str | None:
    """The factor in which different elements of an unknown meet, if there is one."""
    if graph.nodes[name].domain.kind not in ("real", "integer"):
        return "its own density"  # the elements of a vector, a simplex or a matrix are one value
    for factor in touching(factors, (name,)):
        places = {p.indices for p in walk(factor.expression) if isinstance(p, Reference) and p.name == name}
        if len(places) > 1:
            return factor.owner
        parts = [part for place in places for at in place for part in walk(at)]
        inside = {index for part in walk(factor.expression) for index in bound(part)}
        if any(isinstance(part, Lag) or part in inside for part in parts):
            return factor.owner
    return None
