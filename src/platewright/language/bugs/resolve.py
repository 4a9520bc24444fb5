"""Turn `alpha[group[i], 2]` into a reference: find the piece that owns the cells, and the position inside it.

known cells in one piece         -> that piece's variable at constants, indices of plates, shifted indices or a table
known cells in several pieces    -> the whole array, or a choice between the pieces by a table
cells that move with a variable  -> the whole array at the value of that variable
"""

from __future__ import annotations

import numpy as np

from platewright.algebra import build
from platewright.algebra.expression import Constant, Expression, Index, Literal, Reference
from platewright.language.bugs.arrays import Block, Fixed, Piece, Span
from platewright.language.bugs.draft import Draft

Array = np.ndarray
MOST_CELLS_IN_A_TABLE = 1_000_000
MOST_NESTED = 8
"""Beyond this a choice is a sum of pieces times their masks, which is flat, not a nest of choices."""


class TooLarge(Exception):
    """A table that would not fit; turned into a complaint with its place by the caller."""


class NeedsData(Exception):
    """A table that hangs on sizes nobody gave; turned into a complaint by the caller."""


def express(draft: Draft, at: Array, indices: tuple[Index, ...], along: int | None = None) -> Expression:
    """Numbers over some axes as an expression: a constant, a (shifted) index, or a table over the axes that matter.

    Positions `along` so many cells are a bare index of a loop only if it runs over all: it stands for the whole axis.
    """
    shape = (*(1,) * (len(indices) - at.ndim), *at.shape)
    values = at.reshape(shape)
    kept = [k for k in range(len(shape)) if shape[k] > 1 and (np.diff(values, axis=k) != 0).any()]
    reduced = values[tuple(slice(None) if k in kept else 0 for k in range(len(shape)))]
    if not kept:
        return Constant(float(reduced))
    if len(kept) == 1 and (np.diff(reduced) == 1).all():
        plate = draft.model.plates[indices[kept[0]].plate]
        is_slice = ("slice", plate.size) in draft.union.parent and plate == draft.slice_plate(plate.size or 0)
        if reduced[0] != 0 or along is None or plate.size in (None, along) or is_slice:
            return build.add(indices[kept[0]], float(reduced[0]))
    if reduced.size > MOST_CELLS_IN_A_TABLE:
        raise TooLarge(f"a table of {reduced.size:,} cells")
    if any(draft.model.plates[indices[k].plate].size is None for k in kept):
        raise NeedsData("the cells depend on sizes that only the data give")
    where = tuple(indices[k] for k in kept)
    return Literal(tuple(np.ravel(reduced).astype(float).tolist()), reduced.shape, tuple(i.plate for i in where), where)


def variable_axes(draft: Draft, piece: Piece) -> tuple[tuple[str, int], ...]:
    """The axes of a piece's variable: grid axes in the order of the array's dimensions, then those inside a value."""
    order: list[int] = []
    for dimension, spot in enumerate(piece.spots):
        if isinstance(spot, Fixed):
            for axis in range(spot.at.ndim):
                if spot.at.shape[axis] > 1 and axis not in order:
                    order.append(axis)
        del dimension
    order += [axis for axis in range(len(piece.grid.axes)) if axis not in order]
    return (*(("axis", axis) for axis in order), *(("event", dimension) for dimension in piece.events))


def positions(piece: Piece, block: Block) -> dict[tuple[str, int], Array]:
    """For every cell of the array, where it lies along each axis of the piece's variable.

    Cells of other pieces get a place too, one that keeps the table simple: what is looked up there is thrown away.
    """
    found: dict[tuple[str, int], Array] = {}
    cells = piece.cells()
    depth = len(piece.grid.axes)
    shape = cells[0].shape if cells else ()
    for key in [("axis", axis) for axis in range(depth)] + [("event", d) for d in piece.events]:
        table = _filling(piece, block, key)
        axis = key[1] if key[0] == "axis" else depth + piece.events.index(key[1])
        form = [1] * len(shape)
        form[axis] = shape[axis]
        table[cells] = np.broadcast_to(np.arange(shape[axis]).reshape(form), shape)
        found[key] = table
    return found


def _filling(piece: Piece, block: Block, key: tuple[str, int]) -> Array:
    """Places for cells that are not the piece's own: along a straight dimension the nearest, else the first."""
    for dimension, size in enumerate(block.shape):
        spot = piece.spots[dimension]
        if key == ("event", dimension) and isinstance(spot, Span):
            offset, most = spot.start, spot.size
        elif key[0] == "axis" and (found := _straight(piece, dimension)) is not None and found[0] == key[1]:
            offset, most = found[1], piece.grid.axes[key[1]].size
        else:
            continue
        form = [1] * len(block.shape)
        form[dimension] = size
        places = np.clip(np.arange(size) - offset, 0, most - 1).reshape(form)
        return np.array(np.broadcast_to(places, block.shape))
    return np.zeros(block.shape, dtype=np.int64)


