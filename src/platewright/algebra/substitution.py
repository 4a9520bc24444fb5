"""Put something else in for parts of an expression; bound indices step aside.

substitute(sum_i a[i] b[j], {j: i})      is      sum_i' a[i'] b[i]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from platewright.algebra.expression import (
    Index,
    Inverse,
    LogDeterminant,
    LogSumExp,
    Maximum,
    Quadratic,
    Root,
    Scan,
    Sum,
    all_indices,
    bound,
    bound_inside,
    free_indices,
    fresh,
    names,
    rebuild,
)
from platewright.algebra.node import Expression, builders


def substitute(whole: Expression, changes: Mapping[Expression, Expression]) -> Expression:
    """Replace parts by others; bound indices step aside when a newcomer would be captured."""
    if not changes or not (bound_inside(whole) or any(_may_hold(whole, old) for old in changes)):
        return whole
    if whole in changes:
        return changes[whole]
    inner_changes = changes
    own = bound(whole)
    if own:
        # Under a binder its indices mean something else, and so does everything that is taken at them.
        inner_changes = {old: new for old, new in changes.items() if not free_indices(old) & set(own)}
        incoming: set[Index] = set()
        for new in inner_changes.values():
            incoming |= free_indices(new)
        if clashing := [index for index in own if index in incoming]:
            # Nor may a new name be one that is about to be replaced itself.
            leaving = {index for old in inner_changes for index in all_indices(old)}
            whole = rename_bound(whole, clashing, incoming | leaving)
    if isinstance(whole, (Inverse, Root)):
        # The place of the element is outside the binding: A^-1[row, column] may bind the very names it is taken at.
        at_row, at_column = substitute(whole.at_row, changes), substitute(whole.at_column, changes)
        element = builders().inverse if isinstance(whole, Inverse) else Root
        return element(substitute(whole.matrix, inner_changes), whole.row, whole.column, at_row, at_column)
    if isinstance(whole, Scan):
        bodies = tuple(substitute(body, inner_changes) for body in whole.bodies)
        return replace(whole, bodies=bodies, at=tuple(substitute(part, changes) for part in whole.at))
    return rebuild(whole, lambda part: substitute(part, inner_changes))


def _may_hold(whole: Expression, part: Expression) -> bool:
    """Whether a part may occur: all that it mentions does."""
    return all_indices(part) <= all_indices(whole) and names(part) <= names(whole)


def rename_bound(whole: Expression, clashing: list[Index], taken: set[Index]) -> Expression:
    """Give bound indices of the outermost node new names."""
    used = set(taken) | set(all_indices(whole))
    changes: dict[Expression, Expression] = {}
    for old in clashing:
        new = fresh(old, used)
        used.add(new)
        changes[old] = new

    def renamed(index: Index) -> Index:
        return changes.get(index, index)  # type: ignore[return-value]

    match whole:
        case Sum(index, body):
            return Sum(renamed(index), substitute(body, changes))
        case LogSumExp(index, body):
            return LogSumExp(renamed(index), substitute(body, changes))
        case Maximum(index, body):
            return Maximum(renamed(index), substitute(body, changes))
        case Quadratic(residual, matrix, row, column):
            return Quadratic(substitute(residual, changes), substitute(matrix, changes), renamed(row), renamed(column))
        case LogDeterminant(matrix, row, column):
            return LogDeterminant(substitute(matrix, changes), renamed(row), renamed(column))
        case Inverse(matrix, row, column, at_row, at_column):
            return Inverse(substitute(matrix, changes), renamed(row), renamed(column), at_row, at_column)
        case Root(matrix, row, column, at_row, at_column):
            return Root(substitute(matrix, changes), renamed(row), renamed(column), at_row, at_column)
        case Scan(step, _, axes, bodies):
            moved = tuple(tuple(map(renamed, one)) for one in axes)
            return replace(whole, step=renamed(step), axes=moved, bodies=tuple(substitute(b, changes) for b in bodies))
    return whole
