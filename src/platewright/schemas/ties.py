"""Which factors tie the sites of a discrete unknown, and which look at one site in each of their rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from platewright.algebra.expression import Expression, Index, Reference, free_indices, names, walk
from platewright.graph.graph import Factor
from platewright.schemas.blocks import SiteBlock
from platewright.schemas.slopes import apart


@dataclass(frozen=True)
class Ties:
    """The factors of a block with bound indices apart from each other, in two."""

    together: tuple[Factor, ...]
    alone: tuple[Factor, ...]
    """Factors whose rows look at one site each: their weights do not depend on the other sites."""


def ties_of(block: SiteBlock) -> Ties:
    """The factors of a block by what their rows look at."""
    (name,) = block.variables
    every = [Factor(f.owner, f.axes, apart(f.expression, frozenset(f.axes))) for f in block.factors]
    return Ties(
        tuple(factor for factor in every if not _is_local(factor, name)),
        tuple(factor for factor in every if _is_local(factor, name)),
    )


def sites_of(factor: Factor, name: str) -> list[Reference]:
    """Where a factor looks the unknown up."""
    found: list[Expression] = list(dict.fromkeys(walk(factor.expression)))
    return [part for part in found if isinstance(part, Reference) and part.name == name]


def inner_indices(place: Reference, axes: tuple[Index, ...]) -> tuple[Index, ...]:
    """The indices of a place that a sum inside the factor binds."""
    return tuple(sorted(free_indices(place) - set(axes), key=lambda index: index.name))


def ties_move(block: SiteBlock, known: Collection[str]) -> bool:
    """Whether the places of the sites depend on unknowns, so that ties change from sweep to sweep."""
    ties = ties_of(block)
    (name,) = block.variables
    every = (*ties.together, *ties.alone)
    placed = {n for f in every for p in sites_of(f, name) for at in p.indices for n in names(at)}
    return not placed <= set(known)


def _is_local(factor: Factor, name: str) -> bool:
    """Whether each row of a factor looks at one site, at a place that the axes of the factor alone decide."""
    places = sites_of(factor, name)
    inside = all(free_indices(at) <= set(factor.axes) for at in places[0].indices)
    return len(places) == 1 and inside and not any(name in names(at) for at in places[0].indices)
