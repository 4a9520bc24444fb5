"""Eliminate a variable with finitely many values: sum it out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod

from platewright.algebra.build import add, equal, log_sum_exp, multiply, substitute, totals
from platewright.algebra.expression import (
    Expression,
    Index,
    Lag,
    Reference,
    all_indices,
    free_indices,
    fresh,
    names,
    walk,
)
from platewright.algebra.put_in import put_in
from platewright.elimination.state import State, TableConditional
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined

MOST_SUMMED = 10_000
"""Joint values of variables whose sums stand inside one another: each is looked at anew for every value of the rest."""
MOST_TIED = 100
"""Joint values of discrete unknowns that a parameter ties together: each has its own posterior of the parameter."""


def table_move(state: State, name: str) -> State | Declined:
    """Sum out a variable with finitely many values: one log weight for each, then a log-sum-exp."""
    node = state.nodes[name]
    word = f"sum out {name}"
    if state.maximise and len(state.unknown) > 1:
        return Declined(word, f"the mode of `{name}` depends on other unknowns")
    if node.axes and any(_coupled(factor, name) for factor in state.touching(name)):
        return Declined(word, f"different elements of `{name}` meet in one factor")
    plate = str(node.domain.levels) if node.domain.kind == "levels" else f"{name}.levels"
    level = Index(f"{name}.level", plate)
    weights: list[Expression] = []
    for factor in state.touching(name):
        moved = _at_level(factor, name, node.axes, level, state.unknown)
        if isinstance(moved, Declined):
            return moved
        weights.append(moved)
    whole = add(*weights)
    if (joint := _joint_values(state, whole, level)) > MOST_SUMMED:
        return Declined(word, f"its sum stands inside others: {joint:,} joint values (at most {MOST_SUMMED:,})")
    factors = [factor for factor in state.factors if name not in factor.names]
    factors.append(Factor(f"{name}: summed", node.plates, log_sum_exp(whole, level)))
    return state.after(
        factors=tuple(factors),
        unknown=tuple(other for other in state.unknown if other != name),
        conditionals=(*state.conditionals, TableConditional(name, level, whole)),
        log=(*state.log, f"{name}: summed over its {plate.split('.')[0]} values"),
    )


def summed_out(state: State, hidden: Collection[str]) -> State | Declined:
    """A state without unknowns that have finitely many values, summed over in an order that works."""
    while waiting := [name for name in state.unknown if name in hidden]:
        reason: Declined | None = None
        for name in waiting:
            found = table_move(state, name)
            if isinstance(found, State):
                state = found
                break
            reason = found
        else:
            assert reason is not None
            return reason
    return state


def tied_sums(state: State) -> str:
    """Why sums would stand inside one another too deep, seen before anything is eliminated; empty if they would not.

    An unknown that cannot be summed over goes first, or its sums are in its way; either way the single discrete
    unknowns that it meets are tied together.
    """
    discrete = [n for n in state.unknown if state.nodes[n].domain.is_finite and not state.nodes[n].axes]
    for name in state.unknown:
        if state.nodes[name].domain.is_finite:
            continue
        met = {one for factor in state.touching(name) for one in discrete if one in factor.names}
        joint = prod(level_count(state.graph, str(state.nodes[one].domain.levels)) for one in met)
        if len(met) > 1 and joint > MOST_TIED:
            return f"`{name}` ties {len(met)} discrete unknowns: {joint:,} joint values (at most {MOST_TIED:,})"
    return ""


def _joint_values(state: State, whole: Expression, level: Index) -> int:
    """How many values the variable has together with those whose sums stand inside its own."""
    earlier = {one.level for one in state.conditionals if isinstance(one, TableConditional)}
    found = (earlier & all_indices(whole)) | {level}
    return prod(level_count(state.graph, one.plate) for one in found) if len(found) > 1 else 1


def level_count(graph: Graph, plate: str) -> int:
    """How many levels there are; two, where the data will tell."""
    found = graph.plates.get(plate)
    return (found.size if found is not None else None) or 2


def places(factor: Factor, name: str) -> set[tuple[Expression, ...]]:
    """Where a factor looks a variable up."""
    return {n.indices for n in walk(factor.expression) if isinstance(n, Reference) and n.name == name}


def _coupled(factor: Factor, name: str) -> bool:
    return len(places(factor, name)) > 1


def _at_level(
    factor: Factor, name: str, axes: tuple[Index, ...], level: Index, unknown: tuple[str, ...]
) -> Expression | Declined:
    """A factor's contribution to one element of the variable, with the variable set to `level`."""
    place = next(iter(places(factor, name)))
    if reason := looked_up_apart(factor, place, set(unknown)):
        return Declined(f"sum out {name}", f"`{name}` is looked up at {reason} in {factor.owner}")
    expression = substitute(factor.expression, {Reference(name, place): level})
    return at_element(factor, place, axes, expression, unknown)


def looked_up_apart(factor: Factor, place: tuple[Expression, ...], unknown: set[str]) -> str:
    """Where a factor looks for an element that it does not belong to as a whole; empty when it belongs to one.

    It does when the place is one of its own plates, or a known code of its rows: `z[group[n]]` belongs to one group.
    """
    seen: set[Expression] = set()
    for at in place:
        own = isinstance(at, Index) and at in factor.axes
        if not (own or _is_code(at, factor, unknown)) or at in seen:
            return str(at)
        seen.add(at)
    return ""


def _is_code(at: Expression, factor: Factor, unknown: set[str]) -> bool:
    """Whether a place is a known column of the factor's rows, at these rows themselves."""
    lagged = any(isinstance(part, Lag) for part in walk(at))
    inside = free_indices(at) <= set(factor.axes)
    return isinstance(at, Reference) and inside and not lagged and not names(at) & unknown


def at_element(
    factor: Factor,
    place: tuple[Expression, ...],
    axes: tuple[Index, ...],
    expression: Expression,
    unknown: Collection[str] = (),
) -> Expression:
    """The sum of an expression over those elements of a factor's plates that belong to one element at `axes`.

    Where rows name their element, other unknowns that they look up by it are those of the element itself.
    """
    pairs = zip(axes, place, strict=True)
    own: dict[Expression, Expression] = {at: axis for axis, at in pairs if isinstance(at, Index)}
    changes = {**own}
    taken = set(all_indices(expression)) | set(axes) | set(factor.axes)
    for axis in factor.axes:  # an index of the rows that is called like one of the element steps aside
        if axis in axes and axis not in own:
            changes[axis] = new = fresh(axis, taken)
            taken.add(new)
    codes = {substitute(at, changes): axis for axis, at in zip(axes, place, strict=True) if not isinstance(at, Index)}
    picked = [equal(code, axis) for code, axis in codes.items()]
    left = [changes.get(axis, axis) for axis in factor.axes if axis not in own]
    inside = _named_by_element(substitute(expression, changes), codes, unknown)
    return totals(multiply(*picked, inside), left)  # type: ignore[arg-type]


def _named_by_element(expression: Expression, codes: Mapping[Expression, Index], names: Collection[str]) -> Expression:
    """An expression in which variables that are looked up by codes of an element are looked up by the element."""
    changes: dict[Expression, Expression] = {}
    for part in walk(expression):
        if codes and isinstance(part, Reference) and part.name in names:
            changes[part] = Reference(part.name, tuple(put_in(at, codes) for at in part.indices))
    return put_in(expression, changes) if changes else expression
