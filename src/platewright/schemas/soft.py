"""Soft statistics: sums over rows of functions of hidden values become sums of their expectations.

    sum_n [z[n] = k] y[n]      becomes      sum_n sum_l p(z[n] = l | data, parameters) [l = k] y[n]

Hidden variables of one element that a statement mentions together need their joint probabilities; those of a step of a
chain are joint with the step before, and with the classes of the sequence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from platewright.algebra.build import call, multiply, substitute, total, where
from platewright.algebra.expression import (
    ZERO,
    Call,
    Expression,
    Index,
    Indicator,
    Lag,
    Multiply,
    Reference,
    free_indices,
    mentions,
    walk,
)
from platewright.algebra.put_in import put_in
from platewright.algebra.zero_times_log import IsOpen, may_be_infinite, zero_wins
from platewright.language.plate import Plate, root_of
from platewright.operation import Declined
from platewright.program.program import Program, expressions_of
from platewright.program.statements import Cell, Feature, Pool, Statistic
from platewright.schemas.chain_group import ChainGroup, Scope
from platewright.schemas.chain_programs import check_scope
from platewright.schemas.gaussian_hidden import GaussianGroup
from platewright.schemas.hidden import NAME, Group, Hidden, earlier_name, group_holding, joint_name
from platewright.schemas.nested_groups import given_place, trees_of
from platewright.schemas.points import in_points
from platewright.schemas.weighing import Place, Weighing, places_in


@dataclass(frozen=True)
class Softened:
    """A program for probabilities of hidden values, and which of them it needs together."""

    program: Program
    joint: tuple[tuple[str, ...], ...]
    along: tuple[tuple[ChainGroup, Scope], ...]


def softened(
    plates: Mapping[str, Plate],
    program: Program,
    hidden: Sequence[Hidden],
    groups: Sequence[Group],
    chains: Sequence[ChainGroup],
    gaussian: Sequence[GaussianGroup],
    is_open: IsOpen,
) -> Softened | Declined:
    """A program for known hidden values as one for their probabilities, and points in place of Gaussians."""
    softener = Softener(plates, tuple(hidden), tuple(groups), tuple(chains), tuple(gaussian), is_open)
    passes: list[Statistic | Pool] = []
    for statement in program.passes:
        found = softener.statement(statement)
        if isinstance(found, Declined):
            return found
        passes.append(found)
    unseen = {item.name for item in hidden} | {member.name for group in gaussian for member in group.members}
    for later in program.body:
        if any(mentions(part, unseen) for part in expressions_of(later)):
            return Declined(NAME, f"{later.name} takes hidden values one by one, not in sums over rows")
    columns = dict(program.columns)
    for item in hidden:
        columns.pop(item.name, None)
        columns[item.probability] = (*item.axes, item.level)
    for names in softener.joint:
        columns[joint_name(names)] = softener.axes(names)
    for chain, scope in softener.along:
        columns[chain.array(scope)] = chain.axes(scope)
    for group in gaussian:
        for member in group.members:
            columns.pop(member.name, None)
            for name in (member.point, *([member.earlier] if group.step is not None else [])):
                columns[name] = (*group.axes, group.point, *member.inner)
    whole = tuple(name for name in program.whole if name in columns)
    soft = replace(program, passes=tuple(passes), columns=columns, whole=whole)
    return Softened(soft, tuple(softener.joint), tuple(softener.along))


@dataclass
class Softener:
    """Makes statements soft and notes which joint probabilities that takes."""

    plates: Mapping[str, Plate]
    hidden: tuple[Hidden, ...]
    groups: tuple[Group, ...]
    chains: tuple[ChainGroup, ...]
    gaussian: tuple[GaussianGroup, ...]
    is_open: IsOpen
    joint: dict[tuple[str, ...], None] = field(default_factory=dict)
    along: dict[tuple[ChainGroup, Scope], None] = field(default_factory=dict)

    def axes(self, names: tuple[str, ...]) -> tuple[Index, ...]:
        """The axes of a joint probability."""
        group = group_holding(self.groups, names)
        assert group is not None  # else no such probability would be wanted
        return (*group.axes, *(group.levels[name] for name in names))

    def statement(self, statement: Statistic | Pool) -> Statistic | Pool | Declined:
        """One statement with expectations in place of hidden values."""
        parts = expressions_of(statement)
        mentioned = [item for item in self.hidden if any(mentions(part, {item.name}) for part in parts)]
        whole = Weighing()
        for cloud in self.gaussian:
            inside = {member.name for member in cloud.members}
            if any(mentions(part, inside) for part in parts):
                found = in_points(statement, cloud)
                if isinstance(found, Declined):
                    return found
                whole = whole.times(found)
                mentioned += [item for item in cloud.classes if item not in mentioned]
        if not mentioned and not whole.extra:
            return statement
        if isinstance(statement, Statistic) and statement.kind != "sum":
            return Declined(NAME, f"{statement.name} is a {statement.kind} over hidden values")
        named, settled = {item.name for item in mentioned}, set[str]()
        for chain in self.chains:
            if not any(item.name in named for item in chain.members):
                continue
            if settled & set(chain.above):
                return Declined(NAME, f"a statistic needs {chain.name} together with another chain of one class")
            found = self.along_chain(parts, chain, whole)
            if isinstance(found, Declined):
                return found
            whole = whole.times(found)
            settled |= set(chain.above)
        for tree in trees_of(self.groups):
            members = [item for group in tree for item in group.members]
            items = [item for item in members if item.name in named - settled]
            if items and settled & {item.name for item in members}:
                return Declined(NAME, f"a statistic needs {items[0].name} together with a chain of its class")
            found = self.together(parts, items, whole)
            if isinstance(found, Declined):
                return found
            whole = whole.times(found)
        return (
            _weighed_statistic(statement, whole, self.plates, self.is_open)
            if isinstance(statement, Statistic)
            else _weighed_pool(statement, whole)
        )

    def together(self, parts: list[Expression], items: list[Hidden], around: Weighing) -> Weighing | Declined:
        """The joint probability of variables at one element of a group, and of what that element finds around it."""
        if not items:
            return Weighing()
        names = tuple(item.name for item in items)
        group = group_holding(self.groups, names)
        if group is None or not any(set(names) <= set(clique.scope) for clique in group.cliques):
            return Declined(NAME, f"a statistic needs {', '.join(names)} together, which no table of the sums holds")
        found: dict[str, set[Place]] = {name: places_in(parts, name) for name in names}
        for name, place in around.elements:
            if name in found:
                found[name].add(place)
        inner = [item.name for item in group.members if item.name in names]
        own = set[Place]().union(*(found[name] for name in inner))
        if len(own) > 1 or any(isinstance(at, Lag) for place in own for at in place):
            return Declined(NAME, f"a statistic needs {', '.join(names)} at several places")
        (place,) = own
        at = {name: place if name in inner else given_place(group, name, place) for name in names}
        if odd := next((name for name in names if found[name] != {at[name]}), None):
            return Declined(NAME, f"a statistic needs {odd} at several places")
        if len(names) > 1:
            self.joint[names] = None
        levels = tuple(item.level for item in items)
        changes: dict[Expression, Expression] = {Reference(item.name, at[item.name]): item.level for item in items}
        return Weighing(Reference(joint_name(names), (*place, *levels)), changes, levels)

    def along_chain(self, parts: list[Expression], chain: ChainGroup, around: Weighing) -> Weighing | Declined:
        """The joint probability of members of a group of chains at one step, and of the classes that they go with."""
        inside: dict[str, Place] = {}
        steps: set[Expression] = set()
        for item in (*chain.members, *chain.classes):
            found = places_in(parts, item.name) | {place for name, place in around.elements if name == item.name}
            for place in found:
                at = place[item.axes.index(chain.step)] if chain.step in item.axes else None
                name = earlier_name(item.name) if isinstance(at, Lag) else item.name
                if inside.setdefault(name, place) != place:
                    return Declined(NAME, f"a statistic needs {item.name} at several places")
                steps |= set() if at is None else {at.index if isinstance(at, Lag) else at}
        scope = chain.ordered(set(inside))
        if len(steps) != 1 or len({inside[name] for name in scope if len(inside[name]) > 1}) > 1:
            return Declined(NAME, f"a statistic needs {', '.join(scope)} at several places")
        step = steps.pop()
        wanted = tuple(put_in(at, {chain.step: step}) for at in chain.place)
        if odd := next((name for name in scope if name in chain.above and inside[name] != wanted), None):
            return Declined(NAME, f"a statistic needs {odd} at several places")
        if reason := check_scope(chain, scope):
            return Declined(NAME, reason)
        self.along[chain, scope] = None
        element = next((inside[name] for name in scope if len(inside[name]) > 1), (step,))
        levels = tuple(chain.levels[name] for name in scope)
        changes: dict[Expression, Expression] = {
            Reference(name.removesuffix(".before") if name in chain.before else name, inside[name]): level
            for name, level in zip(scope, levels, strict=True)
        }
        return Weighing(Reference(chain.array(scope), (*element, *levels)), changes, levels)


def _weighed_statistic(
    statement: Statistic, whole: Weighing, plates: Mapping[str, Plate], is_open: IsOpen
) -> Statistic:
    summand = put_in(statement.summand, whole.changes)
    if may_be_infinite(summand, whole.extra):
        # A value that cannot be has no weight, and what it makes of the row must not be multiplied by that.
        summand = where(call("less", ZERO, whole.weight), summand, ZERO)
    body: Expression = multiply(whole.weight, summand)
    kept = []
    for index in whole.extra:
        summed = total(body, index)
        if not any(isinstance(n, Reference) and index in n.indices for n in walk(summed)):
            body = summed
        elif (picked := _picked(body, index, statement, plates)) is not None:
            body = picked
        else:
            kept.append(index)
    # A value of probability zero says nothing, however impossible it makes the row.
    return replace(statement, over=(*statement.over, *kept), summand=zero_wins(body, is_open))


def _picked(body: Expression, index: Index, statement: Statistic, plates: Mapping[str, Plate]) -> Expression | None:
    """The sum over a level of `[level = k] ...` for an index k of the result that runs over the same set."""
    if not isinstance(body, Multiply):
        return None
    for factor in body.factors:
        match factor:
            case Call("xlogy", (weight, argument)) if index not in free_indices(argument):
                outside = [part for part in body.factors if part is not factor]
                inside = _picked(multiply(weight, *outside), index, statement, plates)
                return None if inside is None else Call("xlogy", (inside, argument))
        if isinstance(factor, Indicator) and index in (factor.left, factor.right):
            other = factor.right if factor.left == index else factor.left
            if isinstance(other, Index) and other in statement.indices:
                if root_of(plates, other.plate) == root_of(plates, index.plate):
                    rest = multiply(*(part for part in body.factors if part is not factor))
                    return substitute(rest, {index: other})
    return None


def _weighed_pool(statement: Pool, whole: Weighing) -> Pool:
    changes = whole.changes
    return replace(
        statement,
        over=(*statement.over, *whole.extra),
        weight=multiply(whole.weight, put_in(statement.weight, changes)),
        cells=tuple(Cell(c.index, put_in(c.code, changes)) for c in statement.cells),
        features=tuple(Feature(put_in(f.expression, changes), f.inner) for f in statement.features),
    )
