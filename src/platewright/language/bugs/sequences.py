"""Recognise series: a first element and a rule from one element to the next become one variable on an ordered plate.

    z[1] ~ dbern(psi)                                       z ~ Bernoulli(..lag(z).., start=psi) on the ordered plate t
    for (t in 2:T) { z[t] ~ dbern(mu[t])                    (what stands between z[t] and z[t-1] is put into the rule)
                     mu[t] <- z[t-1] * phi[t-1] + ... }

    z[i, f[i]] <- 1                                         the plate t within i, ordered; the rule at the first step,
    for (t in (f[i]+1):T) { z[i,t] ~ dbern(phi*z[i,t-1]) }  with what the cell before it holds, is the start

Only one step back: longer memories are unrolled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from platewright.language.bugs.arithmetic import NotKnown, Scope
from platewright.language.bugs.arrays import Block, Fixed, Piece, locate, spread, straight
from platewright.language.bugs.densities import FORMS, canonical
from platewright.language.bugs.folding import INVERSE_LINKS
from platewright.language.bugs.relations import Relation, Series
from platewright.language.bugs.syntax import (
    Assignment,
    Draw,
    Element,
    Empty,
    FunctionCall,
    Number,
    Operation,
    Range,
    elements,
)

Array = np.ndarray
MOST_ROUNDS = 10


def as_sequence(circle: Sequence[Piece], blocks: Mapping[str, Block], scope: Scope) -> Relation | None:
    """The circle as one relation over an ordered loop, or None where it is not a series with one step of memory."""
    randoms = [piece for piece in circle if piece.relation.is_random]
    if len(randoms) != 1 or randoms[0].inner or len(blocks[randoms[0].name].pieces) != 2:
        return None
    (rest,) = randoms
    (first,) = (piece for piece in blocks[rest.name].pieces if piece is not rest)
    if first in circle or not first.relation.is_random or not _alike(first, rest):
        return None
    step = _step_dimension(first, rest, blocks[rest.name].shape)
    if step is None:
        return None
    rule = _inlined(rest.relation, circle)
    if rule is None or not _looks_one_back(rule, rest, step, blocks[rest.name], scope):
        return None
    variable: Any = (rest.relation.target.indices or ())[step]
    loops = tuple(
        replace(head, domain=Range(Number(1.0), head.domain.last))
        if head.variable == variable.name and isinstance(head.domain, Range)
        else head
        for head in rest.relation.loops
    )
    series = Series(rule, rest.relation, step, first.relation)
    return Relation(rest.relation.statement, loops, rest.relation.fixed, series)


def going_on(
    circle: Sequence[Piece], blocks: Mapping[str, Block], observed: Mapping[str, Array], scope: Scope
) -> Relation | None:
    """The circle as one relation over ordered loops that goes on from cells of other pieces, or from known ones."""
    randoms = [piece for piece in circle if piece.relation.is_random]
    if len(randoms) != 1 or randoms[0].inner or randoms[0].events or not _is_plain(randoms[0]):
        return None
    (rest,) = randoms
    rule = _inlined(rest.relation, circle)
    if rule is None or any(axis.is_open for axis in rest.grid.axes):
        return None
    block = blocks[rest.name]
    mentions = [element for element in rule.uses() if element.name == rest.name]
    try:
        before = [spread(_settled(element, block, rest, scope), rest.grid) for element in mentions]
    except NotKnown:
        return None
    steps = {_step_back(rest.cells(), one) for one in before}
    if len(steps) != 1 or None in steps:
        return None
    (step,) = steps
    assert step is not None
    if not _begins_where_the_plate_does(rest, step, before[0], block):
        return None
    outside = (block.owner[before[0]] < 0) & ~_has_value(observed.get(rest.name), before[0])
    return None if outside.any() else replace(rest.relation, series=Series(rule, rest.relation, step))


def step_axis(piece: Piece, step: int) -> int | None:
    """The axis of the grid along which a series runs: that of the loop of its step."""
    spot = piece.spots[step]
    varying = [axis for axis, size in enumerate(spot.at.shape) if size > 1] if isinstance(spot, Fixed) else []
    return varying[0] if len(varying) == 1 else None


def beginnings(piece: Piece, axis: int) -> Array:
    """By the position along an axis: where its series begins. A long axis has one for each round of its outer loop."""
    values = piece.grid.axes[axis].values[piece.grid.axes[axis].variables[0]]
    if len(piece.grid.axes[axis].variables) == 1:
        return np.zeros(len(values), dtype=np.int64)
    new = np.r_[True, np.diff(values) != 0]
    return np.maximum.accumulate(np.where(new, np.arange(len(values)), 0))


def _settled(element: Element, block: Block, rest: Piece, scope: Scope) -> tuple[Fixed, ...]:
    found = locate(element, block.shape, rest.grid, scope)
    if len(found) != len(block.shape) or not all(isinstance(spot, Fixed) for spot in found):
        raise NotKnown
    fixed = tuple(spot for spot in found if isinstance(spot, Fixed))
    if any((spot.at < 0).any() or (spot.at >= size).any() for spot, size in zip(fixed, block.shape)):
        raise NotKnown
    return fixed


def _step_back(cells: tuple[Array, ...], before: tuple[Array, ...]) -> int | None:
    """The dimension along which some cells are the ones before others, with all else the same."""
    apart = [np.unique(there - here).tolist() for here, there in zip(cells, before)]
    back = [dimension for dimension, values in enumerate(apart) if values == [-1]]
    return back[0] if len(back) == 1 and all(values == [0] for values in apart if values != [-1]) else None


def _begins_where_the_plate_does(rest: Piece, step: int, before: tuple[Array, ...], block: Block) -> bool:
    """Whether the cell before is the element before along one axis, but at the beginning of each series."""
    axis = step_axis(rest, step)
    if axis is None or len(rest.grid.axes[axis].variables) > 2:
        return False
    place = np.full(block.shape, -1)
    size = rest.grid.axes[axis].size
    along = np.arange(size).reshape([size if k == axis else 1 for k in range(len(rest.grid.axes))])
    place[rest.cells()] = np.broadcast_to(along, rest.grid.shape)
    first = (beginnings(rest, axis) == np.arange(size)).reshape(along.shape)
    return bool((place[before] == np.where(first, -1, along - 1)).all())


def _has_value(known: Array | None, cells: tuple[Array, ...]) -> Array:
    return np.isfinite(known[cells]) if known is not None else np.zeros(np.shape(cells[0]), dtype=bool)


def _is_plain(piece: Piece) -> bool:
    statement = piece.relation.statement
    assert isinstance(statement, Draw)
    return statement.density.bounds is None and canonical(statement.density.name) in FORMS


def _alike(first: Piece, rest: Piece) -> bool:
    one, two = first.relation.statement, rest.relation.statement
    assert isinstance(one, Draw) and isinstance(two, Draw)
    name = canonical(one.density.name)
    if name != canonical(two.density.name) or name not in FORMS or first.events or rest.events:
        return False
    if one.density.bounds is not None or two.density.bounds is not None:
        return False
    plain = all(isinstance(part, Element) and part.indices is None for part in two.target.indices or ())
    return plain and all(isinstance(head.domain, Range) for head in rest.relation.loops)


def _step_dimension(first: Piece, rest: Piece, shape: tuple[int, ...]) -> int | None:
    """The dimension along which one piece is the beginning and the other all that follows; others must match."""
    found = None
    for dimension, size in enumerate(shape):
        one, two = first.spots[dimension], rest.axis_of(dimension)
        if two is None or not isinstance(one, Fixed):
            return None
        length = rest.grid.axes[two[0]].size
        begins = one.at.size == 1 and int(one.at.flat[0]) == 0
        if begins and two[1] == 1 and length == size - 1:
            if found is not None:
                return None
            found = dimension
        elif (
            (own := straight(one.at, first.grid)) is None
            or (own[1], two[1], length) != (0, 0, size)
            or first.grid.axes[own[0]].size != size
        ):
            return None
    axes = len(first.grid.axes)
    return found if axes == len(shape) - 1 and len(rest.grid.axes) == len(shape) else None


def _looks_one_back(rule: Relation, rest: Piece, step: int, block: Block, scope: Scope) -> bool:
    """Whether every mention of the series itself is the element before, in the same series."""
    for element in rule.uses():
        if element.name != rest.name:
            continue
        for dimension, spot in enumerate(locate(element, block.shape, rest.grid, scope)):
            found = straight(spot.at, rest.grid) if isinstance(spot, Fixed) else None
            own = rest.axis_of(dimension)
            if found is None or own is None or found[0] != own[0]:
                return False
            if found[1] != 0:
                return False
    return True


def _inlined(relation: Relation, circle: Sequence[Piece]) -> Relation | None:
    """The relation with the deterministic nodes of the circle replaced by what they are."""
    definitions: dict[str, Relation] = {}
    for piece in circle:
        if piece.relation.is_random:
            continue
        if piece.name in definitions or piece.events or piece.relation.fixed:
            return None
        definitions[piece.name] = piece.relation
    statement = relation.statement
    assert isinstance(statement, Draw)
    arguments = statement.density.arguments
    for _ in range(MOST_ROUNDS):
        inside = {element.name for argument in arguments for element in elements(argument)}
        if not inside & set(definitions):
            density = replace(statement.density, arguments=arguments)
            return replace(relation, statement=replace(statement, density=density))
        try:
            arguments = tuple(_opened(argument, definitions) for argument in arguments)
        except ValueError:
            return None
    return None


def _opened(node: Any, definitions: Mapping[str, Relation]) -> Any:
    match node:
        case Element(name, indices) if name in definitions:
            found = definitions[name].statement
            assert isinstance(found, Assignment)
            if indices is None or any(isinstance(part, (Range, Empty)) for part in indices):
                raise ValueError("a slice of a node in between")
            names = [part.name if isinstance(part, Element) else None for part in found.target.indices or ()]
            if None in names or len(names) != len(indices) or len(set(names)) != len(names):
                raise ValueError("a node in between that is not indexed plainly")
            value = _replaced(found.value, dict(zip(names, indices)))
            return FunctionCall(INVERSE_LINKS[found.link], (value,), node.place) if found.link else value
        case Element(_, indices) if indices:
            return replace(node, indices=tuple(_opened(part, definitions) for part in indices))
        case Operation(_, operands):
            return replace(node, operands=tuple(_opened(part, definitions) for part in operands))
        case FunctionCall(_, arguments):
            return replace(node, arguments=tuple(_opened(part, definitions) for part in arguments))
    return node


def _replaced(node: Any, changes: Mapping[Any, Any]) -> Any:
    match node:
        case Element(name, None) if name in changes:
            return changes[name]
        case Element(_, indices) if indices:
            return replace(node, indices=tuple(_replaced(part, changes) for part in indices))
        case Operation(_, operands):
            return replace(node, operands=tuple(_replaced(part, changes) for part in operands))
        case FunctionCall(_, arguments):
            return replace(node, arguments=tuple(_replaced(part, changes) for part in arguments))
        case Range(first, last):
            return replace(node, first=_replaced(first, changes), last=_replaced(last, changes))
    return node
