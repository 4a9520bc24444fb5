"""Posterior probabilities of hidden variables as a program: messages up the cliques of a group, probabilities down.

    log weight of a clique    its log factors + the messages that arrive
    message                   log-sum-exp over its first variable
    probability               p(first | others) p(others),   p(first | others) = exp(log weight - message)

A group of one variable is a clique without others: its message is the log probability of what is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from platewright.algebra.build import add, call, exp, log_sum_exp, multiply, totals
from platewright.algebra.expression import Expression, Index, Maximum, Reference
from platewright.graph.graph import Graph
from platewright.program.program import Program
from platewright.program.statements import Assign
from platewright.schemas.body_program import body_program
from platewright.schemas.hidden import Clique, Group, at_levels, group_holding, joint_name
from platewright.schemas.nested_groups import given_place, outermost_first

IMPOSSIBLE = -1e300
"""In place of minus infinity, the message about values that cannot be: differences with it stay defined."""


def expectations(graph: Graph, groups: Sequence[Group], joint: Sequence[tuple[str, ...]]) -> Program:
    """Log weights, messages and probabilities of all groups; `joint` are the sets whose probabilities are wanted."""
    body: list[Assign] = []
    single = [(item.name,) for group in groups for item in group.members]
    around = [clique.others for group in groups if group.places for clique in group.last]
    wanted = tuple(dict.fromkeys([*single, *joint, *around]))
    for group in groups:
        body += upwards(group)
        body += [] if group.places else _probabilities(group, groups, wanted)
    for group in outermost_first(groups):
        body += _probabilities(group, groups, wanted) if group.places else []
    return body_program(graph, body)


def guesses(graph: Graph, groups: Sequence[Group], joint: Sequence[tuple[str, ...]]) -> Program:
    """Joint probabilities to begin with, from soft guesses of single variables: each on its own so far."""
    body = []
    arrays = {item.probability: (*item.axes, item.level) for group in groups for item in group.members}
    for names in joint:
        group = group_holding(groups, names)
        assert group is not None  # a statistic was made soft by it
        inner = {item.name for item in group.members}
        at = {name: group.axes if name in inner else given_place(group, name, group.axes) for name in names}
        parts = [Reference(joint_name((name,)), (*at[name], group.levels[name])) for name in names]
        body.append(Assign(joint_name(names), _axes(group, names), multiply(*parts), f"guess of {', '.join(names)}"))
    return body_program(graph, body, arrays)


def _probabilities(group: Group, groups: Sequence[Group], wanted: Sequence[tuple[str, ...]]) -> list[Assign]:
    """Joint probabilities of cliques, then those that are wanted and are not there yet."""
    body = downwards(group, (lambda names: _around(group, groups, names)) if group.places else None)
    made = {statement.name for statement in body}
    own = [found for found in wanted if group_holding(groups, found) is group]
    return body + [_marginal(group, found) for found in own if joint_name(found) not in made]


def _around(group: Group, groups: Sequence[Group], names: Sequence[str]) -> Expression:
    """The probability of variables around a group, as its own elements find them."""
    holding = group_holding(groups, names)
    assert holding is not None  # the message about them is a factor of it
    inner = next(item for item in holding.members if item.name in names)
    place = given_place(group, inner.name, group.axes)
    return Reference(joint_name(names), (*place, *(group.levels[name] for name in names)))


Leave = Callable[[Expression, Index], Expression]
"""What a clique leaves of its table when a variable goes: sums for probabilities, maxima for the best values."""


def largest(table: Expression, level: Index) -> Expression:
    """The largest log weight over the values of a variable."""
    return Maximum(level, table)


def _axes(group: Group, scope: Sequence[str]) -> tuple[Index, ...]:
    return (*group.axes, *(group.levels[name] for name in scope))


def upwards(group: Group, leave: Leave = log_sum_exp) -> list[Assign]:
    """Log weights and messages, in the order of elimination."""
    body = []
    by_first = {clique.first: clique for clique in group.cliques}
    for clique in group.cliques:
        inside: dict[str, Expression] = {name: group.levels[name] for name in clique.scope}
        parts = [at_levels(factor, group.axes, inside) for factor in clique.factors]
        parts += messages(group, [by_first[name] for name in clique.inner])
        axes = _axes(group, clique.scope)
        shown = ", ".join(clique.scope)
        body.append(Assign(clique.log_weight, axes, add(*parts), f"log p({shown} = level, its data | parameters)"))
        weights = Reference(clique.log_weight, axes)
        summed = leave(weights, group.levels[clique.first])
        if clique.others:
            summed = call("maximum", summed, IMPOSSIBLE)
        body.append(Assign(clique.message, _axes(group, clique.others), summed, f"{clique.first} summed out"))
    return body


def messages(group: Group, cliques: Sequence[Clique]) -> list[Expression]:
    """What cliques leave, as arrays."""
    return [Reference(clique.message, _axes(group, clique.others)) for clique in cliques]


def downwards(group: Group, given: Callable[[Sequence[str]], Expression] | None = None) -> list[Assign]:
    """Joint probabilities of cliques, in the reverse order; `given` are those of variables that others summed out."""
    body = []
    members = {item.name for item in group.members}
    for clique in reversed(group.cliques):
        axes = _axes(group, clique.scope)
        message = Reference(clique.message, _axes(group, clique.others))
        share = exp(add(Reference(clique.log_weight, axes), multiply(-1.0, message)))
        if clique.others:
            if given is not None and not members & set(clique.others):
                share = multiply(share, given(clique.others))
            else:
                share = multiply(share, _summed(group, group.cliques, clique.others))
        body.append(Assign(clique.probability, axes, share, f"posterior of {', '.join(clique.scope)}"))
    return body


def _summed(group: Group, cliques: Sequence[Clique], wanted: Sequence[str]) -> Expression:
    """The probability of some variables of a group, from the clique that holds them with the fewest others."""
    # The clique of the first of them to be eliminated holds them all, and no smaller one need.
    holding = [clique for clique in cliques if set(wanted) <= set(clique.scope) and clique.first in wanted]
    clique = holding[0]
    probability = Reference(clique.probability, _axes(group, clique.scope))
    return totals(probability, [group.levels[name] for name in clique.scope if name not in wanted])


def _marginal(group: Group, wanted: tuple[str, ...]) -> Assign:
    return Assign(
        joint_name(wanted),
        _axes(group, wanted),
        _summed(group, group.cliques, wanted),
        f"posterior of {', '.join(wanted)}",
    )
