"""Which array holds each cell of a variable now (single static assignment by cells).

    x = a;  x[1] = b;  s = sum(x);
        x[1:n] <- a[];  x.2[1] <- b;  x.3[1] <- x.2[1];  x.3[2:n] <- x[2:n];  s <- sum(x.3[])

A cell that has a value and is assigned anew goes to a newer array. Inside a loop that stands for all its rounds at once
this is right only where no round sees cells of another; `survey` tells, and else the loop is read round by round.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from platewright.errors import BugsError
from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.arithmetic import NotKnown, Scope, count_cells
from platewright.language.bugs.arrays import Fixed, Span, locate, spread
from platewright.language.bugs.relations import Grid, Relation, compute_on, lay_out
from platewright.language.bugs.relations import Head as Loop
from platewright.language.bugs.syntax import Element, Place
from platewright.language.stan.reading.state import Head, State, Variable, elements_of
from platewright.language.stan.reading.survey import survey
from platewright.language.stan.reading.syntax import Statement
from platewright.language.stan.reading.trouble import Trouble

Array = np.ndarray
MOST_TRACKED = 100_000


@dataclass(frozen=True)
class Held:
    """For each cell of a variable, the array with its value, or None; and which cells the newest array has."""

    arrays: Array
    filled: Array

    @property
    def is_mixed(self) -> bool:
        """Whether several arrays hold parts of it."""
        return len(_names(self.arrays)) > 1


def _names(arrays: Array) -> set[str]:
    return {str(name) for name in np.ravel(arrays) if name is not None}


def held(known: Variable, state: State) -> Held | None:
    """What holds the cells of a variable; None where its sizes are not known."""
    if isinstance(known.held, Held) or not known.sizes or not state.has_data:
        return known.held  # type: ignore[return-value]
    sizes = [state.known(size) for size in known.sizes]
    shape = tuple(int(size) for size in sizes if size is not None and size >= 0)
    if len(shape) < len(sizes) or count_cells(shape) > MOST_TRACKED:
        return None
    return Held(np.full(shape, None, dtype=object), np.zeros(shape, dtype=bool))


def _grid_of(target: Element, heads: tuple[Head, ...], state: State) -> tuple[Grid, Scope]:
    scope = Scope(state.constants)
    loops = tuple(Loop(head.variable, head.domain, head.place) for head in heads)
    return lay_out(Relation(bugs.Assignment(target, bugs.Number(0.0)), loops), scope, ""), scope


def cells_of(
    target: Element, shape: tuple[int, ...], heads: tuple[Head, ...], state: State
) -> tuple[Array, ...] | None:
    """The cells of an array that an element stands for, over all rounds of the loops; None where that is not known."""
    try:
        grid, scope = _grid_of(target, heads, state)
        spots = locate(target, shape, grid, scope)
        if not all(isinstance(spot, (Fixed, Span)) for spot in spots):
            return None
        cells = spread(spots, grid)
    except (NotKnown, BugsError, OverflowError):
        return None
    if any((at < 0).any() or (at >= size).any() for at, size in zip(cells, shape)):
        raise Trouble(
            target.place, f"`{target.name.split('.')[0]}` is indexed outside its {shape}", "an index within the array"
        )
    return cells


# -- writing -----------------------------------------------------------------------------------------------------------


def placed(known: Variable, target: Element, heads: tuple[Head, ...], place: Place, state: State) -> Variable:
    """The variable with the array that takes the cells of a left side: the newest where none has a value yet."""
    now = held(known, state)
    if now is None:
        check_order(known, place, state, False)
        return known
    own = replace(target, indices=(target.indices or ())[len(known.before) :] or None)
    cells = cells_of(own, now.arrays.shape, (*state.loops, *heads), state)
    if cells is None:
        if _names(now.arrays):
            raise Trouble(
                place, f"`{known.name}` is assigned anew at places that are not known", "an index of data and loops"
            )
        return known
    anew = any(name is not None for name in np.ravel(now.arrays[cells]))
    check_order(known, place, state, anew)
    array, filled = known.array, now.filled
    if filled[cells].any():
        array, filled = state.fresh(known.name), np.zeros_like(filled)
        if not known.before:
            state.declared.append((array, known.sizes))
    arrays, filled = now.arrays.copy(), filled.copy()
    arrays[cells], filled[cells] = array, True
    return state.change(known.name, array=array, held=Held(arrays, filled))


def check_order(known: Variable, place: Place, state: State, anew: bool) -> None:
    """Refuse to take the rounds of a loop together where one sees what another assigned anew."""
    extra = [
        head.variable
        for head in state.loops
        if head.variable in known.before and head.variable not in known.declared_in
    ]
    for number, head in enumerate(state.loops):
        loop = head.variable
        if loop in known.declared_in or loop in known.before:
            continue
        inner = {one.variable for one in state.loops[number + 1 :]}
        if (anew or inner & set(extra)) and not state.surveys[loop].is_apart(known.name):
            raise Trouble(place, f"`{known.name}` is assigned anew in a loop whose rounds see one another's cells",
                          "an array with an element for each round")  # fmt: skip


def united(before: Variable, found: list[Variable]) -> Variable | None:
    """A variable after a choice whose branches assign some cells each; None where they tell different things of one."""
    if not all(isinstance(known.held, Held) and known.before == before.before for known in found):
        return None
    start = before.held.arrays if isinstance(before.held, Held) else None
    last, arrays, filled = before, start, None
    for known in found:
        now = known.held
        assert isinstance(now, Held)
        if arrays is None:
            last, arrays, filled = known, now.arrays, now.filled
            continue
        changed = now.arrays != (np.full_like(arrays, None) if start is None else start)
        if not changed.any():
            continue
        other = arrays != (np.full_like(arrays, None) if start is None else start)
        if (other & changed & (arrays != now.arrays)).any():
            return None
        arrays = np.where(changed, now.arrays, arrays)
        filled = now.filled if filled is None or known.array != last.array else filled | now.filled
        last = known
    return None if arrays is None or filled is None else replace(last, held=Held(arrays, filled))


# -- reading -----------------------------------------------------------------------------------------------------------


def holder(known: Variable, element: Element, heads: tuple[Head, ...], state: State) -> str | None:
    """The one array that holds all cells that are read; None where there are several."""
    now = known.held
    assert isinstance(now, Held)
    own = replace(element, indices=(element.indices or ())[len(known.before) :])
    cells = cells_of(own, now.arrays.shape, (*state.loops, *heads), state)
    if cells is None:
        return None
    found = now.arrays[cells]
    names = _names(found)
    if len(names) != 1:
        return None
    (name,) = names
    return name if name == known.array or all(one is not None for one in np.ravel(found)) else None


def gathered(known: Variable, place: Place, state: State) -> Variable:
    """The variable with all its cells in one array."""
    now = known.held
    assert isinstance(now, Held)
    array = state.fresh(known.name)
    if not known.before:
        state.declared.append((array, known.sizes))
    outer = state.loops
    state.loops = tuple(head for head in outer if head.variable in known.before)
    loops = elements_of(known.before, place)
    for name in sorted(_names(now.arrays)):
        _copy(name, array, np.argwhere(now.arrays == name) + 1, loops, place, state)
    state.loops = outer
    has_value = np.array([name is not None for name in np.ravel(now.arrays)]).reshape(now.arrays.shape)
    arrays = now.arrays.copy()
    arrays[has_value] = array
    if all(name in state.settled for name in _names(now.arrays)):
        state.settled.add(array)
    state.partly.add(array)
    return state.change(known.name, array=array, held=Held(arrays, has_value))


def _copy(old: str, new: str, cells: Array, loops: tuple[Element, ...], place: Place, state: State) -> None:
    """Cells of one array into another."""
    heads: tuple[Head, ...] = ()
    at: tuple[bugs.Index, ...] = tuple(bugs.Number(float(k), place) for k in cells[0])
    if len(cells) > 1:
        heads = state.heads((bugs.Number(float(len(cells))),), place)
        counter = Element(heads[0].variable, None, place)
        at = tuple(_position(column, counter, place, state) for column in cells.T)
    state.say(
        bugs.Assignment(Element(new, (*loops, *at), place), Element(old, (*loops, *at), place), None, place), heads
    )


def _position(column: Array, counter: Element, place: Place, state: State) -> bugs.Expression:
    """An index that goes over a column of whole numbers."""
    if (column == column[0]).all():
        return bugs.Number(float(column[0]), place)
    if (np.diff(column) == 1).all():
        start = bugs.Number(float(column[0] - 1))
        return counter if not start.value else bugs.Operation("+", (counter, start), place)
    name = state.fresh("cells")
    state.constants[name] = column.astype(float)
    return Element(name, (counter,), place)


# -- round by round ----------------------------------------------------------------------------------------------------


def is_one_for_all(body: Iterable[Statement], loop: str, state: State) -> bool:
    """Whether the rounds of a loop can be taken together: none assigns what another one sees."""
    found = survey(tuple(body), loop)
    return all(_has_axes(name, state) and found.is_apart(name) for name in found.assigned)


def _has_axes(name: str, state: State) -> bool:
    return name in state.variables and bool(state.variables[name].sizes)


def is_computed(known: Variable, target: Element, tree: bugs.Expression, heads: tuple[Head, ...], state: State) -> bool:
    """Whether the numbers are there already, so that conditions below can be told."""
    now = held(known, state)
    if known.before or (known.sizes and now is None):
        return False
    try:
        _compute(target, tree, () if now is None else now.arrays.shape, (*state.loops, *heads), state)
    except (NotKnown, BugsError):
        return False
    state.settled.add(known.array)
    state.change(known.name, is_assigned=True)
    return True


def _compute(
    target: Element, tree: bugs.Expression, shape: tuple[int, ...], heads: tuple[Head, ...], state: State
) -> None:
    """Put the numbers of an assignment among the transformed data into their array."""
    grid, scope = _grid_of(target, heads, state)
    cells = cells_of(target, shape, heads, state)
    if cells is None:
        raise NotKnown
    values = np.asarray(compute_on(tree, grid, scope), dtype=float)
    table = state.constants.get(target.name, np.full(shape, np.nan)).copy()
    table[cells] = np.broadcast_to(values, np.broadcast_shapes(values.shape, grid.shape))
    state.constants[target.name] = table
