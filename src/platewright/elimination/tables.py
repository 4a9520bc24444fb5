"""Eliminate a variable with finitely many values: sum it out."""

from __future__ import annotations

from platewright.algebra.build import add, log_sum_exp, substitute, totals
from platewright.algebra.expression import Expression, Index, Reference, walk
from platewright.elimination.state import State, TableConditional
from platewright.graph.graph import Factor
from platewright.operation import Declined


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
        moved = _at_level(factor, name, node.axes, level)
        if isinstance(moved, Declined):
            return moved
        weights.append(moved)
    whole = add(*weights)
    factors = [factor for factor in state.factors if name not in factor.names]
    factors.append(Factor(f"{name}: summed", node.plates, log_sum_exp(whole, level)))
    return state.after(
        factors=tuple(factors),
        unknown=tuple(other for other in state.unknown if other != name),
        conditionals=(*state.conditionals, TableConditional(name, level, whole)),
        log=(*state.log, f"{name}: summed over its {plate.split('.')[0]} values"),
    )


def _places(factor: Factor, name: str) -> set[tuple[Expression, ...]]:
    return {n.indices for n in walk(factor.expression) if isinstance(n, Reference) and n.name == name}


def _coupled(factor: Factor, name: str) -> bool:
    return len(_places(factor, name)) > 1


def _at_level(factor: Factor, name: str, axes: tuple[Index, ...], level: Index) -> Expression | Declined:
    """A factor's contribution to one element of the variable, with the variable set to `level`."""
    place = next(iter(_places(factor, name)))
    expression = substitute(factor.expression, {Reference(name, place): level})
    changes: dict[Expression, Expression] = {}
    for axis, at in zip(axes, place, strict=True):
        if not isinstance(at, Index) or at not in factor.axes or at in changes:
            return Declined(f"sum out {name}", f"`{name}` is looked up at {at} in {factor.owner}")
        changes[at] = axis
    left = [axis for axis in factor.axes if axis not in changes]
    return totals(substitute(expression, changes), left)
