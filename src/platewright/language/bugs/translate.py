"""From the tree of a BUGS text to a model: fold constants, cut into pieces, find plates, write the pieces down.

    Text -> Folded -> pieces in order -> plates -> variables and potentials

A loop is unrolled only where pieces lean on each other in a circle; the report says which and why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from platewright.language.bugs.arithmetic import Scope
from platewright.language.bugs.arrays import Block, Piece, assemble, find_shapes
from platewright.language.bugs.circles import join_circles
from platewright.language.bugs.complaint import complain
from platewright.language.bugs.cycles import (
    Order,
    loops_to_follow,
    loops_to_unroll,
    order_pieces,
    parents_of,
    values_of,
)
from platewright.language.bugs.dirichlet_zeros import without_zeros
from platewright.language.bugs.draft import Draft
from platewright.language.bugs.folding import Folded, fold
from platewright.language.bugs.forward import stays_whole
from platewright.language.bugs.plating import Plating, Token
from platewright.language.bugs.relations import Head, Relation, flatten, lay_out, unroll
from platewright.language.bugs.report import Report
from platewright.language.bugs.sequences import as_sequence, going_on, step_axis
from platewright.language.bugs.standing_in import stand_in
from platewright.language.bugs.syntax import Draw, Element, Number, Range, Text, elements
from platewright.language.bugs.writing import declare_circle, declare_forward, open_circles, write_piece
from platewright.language.model import Model

Array = np.ndarray
MOST_STATEMENTS = 50_000
"""Statements as they are written: each takes a little less than a millisecond to read, and 10 KB."""
MOST_PIECES = 1_000
"""Nodes that unrolling may add."""


def translate_text(text: Text, data: Mapping[str, Array] | None, model: Model) -> Draft:
    """Fill the model with what the text says; the draft remembers what went where."""
    if len(said := [*flatten(text.data), *flatten(text.model)]) > MOST_STATEMENTS:
        found, place = f"the text has {len(said):,} statements", said[MOST_STATEMENTS].place
        raise complain(text.source, place, found, f"at most {MOST_STATEMENTS:,}", "write what repeats as a loop")
    report = Report()
    known, assumed = (dict(data), frozenset()) if data is not None else stand_in(text)
    folded = without_zeros(fold(text, known, assumed), text.source)
    report.computed = [name for name in folded.computed if data is not None or name not in assumed]
    relations = merge_alike(folded, text)
    relations, blocks, shapes, order = _cut(relations, folded, text, report)
    constants = {name for name in shapes if name not in blocks}
    plating = Plating(shapes, folded.scope, constants)
    union = plating.read([piece for block in blocks.values() for piece in block.pieces])
    draft = Draft(text.source, folded, shapes, blocks, union, plating.levels, model, report)
    draft.ordered |= {_ordered(piece) for block in blocks.values() for piece in block.pieces if piece.inner}
    _name(draft)
    draft.keep_names()
    needed = _needed(blocks, order.pieces, draft)
    in_circle = {piece.number for circle in order.circles for piece in circle}
    for circle in order.circles:
        (declare_forward if circle in order.forward else declare_circle)(draft, circle)
    for piece in order.pieces:
        write_piece(draft, piece, piece.number in needed, piece.number in in_circle)
    open_circles(draft, order.circles)
    join_circles(draft, [circle for circle in order.circles if circle not in order.forward])
    _describe(draft)
    return draft


def merge_alike(folded: Folded, text: Text) -> list[Relation]:
    """`theta[1] ~ D; theta[2] ~ D` with one and the same D for all cells becomes a loop."""
    by_name: dict[str, list[Relation]] = {}
    for relation in folded.relations:
        by_name.setdefault(relation.name, []).append(relation)
    merged: dict[str, Relation] = {}
    for name, found in by_name.items():
        if len(found) > 1 and (loop := _merged(found, folded, text)) is not None:
            merged[name] = loop
    result: list[Relation] = []
    for relation in folded.relations:
        if relation.name not in merged:
            result.append(relation)
        elif relation is by_name[relation.name][0]:
            result.append(merged[relation.name])
    return result


def _merged(found: list[Relation], folded: Folded, text: Text) -> Relation | None:
    first = found[0].statement
    if not all(isinstance(relation.statement, Draw) for relation in found) or not isinstance(first, Draw):
        return None
    variables = {head.variable for relation in found for head in relation.loops}
    inside = {e.name for argument in found[0].expressions() for e in elements(argument)}
    densities = [relation.statement.density for relation in found if isinstance(relation.statement, Draw)]
    if any(density != first.density for density in densities) or inside & variables:
        return None
    if first.target.indices is None or found[0].name in inside:
        return None
    grids = [lay_out(relation, folded.scope, text.source) for relation in found]
    shapes = find_shapes(found, grids, folded.scope, _given(folded), text.source)
    blocks = assemble(found, grids, shapes, folded.scope, text.source)
    block = blocks.get(found[0].name)
    if block is None or (block.owner < 0).any() or any(piece.events for piece in block.pieces):
        return None
    names = [f"{found[0].name}.{d + 1}" for d in range(len(block.shape))]
    heads = tuple(
        Head(name, Range(Number(1.0), Number(float(size))), first.place) for name, size in zip(names, block.shape)
    )
    target = replace(first.target, indices=tuple(Element(name) for name in names))
    return Relation(replace(first, target=target), heads)


def _given(folded: Folded) -> dict[str, tuple[int, ...]]:
    shapes = {name: values.shape for name, values in {**folded.constants, **folded.observed}.items()}
    return {**folded.declared, **shapes}


def _cut(
    relations: Sequence[Relation], folded: Folded, text: Text, report: Report
) -> tuple[list[Relation], dict[str, Block], dict[str, tuple[int, ...]], Order]:
    """Pieces in order; loops in circles are unrolled until the circles are gone or only single cells are left."""
    now = list(relations)
    scope = folded.scope
    barred: set[str] = set()
    while True:
        grids = [lay_out(relation, scope, text.source) for relation in now]
        shapes = find_shapes(now, grids, scope, _given(folded), text.source)
        blocks = assemble(now, grids, shapes, scope, text.source)
        order = order_pieces(blocks, scope)
        series = {
            found.name: found
            for circle in order.circles
            if (found := as_sequence(circle, blocks, scope) or going_on(circle, blocks, folded.observed, scope))
            and found.name not in barred
        }
        if series:
            now = _with_series(now, series)
            continue
        if again := {piece.name for circle in order.circles for piece in circle if piece.inner}:
            barred |= again
            now = [part for one in now for part in (one.series.written if one.name in again and one.series else (one,))]
            continue
        forward = tuple(one for one in order.circles if stays_whole(one, blocks, folded.observed, scope))
        order = replace(order, forward=forward)
        chosen = _to_unroll(order, scope)
        following = [] if chosen or folded.assumed else loops_to_follow(blocks, scope)
        added = len(now) - len(relations) + sum(len(values_of(piece, variable)) for piece, variable in following)
        if added <= MOST_PIECES:
            chosen |= {piece.number: variable for piece, variable in following}
        if not chosen:
            return now, blocks, shapes, order
        if folded.assumed:
            piece = next(p for circle in order.circles for p in circle)
            raise complain(
                text.source, piece.relation.place, f"`{piece.name}` refers to itself, so its loop is unrolled",
                "the data, for its length",
            )  # fmt: skip
        pieces = {number: piece for piece in order.pieces if (number := piece.number) in chosen}
        _check_length(len(now) - len(relations), chosen, pieces, text)
        why = "it reads cells that are unrolled" if following else "its cells depend on one another"
        now = _unrolled(now, chosen, pieces, why, report)


def _to_unroll(order: Order, scope: Scope) -> dict[int, str]:
    """By piece the loop that a circle asks to be unrolled; circles that are read forwards ask for none."""
    chosen: dict[int, str] = {}
    for circle in order.circles:
        if circle in order.forward:
            continue
        for piece, variable in loops_to_unroll(circle, scope):
            chosen.setdefault(piece.number, variable)
    return chosen


def _check_length(already: int, chosen: Mapping[int, str], pieces: Mapping[int, Piece], text: Text) -> None:
    """Refuse to unroll into more pieces than a model may have."""
    expected = already + sum(len(values_of(pieces[number], variable)) for number, variable in chosen.items())
    if expected > MOST_PIECES:
        raise complain(
            text.source,
            text_place({number: pieces[number] for number in chosen}),
            f"unrolling gives {expected:,} nodes",
            f"at most {MOST_PIECES:,}",
        )


def _unrolled(
    relations: Sequence[Relation], chosen: Mapping[int, str], pieces: Mapping[int, Piece], why: str, report: Report
) -> list[Relation]:
    """The statements with the chosen loops unrolled, which the report tells once for each."""
    longer: list[Relation] = []
    for number, relation in enumerate(relations):
        if number not in chosen:
            longer.append(relation)
            continue
        variable = chosen[number]
        line = f"`{relation.name}` over {variable} (line {relation.place.line}): {why}"
        if line not in report.unrolled:
            report.unrolled.append(line)
        longer += unroll(relation, variable, values_of(pieces[number], variable))
    return longer


def _with_series(relations: Sequence[Relation], series: Mapping[str, Relation]) -> list[Relation]:
    """Each series in place of the first of its statements, the other one gone."""
    found: list[Relation] = []
    placed: set[str] = set()
    for relation in relations:
        whole = series.get(relation.name)
        if whole is None or whole.series is None or relation not in whole.series.written:
            found.append(relation)
        elif relation.name not in placed:
            placed.add(relation.name)
            found.append(whole)
    return found


def _ordered(piece: Piece) -> Token:
    """The set along which a series runs: the dimension of its array, or the loop that goes on from other cells."""
    assert piece.relation.series is not None
    if piece.relation.series.first is not None:
        return "dim", piece.name, piece.relation.series.step
    return "loop", piece.number, step_axis(piece, piece.relation.series.step)


def text_place(pieces: Mapping[int, Piece]) -> tuple[int, int]:
    """Where the first of some pieces was written."""
    place = pieces[min(pieces)].relation.place
    return place.line, place.column


def _name(draft: Draft) -> None:
    """Names for pieces: the array's own when it is one piece, else by cell or by number."""
    for name, block in draft.blocks.items():
        if len(block.pieces) == 1:
            draft.labels[block.pieces[0].number] = draft.identifier(name)
            continue
        for number, piece in enumerate(block.pieces):
            cells = piece.cells()
            single = not piece.events and (not cells or cells[0].size == 1)
            wish = "_".join(str(int(at.flat[0]) + 1) for at in cells) if single else f"part{number + 1}"
            draft.labels[piece.number] = draft.fresh(f"{name}_{wish}")
        draft.report.pieces[name] = tuple(draft.labels[piece.number] for piece in block.pieces)


