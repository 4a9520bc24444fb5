"""Translate names: where a loop variable, a constant or an array element stands in a statement, in our algebra.

A frame is one piece being translated: its plates, what its loop variables are worth, and which index names are taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from platewright.algebra import build
from platewright.algebra.expression import Constant, Expression, Index, Lag, Literal, Reference, Size
from platewright.errors import BugsError
from platewright.language.bugs.arithmetic import NotKnown
from platewright.language.bugs.arrays import Block, Fixed, Moving, Piece, Ragged, Span, Spot, distinct, locate, spread
from platewright.language.bugs.complaint import complain, nearest
from platewright.language.bugs.draft import Draft
from platewright.language.bugs.inputs import declare_input
from platewright.language.bugs.relations import compute_on
from platewright.language.bugs.resolve import (
    NeedsData,
    TooLarge,
    choose,
    express,
    is_whole,
    piece_at,
    variable_axes,
    whole_variable,
    with_shift,
)
from platewright.language.bugs.syntax import Element, Empty, Place, Range
from platewright.language.bugs.syntax import Expression as Tree
from platewright.language.bugs.value import Span as Axis
from platewright.language.bugs.value import Value
from platewright.language.plate import Plate, membership

Array = np.ndarray


@dataclass(frozen=True)
class GoingOn:
    """How the rule of a series reads the cell before: as the element before, or where each series begins."""

    piece: Piece
    axis: int
    beginnings: Array | None = None


@dataclass
class Frame:
    """The statement that is being translated."""

    draft: Draft
    piece: Piece
    plates: tuple[Plate, ...]
    taken: dict[str, int] = field(default_factory=dict)
    renamed: dict[int, Index] = field(default_factory=dict)
    """Axes that go by another index than that of their plate: the steps of a series after its first."""
    going_on: GoingOn | None = None
    """For the rule of a series: how its own cells are read."""
    cutting: bool = False
    """Whether slices with moving ends are cut out of their dimension, so that they can go in step with others."""

    @property
    def indices(self) -> tuple[Index, ...]:
        """The indices of the piece's own axes, in the order of its grid."""
        return tuple(self.renamed.get(number, plate.index) for number, plate in enumerate(self.plates))

    def complain(self, place: Place, found: str, expected: str = "", hint: str = "") -> BugsError:
        """An error that points into the text."""
        return complain(self.draft.text, place, found, expected, hint)

    def fresh_index(self, plate: Plate) -> Index:
        """An index over a plate that nothing else in this statement uses."""
        count = self.taken.get(plate.name, 1 if plate in self.plates else 0)
        self.taken[plate.name] = count + 1
        return Index(plate.name + "'" * count, plate.name)

    # -- loop variables ---

    def loop_value(self, name: str) -> Expression:
        """What a loop variable is worth: its first value plus the index, or a look-up along a long axis."""
        for axis, index in zip(self.piece.grid.axes, self.indices):
            if name not in axis.variables:
                continue
            if axis.start is not None:
                return build.add(index, float(axis.start))
            plate = self.draft.model.plates[index.plate]
            if plate.within is not None and name == axis.variables[0]:
                return build.add(Reference(membership(plate.name, plate.within), (index,)), 1.0)
            if (label := self.draft.loop_columns.get((self.piece.number, name))) is not None:
                return build.add(Reference(label, (index,)), 1.0)
            if plate.size is None:
                raise NeedsData("a loop whose length only the data give")
            values = axis.values[name]
            return Literal(tuple(values.astype(float).tolist()), values.shape, (plate.name,), (index,))
        return Constant(float(self.piece.grid.loops[name]))

    # -- names ---

    def element(self, node: Element) -> Value:
        """A name with its indices as a value."""
        draft = self.draft
        if node.indices is None and node.name in self.piece.grid.loops:
            return Value(self.loop_value(node.name))
        if node.name not in draft.shapes or (node.name not in draft.blocks and not self._is_constant(node.name)):
            known = {*draft.shapes, *draft.blocks, *draft.folded.constants}
            raise self.complain(
                node.place,
                f"`{node.name}` is not defined and not in the data",
                expected="a definition, or a value in the data",
                hint=nearest(node.name, known - {node.name}),
            )
        shape = draft.shapes[node.name]
        if node.indices is not None and len(node.indices) != len(shape):
            raise self.complain(node.place, f"`{node.name}` has {len(node.indices)} indices", f"{len(shape)}")
        scope = draft.scope
        spots = locate(node, shape, self.piece.grid, scope)
        try:
            if scope.touched:
                raise NeedsData(f"the index hangs on `{min(scope.touched)}`")
            return self._located(node, spots)
        except TooLarge as trouble:
            raise self.complain(node.place, f"`{node.name}` needs {trouble}", "a simpler index") from None
        except NeedsData as trouble:
            raise self.complain(
                node.place, f"`{node.name}` cannot be placed without data: {trouble}", "read_bugs(text, data)"
            ) from None

    def _is_constant(self, name: str) -> bool:
        return name in self.draft.folded.constants or bool(self.draft.folded.assumed)

    def _located(self, node: Element, spots: tuple[Spot, ...]) -> Value:
        axes, index_of = self._open_axes(node, spots)
        block = self.draft.blocks.get(node.name)
        static = all(isinstance(spot, (Fixed, Span)) for spot in spots)
        if block is None:
            return Value(self._constant(node, spots, index_of), axes)
        if static:
            return Value(self._known_cells(node, block, spots, axes), axes)
        label, order, shift = whole_variable(self.draft, node.name)
        at = [self._place(node, d, spot, index_of) for d, spot in enumerate(spots)]
        return Value(build.add(Reference(label, tuple(at[d] for d in order)), shift), axes)

    def _open_axes(self, node: Element, spots: tuple[Spot, ...]) -> tuple[tuple[Axis, ...], dict[int, Expression]]:
        """An axis for each slice; slices with moving ends run over the whole dimension under a mask."""
        axes: list[Axis] = []
        index_of: dict[int, Expression] = {}
        shape = self.draft.shapes[node.name]
        for dimension, spot in enumerate(spots):
            if isinstance(spot, Span):
                if spot.start < 0 or spot.start + spot.size > shape[dimension]:
                    raise self.complain(node.place, f"`{node.name}` is sliced outside its {shape[dimension]} cells")
                whole = (spot.start, spot.size) == (0, shape[dimension])
                plate = self.draft.dimension(node.name, dimension) if whole else self.draft.slice_plate(spot.size)
                index = self.fresh_index(plate)
                count = Constant(float(spot.size)) if plate.size else Size(plate.name)
                axes.append(Axis(index, count, None, spot.size))
                index_of[dimension] = build.add(index, float(spot.start))
                if spot.start == 0 and not whole:
                    # a bare index would stand for the whole axis
                    steps = tuple(float(k) for k in range(spot.size))
                    index_of[dimension] = Literal(steps, (spot.size,), (plate.name,), (index,))
            elif isinstance(spot, Ragged) or self._is_moving_slice(node, dimension):
                if not isinstance(spot, Ragged):
                    raise self.complain(node.place, "a slice whose ends are random", "ends that the data give")
                if self.cutting:
                    axis, index_of[dimension] = self._cut_out(spot, shape[dimension])
                    axes.append(axis)
                    continue
                index = self.fresh_index(self.draft.dimension(node.name, dimension))
                first, last = (express(self.draft, end, self.indices) for end in (spot.first, spot.last))
                mask = build.multiply(1.0 - build.call("less", index, first), 1.0 - build.call("less", last, index))
                is_zero = self._ends_at_nothing(node, spots, dimension)
                axes.append(Axis(index, last - first + 1.0, mask, shape[dimension], first, is_zero_outside=is_zero))
                index_of[dimension] = index
        return tuple(axes), index_of

    def _cut_out(self, spot: Ragged, size: int) -> tuple[Axis, Expression]:
        """A slice with moving ends as an axis of its greatest length, and the positions along it as a table."""
        lengths = np.asarray(spot.last - spot.first + 1)
        plate = self.draft.slice_plate(max(int(lengths.max(initial=1)), 1))
        index = self.fresh_index(plate)
        steps = np.clip(spot.first[..., None] + np.arange(plate.size or 1), 0, size - 1)
        count = express(self.draft, lengths, self.indices)
        mask = None if (lengths == plate.size).all() else build.call("less", index, count)
        place = express(self.draft, steps, (*self.indices, index))
        return Axis(index, count, mask, plate.size or 1, by_table=True), place

    def _ends_at_nothing(self, node: Element, spots: tuple[Spot, ...], dimension: int) -> bool:
        """Whether all cells that a moving slice leaves out are undefined, and so count as 0 already."""
        block, spot = self.draft.blocks.get(node.name), spots[dimension]
        if block is None or not isinstance(spot, Ragged):
            return False
        depth, size = len(self.piece.grid.axes), block.shape[dimension]
        inside = np.arange(size)
        at: list[Array] = []
        for d, other in enumerate(spots):
            if d == dimension:
                at.append(inside)
            elif isinstance(other, Fixed) and (other.at >= 0).all() and (other.at < block.shape[d]).all():
                at.append(other.at.reshape((*[1] * (depth - other.at.ndim), *other.at.shape, 1)))
            else:
                return False
        owner = block.owner[tuple(np.broadcast_arrays(*at))]
        first, last = (end.reshape((*(1,) * (depth - end.ndim), *end.shape, 1)) for end in (spot.first, spot.last))
        left_out = (inside < first) | (inside > last)
        return not (left_out & (owner >= 0)).any()

    @staticmethod
    def _is_moving_slice(node: Element, dimension: int) -> bool:
        return node.indices is None or isinstance(node.indices[dimension], Range)

    def _place(self, node: Element, dimension: int, spot: Spot, index_of: dict[int, Expression]) -> Expression:
        """A position from 0 along one dimension."""
        if dimension in index_of:
            return index_of[dimension]
        part = node.indices[dimension] if node.indices else None
        size = self.draft.shapes[node.name][dimension]
        if isinstance(spot, Fixed):
            if (spot.at < 0).any() or (spot.at >= size).any():
                raise self.complain(node.place, f"`{node.name}` is indexed outside its {size} cells", f"1 to {size}")
            simple = express(self.draft, spot.at, self.indices, size)
            nested = isinstance(part, Element) and part.indices is not None
            long = isinstance(part, Element) and part.indices is None
            if not isinstance(simple, Literal) or not (nested or long):
                return simple
        assert isinstance(spot, (Fixed, Moving)) and part is not None and not isinstance(part, (Range, Empty))
        if isinstance(spot, Moving):
            self._refuse_fractions(node, part)
        from platewright.language.bugs.expressions import translate  # names and expressions hold each other

        found = build.add(translate(part, self).body, -1.0)
        if isinstance(found, Index) and isinstance(spot, Fixed):
            return simple  # the loop runs over a part of the axis, for which its index alone would not stand
        return self._as_index(found, node.name, dimension)

    def _refuse_fractions(self, node: Element, part: Tree) -> None:
        """An index that the data settle and that was not found a place is no whole number."""
        try:
            values = np.ravel(compute_on(part, self.piece.grid, self.draft.scope))
        except NotKnown:
            return
        wrong = values[np.isfinite(values) & ((values != np.floor(values)) | (np.abs(values) > 2**53))]
        if wrong.size:
            raise self.complain(node.place, f"`{node.name}` is indexed by {wrong[0]:g}", "a whole number, from 1")

    def _as_index(self, at: Expression, name: str, dimension: int) -> Expression:
        """A variable may stand as an index only if its levels are the elements of the axis; else it is a number."""
        if not isinstance(at, Reference) or "@" in at.name:
            return at
        if at.name not in self.draft.model.variables:
            return at  # the series that is being written, one step back
        domain = self.draft.model.variables[at.name].domain
        if domain.kind == "levels":
            levels, axis = (self.draft.model.plates[str(p)] for p in (domain.levels, self._axis_plate(name, dimension)))
            if levels.size == axis.size:
                return at
        elif domain.is_discrete:
            return at
        return build.call("floor", at)

    def _axis_plate(self, name: str, dimension: int) -> str:
        return self.draft.dimension(name, dimension).name

    def _known_cells(self, node: Element, block: Block, spots: tuple[Spot, ...], axes: tuple[Axis, ...]) -> Expression:
        """An element whose cells are known: from the piece that owns them, or a choice between pieces."""
        try:
            cells = spread(spots, self.piece.grid)
            flat = np.ravel_multi_index(cells, block.shape) if cells else np.zeros((), dtype=np.int64)
        except (ValueError, NotKnown):
            raise self.complain(
                node.place, f"`{node.name}` is indexed outside its cells", f"within {block.shape}"
            ) from None
        if self.going_on is not None and node.name == self.piece.name:
            if self.going_on.beginnings is None:
                return self._element_before(self.going_on)
            flat = np.broadcast_to(flat, self.piece.grid.shape).take(self.going_on.beginnings, self.going_on.axis)
        owner = block.owner.reshape(-1)[flat]
        if (owner < 0).any():
            known = self.draft.folded.observed.get(node.name)
            known = known if known is not None and known.shape == block.shape else np.full(block.shape, np.nan)
            lost = np.isnan(known.reshape(-1)[flat]) & (owner < 0)
            if lost.any():
                cell = np.unravel_index(int(flat[lost].flat[0]), block.shape)
                shown = ", ".join(str(int(k) + 1) for k in cell)
                raise self.complain(
                    node.place,
                    f"`{node.name}[{shown}]` is used but not defined",
                    "a definition, or a value in the data",
                )
        hit = [number for number in distinct(owner) if number >= 0]
        for number in hit:
            if block.pieces[number].number in self.draft.dropped:
                raise self.complain(node.place, self.draft.dropped[block.pieces[number].number])
        indices = (*self.indices, *(axis.index for axis in axes))
        if len(hit) == 1 and not (owner < 0).any():
            return self._in_piece(node, block.pieces[hit[0]], block, flat, indices, spots)
        if len(hit) == len(block.pieces):
            label, order, shift = whole_variable(self.draft, node.name)
            spans = [(d, spot.start) for d, spot in enumerate(spots) if isinstance(spot, Span)]
            places: dict[int, Expression] = {
                d: build.add(axis.index, float(start)) for (d, start), axis in zip(spans, axes)
            }
            at = [self._place(node, d, spot, places) for d, spot in enumerate(spots)]
            return build.add(Reference(label, tuple(at[d] for d in order)), shift)
        return choose(self.draft, block, flat, indices, hit)

    def _element_before(self, going_on: GoingOn) -> Expression:
        whole = variable_axes(self.draft, going_on.piece)
        at = (Lag(self.indices[axis]) if axis == going_on.axis else self.indices[axis] for _, axis in whole)
        return with_shift(self.draft, going_on.piece, Reference(self.draft.labels[going_on.piece.number], tuple(at)))

    def _in_piece(
        self,
        node: Element,
        piece: Piece,
        block: Block,
        flat: Array,
        indices: tuple[Index, ...],
        spots: tuple[Spot, ...],
    ) -> Expression:
        found = piece_at(self.draft, piece, block, flat, indices)
        reference = found if isinstance(found, Reference) else None
        tabled = reference is not None and any(isinstance(at, Literal) for at in reference.indices)
        if tabled and reference is not None and is_whole(self.draft, block):
            # A table is right but says little; where the text looks a position up by name, so do we.
            label, order, shift = whole_variable(self.draft, node.name)
            if label == reference.name:
                looked_up = [d for d, spot in enumerate(spots) if isinstance(spot, Fixed)]
                at = {d: self._place(node, d, spots[d], {}) for d in looked_up}
                chosen = [
                    at[d] if isinstance(old, Literal) and d in at else old
                    for d, old in zip(order, reference.indices, strict=True)
                ]
                return build.add(Reference(label, tuple(chosen)), shift)
        return found

    # -- constants ---

    def _constant(self, node: Element, spots: tuple[Spot, ...], index_of: dict[int, Expression]) -> Expression:
        name = node.name
        label = declare_input(self.draft, name)
        values = self.draft.folded.constants.get(name)
        if values is not None and all(isinstance(spot, (Fixed, Span)) for spot in spots) and spots:
            try:
                used = values[spread(spots, self.piece.grid)]
            except (IndexError, NotKnown):
                raise self.complain(node.place, f"`{name}` is indexed outside its {values.shape}") from None
            if np.isnan(used).any():
                raise self.complain(node.place, f"`{name}` is NA where it is used", "a value, or a distribution")
        elif values is not None and values.ndim == 0 and np.isnan(values):
            raise self.complain(node.place, f"`{name}` is NA where it is used", "a value, or a distribution")
        at = tuple(self._place(node, d, spot, index_of) for d, spot in enumerate(spots))
        return build.add(Reference(label, at), self.draft.sources[label].shift)
