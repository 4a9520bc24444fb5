"""What is computed about a group of chains before the recursions, after them, and to begin with.

    weights    messages of inner variables; log weights of states, and of neighbouring states
    shares     joint probabilities: of states given the classes, times those of the classes, then of inner variables
    start      the same as products of soft guesses

First steps of sequences have no neighbour before: `first@step` is put in, so that a log factor falls into its part for
first steps, which joins the weights of states, and its part for later ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from platewright.algebra.build import add, equal, expression, log_sum_exp, multiply, substitute, totals, where
from platewright.algebra.expression import ONE, ZERO, Expression, Index, Lag, Reference, free_indices
from platewright.graph.graph import Graph
from platewright.language.plate import beginning
from platewright.operation import Declined
from platewright.program.program import Program
from platewright.program.statements import Assign
from platewright.schemas.body_program import body_program
from platewright.schemas.chain_group import ChainGroup, Scope
from platewright.schemas.expectations import Leave, downwards, messages, upwards
from platewright.schemas.hidden import NAME, Clique, Group, at_levels, joint_name


def chain_weights(graph: Graph, group: ChainGroup, leave: Leave = log_sum_exp) -> Program | Declined:
    """Log weights of all states of a step, and of all neighbours."""
    single: list[Expression] = []
    moves: list[Expression] = []
    before = {group.levels[name] for name in group.before}
    at_first = _first(group)
    start: dict[Expression, Expression] = dict.fromkeys(before, ZERO)
    for name, whole in _terms(group):
        if not before & free_indices(whole):
            single.append(whole)
            continue
        begun = substitute(whole, {at_first: ONE})
        if name and before & free_indices(begun):
            return Declined(NAME, f"{name} needs the step before the first one of `{group.step.plate}`")
        # A message is what inner variables left: its table is the same for all values before the first step.
        single.append(where(at_first, substitute(begun, start), 0.0))
        moves.append(substitute(whole, {at_first: ZERO}))
    shown = ", ".join(group.now)
    body = [statement for inner in group.inner for statement in upwards(inner, leave)]
    levels = tuple(group.levels[name] for name in (*group.above, *group.now))
    body.append(Assign(group.single, (group.step, *levels), add(*single), f"log weights of {shown} at each step"))
    pair = add(*moves)
    body.append(Assign(group.moves, move_axes(group, pair), pair, f"log weights of neighbours of {shown}"))
    return body_program(graph, body)


def move_axes(group: ChainGroup, pair: Expression) -> tuple[Index, ...]:
    """The axes of the weights of neighbours: steps and classes only where they matter."""
    free = free_indices(pair)
    outside = (group.step, *(group.levels[name] for name in group.above))
    return (*(axis for axis in outside if axis in free), *(group.levels[name] for name in (*group.before, *group.now)))


def _first(group: ChainGroup) -> Reference:
    return Reference(beginning(group.step.plate), (group.step,))


def _terms(group: ChainGroup) -> list[tuple[str, Expression]]:
    """Log factors of the states by the name of their owner, then messages about them, which have none."""
    levels = {name: group.levels[name] for name in (*group.now, *group.before, *group.above)}
    found = [(factor.owner, at_levels(factor, (group.step,), levels)) for factor in group.factors]
    for inner in group.inner:
        beside = [axis for axis in inner.axes if axis != group.step]
        found += [("", totals(message, beside)) for message in messages(inner, inner.last)]
    return found


def chain_shares(graph: Graph, group: ChainGroup, wanted: Sequence[Scope]) -> Program:
    """Joint probabilities of some variables, from what the recursions gave and the posterior of the classes."""
    body: list[Assign] = []
    scopes = dict.fromkeys([*((name,) for name in group.now), *wanted])
    for inner in group.inner:
        scopes |= dict.fromkeys(group.ordered(set(clique.others)) for clique in inner.last)
    ready = {group.single_share, group.pair_share}
    for scope in scopes:
        if group.inner_group(scope) is None and group.array(scope) not in ready:
            body.append(_share(group, scope))
    for inner in group.inner:
        body += downwards(inner, lambda names: _given(group, names))
        made = {statement.name for statement in body}
        for scope in dict.fromkeys([*((item.name,) for item in inner.members), *scopes]):
            if group.inner_group(scope) is inner and group.array(scope) not in made:
                body.append(_inner_share(group, inner, scope))
    both = (*group.above, *group.before, *group.now)
    arrays = {group.single_share: group.axes((*group.above, *group.now)), group.pair_share: group.axes(both)}
    return body_program(graph, body, arrays)


def _share(group: ChainGroup, scope: Scope) -> Assign:
    """The joint probability of states and classes at a step."""
    neighbours = any(name in group.before for name in scope)
    held = (*group.above, *(group.before if neighbours else ()), *group.now)
    share: Expression = Reference(group.pair_share if neighbours else group.single_share, group.axes(held))
    if group.classes:
        levels = tuple(group.levels[name] for name in group.above)
        share = multiply(share, Reference(joint_name(group.above), (*group.place, *levels)))
    whole = totals(share, [group.levels[name] for name in held if name not in scope])
    return Assign(group.array(scope), group.axes(scope), whole, f"posterior of {', '.join(scope)}")


def _given(group: ChainGroup, names: Sequence[str]) -> Expression:
    """The probability of what a message of inner variables is about; its axes in the order of scopes."""
    scope = group.ordered(set(names))
    return Reference(group.array(scope), group.axes(scope))


def _inner_share(group: ChainGroup, inner: Group, scope: Scope) -> Assign:
    """The joint probability of inner variables with what is around them, from a clique that holds them."""
    clique = holding(inner, scope)
    assert clique is not None  # `check_scope` has looked
    axes = (*inner.axes, *(inner.levels[name] for name in clique.scope))
    left = [inner.levels[name] for name in clique.scope if name not in scope]
    whole = totals(Reference(clique.probability, axes), left)
    return Assign(group.array(scope), group.axes(scope), whole, f"posterior of {', '.join(scope)}")


def holding(inner: Group, scope: Scope) -> Clique | None:
    """The smallest clique that holds all of a scope."""
    found = [clique for clique in inner.cliques if set(scope) <= set(clique.scope)]
    return min(found, key=lambda clique: len(clique.scope), default=None)


def check_scope(group: ChainGroup, scope: Scope) -> str:
    """Why the joint probabilities of some variables are not at hand; empty when they are."""
    inner = group.inner_group(scope)
    if inner is None or holding(inner, scope) is not None:
        return ""
    return f"a statistic needs {', '.join(scope)} together"


def chain_start(graph: Graph, group: ChainGroup, wanted: Sequence[Scope]) -> Program:
    """Joint probabilities as if all variables were independent; before a first step stands the first value."""
    body = []
    for scope in wanted:
        if len(scope) == 1:
            continue
        parts = [_guess(group, name) for name in scope]
        body.append(Assign(group.array(scope), group.axes(scope), multiply(*parts), f"guess of {', '.join(scope)}"))
    arrays = {item.probability: (*item.axes, item.level) for item in (*group.members, *group.classes)}
    return body_program(graph, body, arrays)


def _guess(group: ChainGroup, name: str) -> Expression:
    """The guess of one variable, as a step sees it."""
    level = group.levels[name]
    if name in group.above:
        return Reference(joint_name((name,)), (*group.place, level))
    if name in group.before:
        now = group.now[group.before.index(name)]
        moved = Reference(joint_name((now,)), (Lag(group.step), level))
        return where(_first(group), equal(level, expression(0.0)), moved)
    return Reference(joint_name((name,)), (*group.element((name,)), level))
