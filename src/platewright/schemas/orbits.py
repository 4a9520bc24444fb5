"""Unknowns that multiply each other: what stretches one and shrinks the other leaves their product as it is.

    a + b x[j]  =  a' + b' x'[j]       b' = c b,   x' = m + (x - m) / c,   a' = a - b m (c - 1),   m the mean of x
                                       b' = b,     x' = x + d,             a' = a - b d

Along such an orbit only the priors change. They are often flat there, so the posterior has tails that are long and
thin: the larger b, the closer together all x. No step of one length goes down them, and no metric helps; a slice along
the orbit does. The form only finds the orbit; the whole density is followed, so other places of the unknowns may be
anything (generalised Gibbs, Liu & Sabatti 2000).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal as OneOf

from platewright.algebra.domain import REAL
from platewright.algebra.expression import Add, Constant, Expression, Index, Multiply, Reference, parts
from platewright.graph.graph import Factor, Graph

Way = OneOf["stretch", "shift"]


@dataclass(frozen=True)
class Orbit:
    """`intercept_weight intercept + slope_weight slope x`: which elements, as references over their own axes."""

    stretched: str
    """x, with all its elements."""
    slope: Reference
    intercept: Reference | None
    """Its axes hold those of the slope; None: everything is stretched about zero."""
    ratio: float
    """Weight of the slope by weight of the intercept."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The unknowns that move."""
        found = (self.stretched, self.slope.name, *((self.intercept.name,) if self.intercept is not None else ()))
        return tuple(dict.fromkeys(found))


def orbits(graph: Graph, factors: Sequence[Factor], group: Sequence[str]) -> list[Orbit]:
    """The orbits of the unknowns of a group, one a pair, those with an intercept first."""
    found = [orbit for factor in factors for orbit in _in_expression(graph, factor.expression, frozenset(group))]
    found.sort(key=lambda orbit: orbit.intercept is None)
    chosen: dict[frozenset[str], Orbit] = {}
    for orbit in found:
        chosen.setdefault(frozenset((orbit.stretched, orbit.slope.name)), orbit)
    return list(chosen.values())


def ways(orbit: Orbit) -> tuple[Way, ...]:
    """How an orbit is moved along: without an intercept nothing can be shifted."""
    return ("stretch",) if orbit.intercept is None else ("stretch", "shift")


def _in_expression(graph: Graph, expression: Expression, group: frozenset[str]) -> Iterator[Orbit]:
    for part in dict.fromkeys(parts(expression)):
        terms = part.terms if isinstance(part, Add) else (part,)
        for term in terms:
            if isinstance(term, Multiply):
                yield from _of_product(graph, term, [other for other in terms if other is not term], group)


def _of_product(
    graph: Graph, product: Multiply, beside: Sequence[Expression], group: frozenset[str]
) -> Iterator[Orbit]:
    """The orbits of a product of two unknowns, each taken as the one that is stretched."""
    weight = prod(factor.value for factor in product.factors if isinstance(factor, Constant))
    places = [factor for factor in product.factors if not isinstance(factor, Constant)]
    if len(places) != 2 or weight == 0:
        return
    for x, b in (places, places[::-1]):
        if not isinstance(x, Reference) or not isinstance(b, Reference) or x.name == b.name:
            continue
        if not {x.name, b.name} <= group or graph.nodes[x.name].domain != REAL or not x.indices:
            continue
        if graph.nodes[b.name].domain.kind != "real" or set(_moving(x)) & set(_moving(b)):
            continue
        slope = _spread(graph, b, {})
        for term in beside:
            intercept, other = _weighed(term)
            if intercept is not None and _fits(graph, intercept, x, b, group):
                below = dict(zip(b.indices, slope.indices, strict=True))
                yield Orbit(x.name, slope, _spread(graph, intercept, below), weight / other)
                break
        else:
            yield Orbit(x.name, slope, None, 1.0)


def _weighed(term: Expression) -> tuple[Reference | None, float]:
    """A single unknown with a constant before it."""
    factors = term.factors if isinstance(term, Multiply) else (term,)
    places = [factor for factor in factors if not isinstance(factor, Constant)]
    weight = prod(factor.value for factor in factors if isinstance(factor, Constant))
    if len(places) == 1 and isinstance(places[0], Reference) and weight != 0:
        return places[0], weight
    return None, 1.0


def _fits(graph: Graph, a: Reference, x: Reference, b: Reference, group: frozenset[str]) -> bool:
    """Whether a shift of `a` can make good for any change of the slope at all places where they meet."""
    if a.name not in group or a.name == x.name or graph.nodes[a.name].domain != REAL or a == b:
        return False
    if a.name == b.name and any(not isinstance(at, Constant) for at in (*a.indices, *b.indices)):
        return False
    axes = {at: axis.plate for at, axis in zip(a.indices, graph.nodes[a.name].axes, strict=True)}
    own = {at: axis.plate for at, axis in zip(b.indices, graph.nodes[b.name].axes, strict=True)}
    aligned = all(axes.get(at) == own[at] for at in _moving(b))
    return aligned and not set(_moving(x)) & set(_moving(a))


def _moving(place: Reference) -> list[Expression]:
    """The positions at which a reference goes over several elements."""
    return [at for at in place.indices if not isinstance(at, Constant)]


def _spread(graph: Graph, place: Reference, known: dict[Expression, Expression]) -> Reference:
    """A reference to all elements that it could look up: an index of its own in each axis that is not held fast."""
    indices: list[Expression] = []
    for number, (at, axis) in enumerate(zip(place.indices, graph.nodes[place.name].axes, strict=True)):
        free = Index(f"{place.name}.moved{number}", axis.plate)
        indices.append(at if isinstance(at, Constant) else known.get(at, free))
    return Reference(place.name, tuple(indices))


def elements_of(place: Reference) -> tuple[int | slice, ...]:
    """The elements of an array that a reference stands for."""
    return tuple(int(at.value) if isinstance(at, Constant) else slice(None) for at in place.indices)