def is_whole(draft: Draft, block: Block) -> bool:
    """Whether one piece is the array itself: all cells, each dimension straight along an axis of its own."""
    if len(block.pieces) != 1 or (block.owner < 0).any():
        return False
    piece = block.pieces[0]
    axes = [piece.axis_of(d) for d in range(len(block.shape)) if d not in piece.events]
    if any(axis is None or axis[1] != 0 for axis in axes):
        return False
    return len({axis[0] for axis in axes if axis}) == len(axes) == len(piece.grid.axes)


def piece_at(draft: Draft, piece: Piece, block: Block, flat: Array, indices: tuple[Index, ...]) -> Expression:
    """A piece's variable at known cells, given as flat cell numbers over the axes `indices`."""
    places = positions(piece, block)
    variable = draft.model.variables.get(draft.labels[piece.number])
    if variable is not None and isinstance(variable.definition, Constant):
        return variable.definition
    at = []
    for key in variable_axes(draft, piece):
        size = piece.grid.axes[key[1]].size if key[0] == "axis" else piece.spots[key[1]].size
        at.append(express(draft, places[key].reshape(-1)[flat], indices, size))
    return with_shift(draft, piece, Reference(draft.labels[piece.number], tuple(at)))


def with_shift(draft: Draft, piece: Piece, reference: Expression) -> Expression:
    """Categories count from 0 here and from 1 in BUGS."""
    shift = draft.sources[draft.labels[piece.number]].shift if draft.labels[piece.number] in draft.sources else 0.0
    return build.add(reference, shift)


def choose(draft: Draft, block: Block, flat: Array, indices: tuple[Index, ...], hit: list[int]) -> Expression:
    """A choice between pieces (and known cells) by tables over the axes."""
    owner = block.owner.reshape(-1)[flat]
    result: Expression = Constant(0.0)
    if (owner < 0).any():
        known = draft.folded.observed.get(block.name)
        if known is not None and known.shape == block.shape:
            values = np.nan_to_num(known.reshape(-1)[flat], nan=0.0) * (owner < 0)
            result = express_values(draft, values, indices)
    terms: list[Expression] = []
    for number in hit:
        reference = piece_at(draft, block.pieces[number], block, flat, indices)
        mine = express_values(draft, (owner == number).astype(float), indices)
        if len(hit) <= MOST_NESTED:
            result = build.where(mine, reference, result)
        else:
            terms.append(build.multiply(mine, reference))
    return build.add(result, *terms)


def express_values(draft: Draft, values: Array, indices: tuple[Index, ...]) -> Expression:
    """Numbers over some axes as a constant or a table, never as a counting index."""
    shape = (*(1,) * (len(indices) - values.ndim), *values.shape)
    full = values.reshape(shape)
    kept = [k for k in range(len(shape)) if shape[k] > 1 and (full != np.take(full, [0], axis=k)).any()]
    reduced = full[tuple(slice(None) if k in kept else 0 for k in range(len(shape)))]
    if not kept:
        return Constant(float(reduced))
    if reduced.size > MOST_CELLS_IN_A_TABLE:
        raise TooLarge(f"a table of {reduced.size:,} cells")
    if any(draft.model.plates[indices[k].plate].size is None for k in kept):
        raise NeedsData("the cells depend on sizes that only the data give")
    where = tuple(indices[k] for k in kept)
    return Literal(tuple(np.ravel(reduced).astype(float).tolist()), reduced.shape, tuple(i.plate for i in where), where)


def whole_variable(draft: Draft, name: str) -> tuple[str, tuple[int, ...], float]:
    """The variable that holds all of an array, the order of its axes in dimensions, and its shift."""
    block = draft.blocks[name]
    if is_whole(draft, block):
        piece = block.pieces[0]
        label = draft.labels[piece.number]
        order = []
        for kind, number in variable_axes(draft, piece):
            if kind == "event":
                order.append(number)
            else:
                order.append(next(d for d in range(len(block.shape)) if _straight_axis(piece, d) == number))
        shift = draft.sources[label].shift if label in draft.sources else 0.0
        return label, tuple(order), shift
    if name not in draft.wholes:
        plates = draft.axes(name)
        indices = tuple(plate.index for plate in plates)
        flat = np.arange(block.owner.size).reshape(block.shape)
        label = draft.fresh(name if draft.identifiers.get(name) is None else f"{name}_all")
        definition = choose(draft, block, flat, indices, list(range(len(block.pieces))))
        draft.add_deterministic(label, indices, definition)
        draft.wholes[name] = label
    return draft.wholes[name], tuple(range(len(block.shape))), 0.0


def _straight(piece: Piece, dimension: int) -> tuple[int, int] | None:
    return None if isinstance(piece.spots[dimension], Span) else piece.axis_of(dimension)


def _straight_axis(piece: Piece, dimension: int) -> int | None:
    found = _straight(piece, dimension)
    return None if found is None else found[0]
