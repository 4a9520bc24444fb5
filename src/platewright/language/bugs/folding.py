"""Compute what data alone settle: data blocks, and logical nodes that hang on constants only.

    data { r[j, k] <- response[i, k] }       x.bar <- mean(x[])       r.rep[i, k] <- r[i];  r.rep[i, k] ~ dbin(...)

What is computed becomes data. A node with both `<-` and `~` is transformed data: the first is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from platewright.errors import BugsError
from platewright.language.bugs.arithmetic import (
    FUNCTIONS,
    MOST_CELLS,
    MOST_ROWS,
    NotKnown,
    Scope,
    compute,
    count_cells,
    whole,
)
from platewright.language.bugs.arrays import Moving, Ragged, locate, spread
from platewright.language.bugs.complaint import complain
from platewright.language.bugs.measuring import measure
from platewright.language.bugs.relations import Grid, Relation, compute_on, flatten, lay_out
from platewright.language.bugs.syntax import Assignment, Empty, Range, Text

Array = np.ndarray
INVERSE_LINKS = {"log": "exp", "logit": "ilogit", "cloglog": "icloglog", "probit": "phi"}


@dataclass(frozen=True)
class Folded:
    """Constants with their numbers, values of random names, and the relations that are left."""

    constants: Mapping[str, Array]
    observed: Mapping[str, Array]
    relations: tuple[Relation, ...]
    computed: tuple[str, ...]
    declared: Mapping[str, tuple[int, ...]]
    assumed: frozenset[str] = frozenset()

    @property
    def scope(self) -> Scope:
        """The constants, for evaluation."""
        return Scope(self.constants, {}, self.assumed)


def fold(text: Text, data: Mapping[str, Array], assumed: frozenset[str] = frozenset()) -> Folded:
    """Run the data block, then compute all logical names that constants settle."""
    known = dict(data)
    declared = _declared(text, Scope(known))
    for relation in (block := flatten(measure(text.data, {**declared, **_shapes(known)}))):
        if relation.is_random:
            raise complain(text.source, relation.place, "a draw in the data block", "assignments only")
    order = _compute_names(text, block, known, declared, {relation.name for relation in block})
    if left := [relation for relation in block if relation.name not in order]:
        raise complain(text.source, left[0].place, f"`{left[0].name}` cannot be computed from the data", "data only")
    relations = flatten(measure(text.model, {**declared, **_shapes(known, assumed)}))
    random = {relation.name for relation in relations if relation.is_random}
    constants = {name: values for name, values in known.items() if name not in random}
    observed = {name: values for name, values in known.items() if name in random}
    _check_twice(text, relations, constants)
    logical = [relation for relation in relations if not relation.is_random]
    wanted = _settled(logical, set(constants), random)
    done = _compute_names(text, logical, constants, declared, wanted - random, assumed)
    sizes = _of_all_left_sides(text, relations, random & wanted, Scope(constants, {}, assumed))
    declared = {**sizes, **declared}
    twice = {name for name in wanted & random if _overlap(text, name, relations, Scope(constants, {}, assumed))}
    transformed = _compute_names(text, logical, constants, declared, twice, assumed)
    for name in transformed:
        observed[name] = constants.pop(name)
    counted = _compute_from_observed(text, relations, constants, observed, declared)
    gone = {*done, *transformed, *counted}
    left_over = tuple(relation for relation in relations if relation.is_random or relation.name not in gone)
    return Folded(constants, observed, left_over, (*order, *done, *transformed, *counted), declared, assumed)


def _compute_from_observed(
    text: Text,
    relations: list[Relation],
    constants: dict[str, Array],
    observed: Mapping[str, Array],
    declared: Mapping[str, tuple[int, ...]],
) -> list[str]:
    """`Y[1:K] ~ dmulti(p[], N)` with `N <- sum(Y[])`: what a draw leans on and its own known values settle is data."""
    complete = {name: values for name, values in observed.items() if not np.isnan(values).any()}
    random = {relation.name for relation in relations if relation.is_random}
    logical = [one for one in relations if one.name not in random and one.name not in constants]
    wanted = set()
    for draw in relations:
        if draw.is_random and draw.name in complete:
            below = {one.name for one in logical if draw.name in {element.name for element in one.uses()}}
            wanted |= below & {element.name for element in draw.uses()}
    if not wanted:
        return []
    known = {**constants, **complete}
    done = _compute_names(text, logical, known, declared, wanted)
    constants.update({name: known[name] for name in done})
    return done


def _shapes(arrays: Mapping[str, Array], assumed: frozenset[str] = frozenset()) -> dict[str, tuple[int, ...]]:
    """The sizes that data give; those that stand in for data give none."""
    return {name: values.shape for name, values in arrays.items() if name not in assumed}


def _overlap(text: Text, name: str, relations: list[Relation], scope: Scope) -> bool:
    """Whether some cell of an array has both `<-` and `~`; `alpha[1] <- 0` beside `alpha[k] ~ ...` has not."""
    found: dict[bool, list[tuple[Array, ...]]] = {True: [], False: []}
    for relation in relations:
        if relation.name != name:
            continue
        indices = relation.target.indices or ()
        grid = lay_out(relation, scope, text.source)
        spots = locate(relation.target, (0,) * len(indices), grid, scope)
        if any(isinstance(spot, Moving) for spot in spots):
            continue
        if any(isinstance(part, Empty) for part in indices) or any(isinstance(spot, Ragged) for spot in spots):
            return True
        try:
            found[relation.is_random].append(spread(spots, grid) if spots else (np.zeros(1, dtype=np.int64),))
        except NotKnown:  # too many cells to look at
            return True
    rows = {
        kind: np.concatenate([np.column_stack([spot.reshape(-1) for spot in spots]) for spots in several])
        for kind, several in found.items()
        if several and len({len(spots) for spots in several}) == 1
    }
    if len(rows) < 2 or rows[True].shape[1] != rows[False].shape[1]:
        return False
    both = np.concatenate([np.unique(rows[True], axis=0), np.unique(rows[False], axis=0)])
    return len(np.unique(both, axis=0)) < len(both)


def _of_all_left_sides(
    text: Text, relations: list[Relation], wanted: set[str], scope: Scope
) -> dict[str, tuple[int, ...]]:
    """The sizes of arrays that are computed in some cells and drawn in others: `z[i, f[i]] <- ...; z[i, t] ~ ...`."""
    found = {}
    for name in wanted:
        with suppress(NotKnown, BugsError):  # what is wrong with a left side is told where arrays are put together
            found[name] = _shape(text, name, relations, scope, {})
    return found


def _declared(text: Text, scope: Scope) -> dict[str, tuple[int, ...]]:
    """Sizes from the `var` block, where they are known."""
    found = {}
    for name, sizes in text.declared:
        try:
            shape = tuple(int(whole(compute(size, scope))) for size in sizes)
        except (NotKnown, TypeError):
            continue
        if any(size < 1 for size in shape) or count_cells(shape) > MOST_CELLS:
            shown = " x ".join(str(size) for size in shape)
            raise BugsError(f"`{name}` is declared as {shown}", expected=f"sizes from 1, at most {MOST_CELLS:,} cells")
        found[name] = shape
    return found


def _check_twice(text: Text, relations: list[Relation], constants: Mapping[str, Array]) -> None:
    for relation in relations:
        values = constants.get(relation.name)
        if values is not None and values.ndim == 0 and np.isfinite(values) and not relation.is_random:
            raise complain(
                text.source, relation.place, f"`{relation.name}` is in the data and is assigned too", "one definition"
            )


def _settled(logical: list[Relation], constants: set[str], random: set[str]) -> set[str]:
    """Names all of whose assignments hang on constants and on one another."""
    names = {relation.name for relation in logical}
    by_name: dict[str, set[str]] = {name: set() for name in names}
    for relation in logical:
        by_name[relation.name] |= {element.name for element in relation.uses()}
    # A random name that is computed as data counts as data only for itself, as others see the random node.
    waiting = [name for name in names if by_name[name] - constants - names or by_name[name] & (random - {name})]
    readers: dict[str, list[str]] = {name: [] for name in names}
    for name, used in by_name.items():
        for other in used & names:
            readers[other].append(name)
    bad = set(waiting)
    while waiting:
        further = set(readers[waiting.pop()]) - bad
        bad |= further
        waiting += further
    return names - bad


def _compute_names(
    text: Text,
    relations: list[Relation],
    known: dict[str, Array],
    declared: Mapping[str, tuple[int, ...]],
    wanted: set[str],
    assumed: frozenset[str] = frozenset(),
) -> list[str]:
    """Fill arrays in rounds until nothing changes; names that stay unknown are left out."""
    todo = [relation for relation in relations if relation.name in wanted]
    tables: dict[str, Array] = {}
    finished: set[int] = set()
    failed: set[str] = set()
    for _ in range(len(todo) + 1):
        progress = False
        for number, relation in enumerate(todo):
            if number in finished or relation.name in failed:
                continue
            scope = Scope({**known, **tables}, {}, assumed)
            try:
                touched = _assign(text, relation, scope, tables, todo, declared)
            except (NotKnown, BugsError, IndexError, ValueError):
                continue
            if assumed and touched:
                failed.add(relation.name)
                continue
            finished.add(number)
            progress = True
        if not progress:
            break
    done = []
    for name in dict.fromkeys(relation.name for relation in todo):
        if all(number in finished for number, relation in enumerate(todo) if relation.name == name):
            known[name] = tables[name]
            done.append(name)
    return done


def _assign(
    text: Text,
    relation: Relation,
    scope: Scope,
    tables: dict[str, Array],
    todo: list[Relation],
    declared: Mapping[str, tuple[int, ...]],
) -> bool:
    """Write one relation's cells into its array; `NotKnown` while something it needs is missing."""
    grid = lay_out(relation, scope, text.source)
    if relation.name not in tables:
        tables[relation.name] = np.full(_shape(text, relation.name, todo, scope, declared), np.nan)
    table = tables[relation.name]
    statement = relation.statement
    assert isinstance(statement, Assignment)
    if statement.link is not None and statement.link not in INVERSE_LINKS:
        raise NotKnown
    finish = FUNCTIONS[INVERSE_LINKS[statement.link]] if statement.link else np.asarray
    indices = statement.target.indices or ()
    if any(isinstance(part, (Range, Empty)) for part in indices) or (not indices and table.ndim):
        for loops in _rows(grid):
            inner = scope.at(loops)
            at = tuple(_slot(part, size, inner) for part, size in zip(indices, table.shape))
            value = np.asarray(finish(compute(statement.value, inner)))
            _check_finite(value)
            table[at] = value
    else:
        at = tuple(np.asarray(whole(compute_on(part, grid, scope))) - 1 for part in indices)
        if any((place < 0).any() for place in at):
            raise NotKnown
        value = np.asarray(finish(compute_on(statement.value, grid, scope)), dtype=float)
        _check_finite(value)
        if at:
            spots = np.broadcast_arrays(*at, value) if value.ndim <= len(grid.axes) else None
            if spots is None:
                raise NotKnown
            table[tuple(spots[:-1])] = spots[-1]
        else:
            table[...] = value
    return bool(scope.touched)


