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
    return all(_is_plain(piece, observed) for piece in random) and _runs_forward(circle, blocks, scope)


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
    """Whether no cell leans on itself through others: cells are taken away as soon as all they lean on are gone."""
    names = {piece.name for piece in circle}
    leans: dict[tuple[str, int], set[tuple[str, int]]] = {}
    edges = 0
    for piece in circle:
        own = _flat(piece.cells(), blocks[piece.name])
        for element in piece.relation.uses():
            if element.name not in names:
                continue
            block = blocks[element.name]
            spots = locate(element, block.shape, piece.grid, scope)
            if not all(isinstance(spot, (Fixed, Span)) for spot in spots) or len(spots) != len(block.shape):
                return False
            try:
                used = _flat(spread(spots, piece.grid), block)
            except (ValueError, NotKnown):
                return False
            used = used.reshape((*piece.grid.shape, -1))
            edges += used.size
            if edges > MOST_EDGES:
                return False
            for at in np.ndindex(*piece.grid.shape):
                sources = {(element.name, int(cell)) for cell in used[at]}
                for cell in np.ravel(own[at]):
                    leans.setdefault((piece.name, int(cell)), set()).update(sources)
    return _has_no_circle(leans)


def _flat(cells: tuple[Array, ...], block: Block) -> Array:
    return np.asarray(np.ravel_multi_index(cells, block.shape)) if cells else np.zeros((), dtype=np.int64)


def _has_no_circle(leans: Mapping[tuple[str, int], set[tuple[str, int]]]) -> bool:
    waiting = {cell: {source for source in sources if source in leans} for cell, sources in leans.items()}
    users: dict[tuple[str, int], list[tuple[str, int]]] = {}
    for cell, sources in waiting.items():
        for source in sources:
            users.setdefault(source, []).append(cell)
    free = [cell for cell, sources in waiting.items() if not sources]
    gone = 0
    while free:
        cell = free.pop()
        gone += 1
        for user in users.get(cell, ()):
            waiting[user].discard(cell)
            if not waiting[user]:
                free.append(user)
    return gone == len(waiting)
