"""Order the pieces so that parents come first; where pieces lean on each other, unroll a loop and look again.

    z[j] ~ dbern(mu[j]);  mu[j] <- z[j-1] * phi        one piece each, in a circle        unroll j: no circle

Only loops that make a circle are unrolled. A circle among single cells is a circle in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from platewright.language.bugs.arithmetic import NotKnown, Scope
from platewright.language.bugs.arrays import Block, Fixed, Moving, Piece, Ragged, distinct, locate, spread
from platewright.language.bugs.syntax import Draw, Element, elements

DISCRETE = frozenset({"dbern", "dcat", "dbin", "dbinom"})


@dataclass(frozen=True)
class Order:
    """Pieces with parents first, or the circles that remain."""

    pieces: tuple[Piece, ...]
    circles: tuple[tuple[Piece, ...], ...]
    forward: tuple[tuple[Piece, ...], ...] = ()
    """Circles of pieces whose cells make none: their lines are the joint density as they stand."""


def owners_hit(element: Element, piece: Piece, block: Block, scope: Scope) -> list[int]:
    """Which pieces of a block an element touches; all of them when its indices move."""
    everyone = list(range(len(block.pieces)))
    spots = locate(element, block.shape, piece.grid, scope)
    if any(isinstance(spot, (Moving, Ragged)) for spot in spots) or len(spots) != len(block.shape):
        return everyone
    try:
        found = distinct(block.owner[spread(spots, piece.grid)] if spots else block.owner)
    except (IndexError, NotKnown):
        return everyone
    return [number for number in found if number >= 0]


def parents_of(piece: Piece, blocks: Mapping[str, Block], scope: Scope) -> Iterator[Piece]:
    """The pieces that a piece depends on; a series does not count as its own parent."""
    for reader in piece.readers:
        for element in reader.relation.uses():
            if element.name in blocks:
                block = blocks[element.name]
                for number in owners_hit(element, reader, block, scope):
                    if not (piece.inner and block.pieces[number] is piece):
                        yield block.pieces[number]


def order_pieces(blocks: Mapping[str, Block], scope: Scope) -> Order:
    """Parents first, by strongly connected components; a component of one piece without a self-loop is no circle."""
    pieces = sorted((piece for block in blocks.values() for piece in block.pieces), key=lambda piece: piece.number)
    parents: dict[int, list[Piece]] = {}
    for piece in pieces:
        found: dict[int, Piece] = {}
        for parent in parents_of(piece, blocks, scope):
            found[parent.number] = parent
        parents[piece.number] = [found[number] for number in sorted(found)]
    components = _components(pieces, lambda piece: parents[piece.number])
    circles = tuple(
        tuple(sorted(component, key=lambda piece: piece.number))
        for component in components
        if len(component) > 1 or component[0] in parents[component[0].number]
    )
    return Order(tuple(piece for component in components for piece in component), circles)


def _components(pieces: Sequence[Piece], parents: Callable[[Piece], list[Piece]]) -> list[list[Piece]]:
    """Tarjan's strongly connected components without recursion; parents come out before children."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[Piece] = []
    on_path: set[int] = set()
    found: list[list[Piece]] = []
    for start in pieces:
        if start.number in index:
            continue
        work = [(start, iter(parents(start)))]
        index[start.number] = low[start.number] = len(index)
        path.append(start)
        on_path.add(start.number)
        while work:
            piece, waiting = work[-1]
            parent = next(waiting, None)
            if parent is None:
                work.pop()
                if work:
                    above = work[-1][0].number
                    low[above] = min(low[above], low[piece.number])
                if low[piece.number] == index[piece.number]:
                    component: list[Piece] = []
                    while not component or component[-1].number != piece.number:
                        component.append(path.pop())
                        on_path.discard(component[-1].number)
                    found.append(component)
            elif parent.number not in index:
                index[parent.number] = low[parent.number] = len(index)
                path.append(parent)
                on_path.add(parent.number)
                work.append((parent, iter(parents(parent))))
            elif parent.number in on_path:
                low[piece.number] = min(low[piece.number], index[parent.number])
    return found


def loops_to_unroll(circle: Sequence[Piece], scope: Scope) -> list[tuple[Piece, str]]:
    """The loops that make a circle: those whose variable stands in an index other than plainly, as in `z[j-1]`.

    Next those that meet an index that is unrolled already, then any loop that is left.
    """
    names = {piece.name for piece in circle}
    shifted: list[tuple[Piece, str]] = []
    meeting: list[tuple[Piece, str]] = []
    cut = {(piece.name, d) for piece in circle for d in _constant_dimensions(piece)}
    for piece in circle:
        own = {variable for axis in piece.grid.axes for variable in axis.variables}
        for element in piece.relation.uses():
            if element.name not in names or not element.indices:
                continue
            for dimension, part in enumerate(element.indices):
                inside = [inner.name for inner in elements(part) if inner.indices is None and inner.name in own]
                plain = isinstance(part, Element) and part.indices is None
                if inside and not plain:
                    shifted += [(piece, variable) for variable in inside]
                elif inside and (element.name, dimension) in cut:
                    meeting += [(piece, variable) for variable in inside]
    if shifted or meeting:
        return list({(id(piece), variable): (piece, variable) for piece, variable in shifted or meeting}.values())
    for piece in circle:
        if piece.grid.axes and not piece.inner:
            return [(piece, piece.grid.axes[-1].variables[-1])]
    return []


def loops_to_follow(blocks: Mapping[str, Block], scope: Scope) -> list[tuple[Piece, str]]:
    """Loops that read an unrolled discrete array cell by cell: unrolled too, each node meets the cells it reads only.

    As one piece they would look at a choice between all the cells, and tie them together in one factor.
    """
    cut = {name for name, block in blocks.items() if sum(_is_unrolled_discrete(p) for p in block.pieces) > 1}
    found: dict[int, tuple[Piece, str]] = {}
    for piece in (piece for block in blocks.values() for piece in block.pieces if not piece.inner):
        own = {variable for axis in piece.grid.axes for variable in axis.variables}
        for element in piece.relation.uses():
            if element.name not in cut or not element.indices:
                continue
            across = {d for d, _ in enumerate(element.indices) if _pieces_differ(blocks[element.name], d)}
            for dimension in sorted(across):
                part = element.indices[dimension]
                if isinstance(part, Element) and part.indices is None and part.name in own:
                    found.setdefault(piece.number, (piece, part.name))
    return list(found.values())


def _is_unrolled_discrete(piece: Piece) -> bool:
    statement = piece.relation.statement
    return isinstance(statement, Draw) and bool(piece.relation.fixed) and statement.density.name in DISCRETE


def _pieces_differ(block: Block, dimension: int) -> bool:
    """Whether pieces sit at several places along a dimension."""
    at = [spot.at for piece in block.pieces if isinstance(spot := piece.spots[dimension], Fixed)]
    return len({int(np.ravel(one)[0]) for one in at if np.size(one) == 1}) > 1


def _constant_dimensions(piece: Piece) -> list[int]:
    """Dimensions along which a piece sits at one place: where a loop was unrolled, or a number was written."""
    return [
        d
        for d, spot in enumerate(piece.spots)
        if isinstance(spot, Fixed) and np.size(spot.at) == 1 and spot is not None
    ]


def values_of(piece: Piece, variable: str) -> list[int]:
    """The values that a loop variable of a piece takes."""
    axis = next(axis for axis in piece.grid.axes if variable in axis.variables)
    return sorted(set(int(value) for value in axis.values[variable]))