def _check_finite(value: Array) -> None:
    if np.isnan(value).any():
        raise NotKnown


def _rows(grid: Grid) -> Any:
    if count_cells(grid.shape) > MOST_ROWS:
        raise NotKnown
    for at in np.ndindex(*grid.shape):
        yield {name: int(np.broadcast_to(values, grid.shape)[at]) for name, values in grid.loops.items()}


def _slot(part: Any, size: int, scope: Scope) -> Any:
    if isinstance(part, Empty):
        return slice(None)
    if isinstance(part, Range):
        first, last = int(whole(compute(part.first, scope))) - 1, int(whole(compute(part.last, scope)))
        if not 0 <= first <= last <= size:
            raise NotKnown
        return slice(first, last)
    found = int(whole(compute(part, scope))) - 1
    if not 0 <= found < size:
        raise NotKnown
    return found


def _shape(
    text: Text, name: str, relations: list[Relation], scope: Scope, declared: Mapping[str, tuple[int, ...]]
) -> tuple[int, ...]:
    if name in declared:
        return declared[name]
    sizes: list[int] = []
    for relation in relations:
        if relation.name != name:
            continue
        grid = lay_out(relation, scope, text.source)
        for dimension, part in enumerate(relation.target.indices or ()):
            if isinstance(part, Empty):
                raise NotKnown
            end = part.last if isinstance(part, Range) else part
            largest = int(np.max(whole(compute_on(end, grid, scope)), initial=0))
            sizes += [0] * (dimension + 1 - len(sizes))
            sizes[dimension] = max(sizes[dimension], largest)
    if count_cells(tuple(sizes)) > MOST_CELLS:
        raise NotKnown
    return tuple(sizes)
