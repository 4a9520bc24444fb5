"""Loops whose cells lean on earlier cells only: continuous ones stay whole, one variable with a factor for each line.

    beta[t] ~ dnorm(2 * beta[t-1] - beta[t-2], tau)        for (t in 3:T)

The order of the pieces has a circle, but that of the cells has none, so the product of the lines is the joint density.
A short loop is unrolled instead: its nodes keep their own distributions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from platewright.families import FAMILY_BY_NAME
from platewright.language.bugs.arithmetic import NotKnown, Scope
from platewright.language.bugs.arrays import Block, Fixed, Piece, Span, locate, spread
from platewright.language.bugs.cycles import parents_of
from platewright.language.bugs.densities import FORMS, canonical
from platewright.language.bugs.syntax import Draw

Array = np.ndarray
FEW_CELLS = 24
MOST_EDGES = 200_000


def stays_whole(
    circle: Sequence[Piece], blocks: Mapping[str, Block], observed: Mapping[str, Array], scope: Scope
) -> bool:
    """Whether the pieces of a circle can be written as they are: continuous, long, and without a circle of cells."""
    random = [piece for piece in circle if piece.relation.is_random]
    if not random or sum(piece.cells()[0].size if piece.cells() else 1 for piece in random) <= FEW_CELLS:
        return False
    if not all(_is_plain(piece, observed) for piece in random) or _computes_itself(circle, blocks, scope):
        return False
    return _runs_forward(circle, blocks, scope)


def _computes_itself(circle: Sequence[Piece], blocks: Mapping[str, Block], scope: Scope) -> bool:
    """Whether deterministic pieces alone make a circle: what has no density of its own cannot become a factor."""
    left = {piece.number: piece for piece in circle if not piece.relation.is_random}
    while True:
        free = [n for n, piece in left.items() if not {p.number for p in parents_of(piece, blocks, scope)} & set(left)]
        if not free:
            return bool(left)
        for number in free:
            del left[number]


def _is_plain(piece: Piece, observed: Mapping[str, Array]) -> bool:
    """A continuous number for each cell, all of them known or none."""
    statement = piece.relation.statement
    assert isinstance(statement, Draw)
    form = FORMS.get(canonical(statement.density.name))
    if form is None or piece.events or piece.inner or FAMILY_BY_NAME[form.family].domain.kind != "real":
        return False
    values = observed.get(piece.name)
    known = np.isfinite(values[piece.cells()]) if values is not None else np.zeros(1, dtype=bool)
    return bool(known.all() or not known.any())


def _runs_forward(circle: Sequence[Piece], blocks: Mapping[str, Block], scope: Scope) -> bool:
    """Whether no cell leans on itself, through others or at once."""
    names = list(dict.fromkeys(piece.name for piece in circle))
    sizes = [int(np.prod(blocks[name].shape)) for name in names]
    first = dict(zip(names, np.cumsum([0, *sizes])))
    users: list[Array] = []
    sources: list[Array] = []
    edges = 0
    for piece in circle:
        points = int(np.prod(piece.grid.shape))
        own = first[piece.name] + _flat(piece.cells(), blocks[piece.name]).reshape(points, -1, 1)
        for element in piece.relation.uses():
            if element.name not in first:
                continue
            block = blocks[element.name]
            spots = locate(element, block.shape, piece.grid, scope)
            if not all(isinstance(spot, (Fixed, Span)) for spot in spots) or len(spots) != len(block.shape):
                return False
            try:
                used = _flat(spread(spots, piece.grid), block)
            except (ValueError, NotKnown):
                return False
            edges += used.size * own.shape[1]
            if edges > MOST_EDGES:
                return False
            used = used.reshape(points if spots else 1, 1, -1)  # a node without indices is the same in all rounds
            pairs = np.broadcast_arrays(own, first[element.name] + used)
            users.append(pairs[0].ravel())
            sources.append(pairs[1].ravel())
    return _has_no_circle(np.concatenate(users), np.concatenate(sources), sum(sizes))


def _flat(cells: tuple[Array, ...], block: Block) -> Array:
    return np.asarray(np.ravel_multi_index(cells, block.shape)) if cells else np.zeros((), dtype=np.int64)


def _has_no_circle(users: Array, sources: Array, count: int) -> bool:
    """Without a circle every cell is a strong component of its own."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if np.any(users == sources):
        return False
    table = coo_array((np.ones(users.size), (users, sources)), (count, count))
    return bool(connected_components(table, connection="strong")[0] == count)
