"""Hidden chains with all that they meet: values of the same step, and classes of the whole sequence.

    c[series] --> z[step-1] --> z[step] <-- w[step]        c: class     z: state     w: inner
                      |            |          |
                 y[step-1]      y[step] <-----+

Three eliminations, each the same rule as for one row. Inner variables of a step are summed out first and leave messages
about states; the states of all chains together are summed out along the sequence, given the classes; what that leaves
is a log factor of the classes, which are then treated as if no chain were there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from platewright.algebra.build import substitute
from platewright.algebra.expression import Expression, Index, Lag, Reference, all_indices, walk
from platewright.algebra.put_in import put_in
from platewright.elimination.tables import places
from platewright.graph.graph import Factor
from platewright.operation import Declined
from platewright.schemas.hidden import (
    NAME,
    Group,
    Hidden,
    connected,
    earlier_name,
    factors_of,
    group_of,
    joint_name,
)

MOST_STATES = 256
"""Values of all chains of a group together: each step takes the square of it."""
Place = tuple[Expression, ...]
Scope = tuple[str, ...]
"""Variables whose joint probabilities are wanted: classes, states before, states, inner ones, in this order."""


@dataclass(frozen=True)
class ChainGroup:
    """Chains along one plate that depend on each other, with what is summed out before them and after them."""

    step: Index
    states: tuple[Hidden, ...]
    classes: tuple[Hidden, ...]
    place: Place
    """Where a step finds the classes of its sequence."""
    inner: tuple[Group, ...]
    factors: tuple[Factor, ...]
    """Log factors without inner variables; states before have names of their own."""

    @property
    def name(self) -> str:
        """All chains."""
        return ".".join(item.name for item in self.states)

    @property
    def alone(self) -> bool:
        """Whether it is one chain that meets nothing else."""
        return len(self.states) == 1 and not self.classes and not self.inner

    @property
    def members(self) -> tuple[Hidden, ...]:
        """What is summed out here: states and inner variables."""
        return (*self.states, *(item for group in self.inner for item in group.members))

    @cached_property
    def levels(self) -> Mapping[str, Index]:
        """The level index of each variable, states before among them, in the order of scopes."""
        before = [item.earlier for item in self.states]
        return {item.name: item.level for item in (*self.classes, *before, *self.members)}

    @property
    def now(self) -> Scope:
        """The states."""
        return tuple(item.name for item in self.states)

    @property
    def before(self) -> Scope:
        """The states of the step before."""
        return tuple(earlier_name(name) for name in self.now)

    @property
    def above(self) -> Scope:
        """The classes."""
        return tuple(item.name for item in self.classes)

    @property
    def single(self) -> str:
        """The array of log weights of a step: step, classes, states."""
        return f"{self.name}.single"

    @property
    def moves(self) -> str:
        """The array of log weights of neighbours: step and classes where they matter, states before, states."""
        return f"{self.name}.pair_weight"

    @property
    def norm(self) -> str:
        """The array that the recursions leave: step, classes; its sum over a sequence is the log probability of it."""
        return f"{self.name}.norm"

    @property
    def single_share(self) -> str:
        """The array of probabilities of states given the classes: step, classes, states."""
        return self.array(self.now) if not self.classes else f"{self.name}.share"

    @property
    def pair_share(self) -> str:
        """The array of probabilities of neighbours given the classes: step, classes, states before, states."""
        return self.array((*self.before, *self.now)) if not self.classes else f"{self.name}.pair_share"

    @property
    def integral(self) -> Factor:
        """What the recursions leave, as a log factor of the classes."""
        symbols = tuple(Reference(item.name, self.place) for item in self.classes)
        return Factor(self.name, (self.step,), Reference(self.norm, (self.step, *symbols)))

    def array(self, scope: Scope) -> str:
        """The array of joint probabilities of some variables at one step."""
        if len(scope) == 2 and scope[0] == earlier_name(scope[1]):
            return f"{scope[1]}.pair"
        return joint_name(scope)

    def ordered(self, names: set[str]) -> Scope:
        """A scope from a set."""
        return tuple(name for name in self.levels if name in names)

    def axes(self, scope: Scope) -> tuple[Index, ...]:
        """The axes of the joint probabilities of some variables."""
        return (*self.element(scope), *(self.levels[name] for name in scope))

    def element(self, scope: Scope) -> tuple[Index, ...]:
        """The plates of some variables: those of inner ones where they have more than the step."""
        group = self.inner_group(scope)
        return (self.step,) if group is None else group.axes

    def inner_group(self, scope: Scope) -> Group | None:
        """The group of inner variables that a scope touches."""
        return next((g for g in self.inner if any(item.name in scope for item in g.members)), None)


def find_chain_groups(hidden: Sequence[Hidden]) -> tuple[ChainGroup, ...] | Declined:
    """The chains among hidden variables, each with those of the same steps that it meets."""
    groups: list[ChainGroup] = []
    for chain in hidden:
        if not chain.chain or any(chain in group.states for group in groups):
            continue
        step = chain.axes[0]
        beside = [item for item in hidden if step in item.axes]
        members = next(found for found in connected(beside) if chain in found)
        found = _chain_group(step, members, hidden)
        if isinstance(found, Declined):
            return found
        groups.append(found)
    return tuple(groups)


def without_chains(hidden: Sequence[Hidden], chains: Sequence[ChainGroup]) -> list[Hidden]:
    """What is left when chains are summed out: classes with a log factor for each chain that they touched."""
    gone = {item.name for group in chains for item in group.members}
    left = []
    for item in hidden:
        if item.name in gone:
            continue
        kept = [factor for factor in item.factors if not factor.names & gone]
        kept += [group.integral for group in chains if item.name in group.above]
        left.append(replace(item, factors=tuple(kept)))
    return left


def _chain_group(step: Index, members: Sequence[Hidden], hidden: Sequence[Hidden]) -> ChainGroup | Declined:
    """The group of some members: states, and inner variables in groups of their own."""
    states = tuple(item for item in members if item.chain)
    if odd := next((item for item in states if len(item.axes) > 1), None):
        return Declined(NAME, f"the chain {odd.name} lives on several plates")
    count = prod(item.count for item in states)
    if count > MOST_STATES:
        shown = ", ".join(item.name for item in states)
        return Declined(NAME, f"the chains {shown} have {count} values together, and at most {MOST_STATES} are taken")
    names = {item.name for item in members}
    classes = [item for item in hidden if item.name not in names and _meets(item, members)]
    factors = []
    for factor in factors_of(members):
        found = _at_step(factor, step, members)
        if isinstance(found, Declined):
            return found
        factors.append(found)
    place: Place = ()
    for item in classes:
        place = _class_place(item, factors, step)
        if not place or any(_class_place(other, factors, step) != place for other in classes):
            return Declined(
                NAME, f"the hidden variables {item.name} and {states[0].name} meet but live on other plates"
            )
    given = (*states, *(item.earlier for item in states), *classes)
    inner = _inner_groups([item for item in members if not item.chain], factors, given)
    if isinstance(inner, Declined):
        return inner
    within = {item.name for group in inner for item in group.members}
    own = tuple(factor for factor in factors if not factor.names & within)
    return ChainGroup(step, states, tuple(classes), place, inner, own)


def _meets(item: Hidden, members: Sequence[Hidden]) -> bool:
    return any(item.name in factor.names for factor in factors_of(members))


def _inner_groups(
    items: Sequence[Hidden], factors: Sequence[Factor], given: Sequence[Hidden]
) -> tuple[Group, ...] | Declined:
    """Inner variables grouped by the factors in which they meet, states and classes being given."""
    groups = []
    for members in connected(items):
        names = {item.name for item in members}
        found = group_of(members, [factor for factor in factors if factor.names & names], given)
        if isinstance(found, Declined):
            return found
        groups.append(found)
    return tuple(groups)


def _at_step(factor: Factor, step: Index, members: Sequence[Hidden]) -> Factor | Declined:
    """A factor in terms of one step: its own index is that of the group, states before have names of their own."""
    expression = factor.expression
    found: set[Expression] = set()
    for item in members:
        for place in places(factor, item.name):
            at = place[item.axes.index(step)]
            if isinstance(at, Lag):
                earlier = Reference(earlier_name(item.name), (at.index,))
                expression = put_in(expression, {Reference(item.name, place): earlier})
            found.add(at.index if isinstance(at, Lag) else at)
    own = found.pop() if len(found) == 1 else None
    if own not in factor.axes:
        shown = ", ".join(item.name for item in members if item.name in factor.names)
        return Declined(NAME, f"{factor.owner} ties {shown} at different elements")
    if own == step:
        return replace(factor, expression=expression)
    if step in all_indices(expression) or step in factor.axes:
        return Declined(NAME, f"{factor.owner} runs over `{step.plate}` twice")
    assert isinstance(own, Index)
    axes = tuple(step if axis == own else axis for axis in factor.axes)
    return replace(factor, axes=axes, expression=substitute(expression, {own: step}))


def _class_place(item: Hidden, factors: Sequence[Factor], step: Index) -> Place:
    """The one place at which steps find a class: the element of an outer plate that holds their sequence."""
    found = {place for factor in factors for place in places(factor, item.name)}
    if item.chain or len(found) != 1:
        return ()
    place = found.pop()
    if len(place) != 1 or not isinstance(place[0], Reference):
        return ()
    parts = [part for part in walk(place[0]) if part != step]
    nested = all(isinstance(part, Reference) and "@" in part.name for part in parts)
    return place if nested else ()
