"""Arrays and the pieces they are made of: each relation defines a piece, and every cell knows its owner.

alpha[1] <- 0                       piece 0: cell 1
for (k in 2:K) alpha[k] ~ ...       piece 1: cells 2..K, at position k - 2 of its own axis
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from platewright.errors import BugsError
from platewright.language.bugs.arithmetic import MOST_CELLS, NotKnown, Scope, count_cells, whole
from platewright.language.bugs.complaint import complain
from platewright.language.bugs.relations import Grid, Relation, compute_on, lay_out
from platewright.language.bugs.syntax import Element, Empty, Range, elements

Array = np.ndarray


@dataclass(frozen=True)
class Fixed:
    """Known positions (from 0), broadcastable over the grid."""

    at: Array


@dataclass(frozen=True)
class Span:
    """A slice with constant ends."""

    start: int
    size: int


@dataclass(frozen=True)
class Ragged:
    """A slice whose ends move with the loops."""

    first: Array
    last: Array


@dataclass(frozen=True)
class Moving:
    """A position that hangs on something random or not yet known."""


Spot = Fixed | Span | Ragged | Moving


@dataclass(frozen=True, eq=False)
class Piece:
    """The cells that one relation defines."""

    number: int
    relation: Relation
    grid: Grid
    spots: tuple[Any, ...]
    """A `Fixed` or a `Span` for each dimension."""
    inner: tuple[Piece, ...] = ()
    """For a series: its beginning and its rule, each on its own grid."""

    @property
    def readers(self) -> tuple[Piece, ...]:
        """Those whose right sides are read for this piece."""
        return self.inner or (self,)

    @property
    def name(self) -> str:
        """The BUGS name of the array."""
        return self.relation.name

    def axis_of(self, dimension: int) -> tuple[int, int] | None:
        """(grid axis, offset) when the dimension runs straight along one axis: position = step + offset."""
        spot = self.spots[dimension]
        return None if isinstance(spot, Span) else straight(spot.at, self.grid)

    @property
    def events(self) -> tuple[int, ...]:
        """Dimensions inside one value."""
        return tuple(d for d, spot in enumerate(self.spots) if isinstance(spot, Span))

    def cells(self) -> tuple[Array, ...]:
        """Positions per dimension over the grid axes followed by the event axes, broadcast to one shape."""
        return spread(self.spots, self.grid)


@dataclass(frozen=True, eq=False)
class Block:
    """A whole array: its shape, its pieces and which piece owns each cell (-1: nobody)."""

    name: str
    shape: tuple[int, ...]
    pieces: tuple[Piece, ...]
    owner: Array


def straight(at: Array, grid: Grid) -> tuple[int, int] | None:
    """(axis, offset) when positions count up by one along exactly one axis of the grid."""
    varying = [k for k, size in enumerate(at.shape) if size > 1] if at.ndim else []
    if len(varying) > 1:
        return None
    values = at.reshape(-1)
    if not varying:
        return None
    if values.size != grid.axes[varying[0]].size or (np.diff(values) != 1).any():
        return None
    return varying[0], int(values[0])


def spread(spots: Sequence[Spot], grid: Grid) -> tuple[Array, ...]:
    """Index arrays over the grid axes, then one axis for each span."""
    spans = [spot for spot in spots if isinstance(spot, Span)]
    depth = len(grid.axes)
    shape = (*grid.shape, *(span.size for span in spans))
    if count_cells(shape) > MOST_CELLS:
        raise NotKnown
    found, seen = [], 0
    for spot in spots:
        if isinstance(spot, Span):
            form = [1] * len(shape)
            form[depth + seen] = spot.size
            seen += 1
            found.append(np.broadcast_to((spot.start + np.arange(spot.size)).reshape(form), shape))
        else:
            assert isinstance(spot, Fixed)
            at = spot.at.reshape((*(1,) * (depth - spot.at.ndim), *spot.at.shape, *(1,) * len(spans)))
            found.append(np.broadcast_to(at, shape))
    return tuple(found)


def locate(element: Element, shape: tuple[int, ...], grid: Grid, scope: Scope) -> tuple[Spot, ...]:
    """Where an element of an array lies, for all cells of a grid at once."""
    if element.indices is None:
        return tuple(Span(0, size) for size in shape)
    found: list[Spot] = []
    for part, size in zip(element.indices, shape):
        if isinstance(part, Empty):
            found.append(Span(0, size))
        elif isinstance(part, Range):
            found.append(_locate_range(part, grid, scope))
        else:
            try:
                at = np.asarray(whole(compute_on(part, grid, scope)))
                found.append(Fixed(at - 1))
            except NotKnown:
                found.append(Moving())
    return tuple(found)


def _locate_range(part: Range, grid: Grid, scope: Scope) -> Spot:
    try:
        first = np.asarray(whole(compute_on(part.first, grid, scope))) - 1
        last = np.asarray(whole(compute_on(part.last, grid, scope))) - 1
    except NotKnown:
        return Moving()
    if first.size and last.size and (first == first.flat[0]).all() and (last == last.flat[0]).all():
        return Span(int(first.flat[0]), max(int(last.flat[0]) - int(first.flat[0]) + 1, 0))
    return Ragged(first, last)


def find_shapes(
    relations: Sequence[Relation],
    grids: Sequence[Grid],
    scope: Scope,
    given: Mapping[str, tuple[int, ...]],
    source: str,
) -> dict[str, tuple[int, ...]]:
    """The shape of every array: as given by data or declared, else the largest index anywhere."""
    found: dict[str, list[int]] = {}
    every = list(zip(relations, grids))
    every += [(part, lay_out(part, scope, source)) for one in relations if one.series for part in one.series.parts]
    for relation, grid in every:
        used = [part for expression in relation.expressions() for part in elements(expression)]
        for element in (relation.target, *used):
            for inner in elements(element):
                if inner.name not in given and not (inner.indices is None and inner.name in grid.loops):
                    _enlarge(found, inner, grid, scope, source)
    return {**{name: tuple(sizes) for name, sizes in found.items()}, **given}


def _enlarge(found: dict[str, list[int]], element: Element, grid: Grid, scope: Scope, source: str) -> None:
    sizes = found.setdefault(element.name, [])
    if element.indices is None:
        return
    if sizes and len(sizes) != len(element.indices):
        raise complain(
            source, element.place, f"`{element.name}` has {len(element.indices)} indices", f"{len(sizes)} as elsewhere"
        )
    sizes += [0] * (len(element.indices) - len(sizes))
    for dimension, part in enumerate(element.indices):
        if isinstance(part, Empty):
            continue
        try:
            end = compute_on(part.last if isinstance(part, Range) else part, grid, scope)
            sizes[dimension] = max(sizes[dimension], int(np.max(whole(end), initial=0)))
        except NotKnown:
            continue


def assemble(
    relations: Sequence[Relation],
    grids: Sequence[Grid],
    shapes: Mapping[str, tuple[int, ...]],
    scope: Scope,
    source: str,
) -> dict[str, Block]:
    """All arrays that relations define, with their pieces and owners."""
    pieces: dict[str, list[Piece]] = {}
    owners: dict[str, Array] = {}
    for number, (relation, grid) in enumerate(zip(relations, grids)):
        shape = shapes[relation.name]
        _check_indices(relation, shape, source)
        if count_cells(shape) > MOST_CELLS:
            raise complain(source, relation.place, f"`{relation.name}` has {count_cells(shape):,} cells",
                           f"at most {MOST_CELLS:,}")  # fmt: skip
        spots = locate(relation.target, shape, grid, scope)
        if 0 in grid.shape:
            continue
        if any(isinstance(spot, (Moving, Ragged)) for spot in spots):
            raise _moving(relation, spots, source)
        piece = Piece(number, relation, grid, spots, _inner(number, relation, shape, scope, source))
        owner = owners.setdefault(relation.name, np.full(shape, -1))
        _claim(owner, piece, len(pieces.setdefault(relation.name, [])), source)
        pieces[relation.name].append(piece)
    return {name: Block(name, shapes[name], tuple(found), owners[name]) for name, found in pieces.items()}


def _moving(relation: Relation, spots: Sequence[Spot], source: str) -> BugsError:
    """The error for a left side whose place is not settled: which node it is would itself be unknown."""
    parts = relation.target.indices or ()
    part = next((part for part, spot in zip(parts, spots) if isinstance(spot, (Moving, Ragged))), None)
    loops = {head.variable for head in relation.loops}
    names = [one.name for one in elements(part) if one.name not in loops] if part is not None else []
    shown = f": `{names[0]}` is unknown or has gaps, so which node is meant would be unknown" if names else ""
    return complain(source, relation.place, f"the indices on the left are not constants{shown}",
                    "loop variables, numbers and data", "a mixture: give every node a density that hangs on the index"
                    if names else "")  # fmt: skip


def distinct(owners: Array) -> list[int]:
    """The pieces that own some cells, in order; -1 stands for nobody. (A count is far faster than a sort.)"""
    return (np.flatnonzero(np.bincount(np.ravel(owners) + 1)) - 1).tolist()


def _inner(number: int, relation: Relation, shape: tuple[int, ...], scope: Scope, source: str) -> tuple[Piece, ...]:
    """The beginning and the rule of a series as pieces, numbered so that no other piece has their numbers."""
    found = []
    for place, part in enumerate(relation.series.parts if relation.series else ()):
        grid = lay_out(part, scope, source)
        spots = locate(part.target, shape, grid, scope)
        found.append(Piece(-2 * number - 1 - place, part, grid, spots))
    return tuple(found)


def _check_indices(relation: Relation, shape: tuple[int, ...], source: str) -> None:
    indices = relation.target.indices
    if indices is not None and len(indices) != len(shape):
        raise complain(
            source, relation.place, f"`{relation.name}` has {len(indices)} indices", f"{len(shape)} as elsewhere"
        )
    if 0 in shape and (indices is None or any(isinstance(part, Empty) for part in indices)):
        raise complain(
            source, relation.place, f"the size of `{relation.name}` is not known", "sizes in a var block, or a range"
        )


def _claim(owner: Array, piece: Piece, place: int, source: str) -> None:
    try:
        cells = piece.cells()
        flat = np.ravel_multi_index(cells, owner.shape) if owner.ndim else np.zeros(piece.grid.shape)
    except (ValueError, IndexError, NotKnown):
        raise complain(source, piece.relation.place, f"`{piece.name}` is indexed outside its {owner.shape}",
                       "an index within the array") from None  # fmt: skip
    used = np.ravel(flat).astype(np.int64)
    mine = owner.reshape(-1)
    if (np.bincount(used, minlength=1) > 1).any() or (mine[used] >= 0).any():
        raise complain(source, piece.relation.place, f"`{piece.name}` is defined twice in some cell",
                       "one definition for each cell", "every loop variable should stand on the left")  # fmt: skip
    mine[used] = place