def _needed(blocks: Mapping[str, Block], pieces: Sequence[Piece], draft: Draft) -> set[int]:
    """Random pieces and all their ancestors; what is left is derived and may be dropped."""
    by_number = {piece.number: piece for piece in pieces}
    waiting = [piece.number for piece in pieces if piece.relation.is_random]
    found: set[int] = set(waiting)
    while waiting:
        piece = by_number[waiting.pop()]
        for parent in parents_of(piece, blocks, draft.scope):
            if parent.number not in found:
                found.add(parent.number)
                waiting.append(parent.number)
    return found


def _describe(draft: Draft) -> None:
    """Which loops and dimensions each plate stands for."""
    for (root, variant), plate in draft.plates.items():
        if variant:
            draft.report.plates[plate.name] = f"a second index over {plate.like}"
            continue
        members = [token for token in draft.union.parent if draft.union.root(token) == root]
        shown = [f"{token[1]}[{int(str(token[2])) + 1}]" for token in members if token[0] == "dim"]
        size = "?" if plate.size is None else str(plate.size)
        draft.report.plates[plate.name] = f"{size} elements; {', '.join(shown) or 'a part of a dimension'}"
    for name, values in draft.folded.observed.items():
        count = int(np.isnan(values).sum())
        if count and name in draft.blocks and count < values.size:
            owned = int((np.isnan(values) & (draft.blocks[name].owner >= 0)).sum())
            if owned:
                draft.report.missing[name] = owned
