"""Hidden variables inside a plate: what their values are, and which of them are tied to each other.

    x1[n] -> x2[n] -> y[n]      x1 and x2 meet in the factor of x2: one group, and its posterior is a joint one

Elements of the plate are independent given the parameters, so a group is a small graph without plates, the same for
every element. The order in which it is eliminated is chosen here, once, for all elements.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from platewright.algebra.expression import Expression, Index, Reference
from platewright.algebra.put_in import put_in
from platewright.elimination.state import TableConditional
from platewright.elimination.tables import at_element, looked_up_apart, places
from platewright.errors import UnknownName
from platewright.graph.graph import Factor, Graph
from platewright.inference.ordering import choose_ordering
from platewright.operation import Declined
from platewright.schemas.exact import normalisers
from platewright.schemas.gibbs import ChainBlock, ExactBlock, hidden_block

NAME = "em"
Place = tuple[Expression, ...]
USUAL_LEVELS = 3
"""How many levels a variable counts for in the choice of an order, where only the data will tell."""


@dataclass(frozen=True)
class Hidden:
    """A hidden discrete variable: its levels, and whether neighbouring elements depend on each other."""

    name: str
    axes: tuple[Index, ...]
    level: Index
    chain: bool
    factors: tuple[Factor, ...]
    count: int = USUAL_LEVELS
    """How many values it has, as far as the model tells."""

    @property
    def before(self) -> Index:
        """The level of the previous element of a chain."""
        return Index(self.level.name + "'", self.level.plate)

    @property
    def earlier(self) -> Hidden:
        """The previous element of a chain, as a variable of its own."""
        return replace(self, name=earlier_name(self.name), level=self.before)

    @property
    def probability(self) -> str:
        """The array of posterior probabilities: axes of the variable, then its level."""
        return f"{self.name}.probability"

    @property
    def pair(self) -> str:
        """The array of posterior probabilities of neighbouring values: step, level before, level now."""
        return f"{self.name}.pair"


@dataclass(frozen=True)
class Clique:
    """A variable with those it is tied to when its turn comes: summed out, it leaves a message about the others."""

    first: str
    others: tuple[str, ...]
    factors: tuple[Factor, ...]
    inner: tuple[str, ...]
    """Variables whose messages arrive here."""

    @property
    def scope(self) -> tuple[str, ...]:
        """All variables of its table."""
        return (self.first, *self.others)

    @property
    def log_weight(self) -> str:
        """The array of log weights of its values, messages included."""
        return f"{self.first}.log_weight"

    @property
    def message(self) -> str:
        """The array that is left when its first variable is summed out; at the end, the log norm of the group."""
        return f"{self.first}.message" if self.others else f"{self.first}.log_norm"

    @property
    def probability(self) -> str:
        """The array of posterior probabilities of its variables together."""
        return joint_name(self.scope)


@dataclass(frozen=True)
class Group:
    """Hidden variables of one element that depend on each other, in the order of elimination."""

    members: tuple[Hidden, ...]
    cliques: tuple[Clique, ...]
    given: tuple[Hidden, ...] = ()
    """Variables that others sum out later: its messages are about them."""
    places: tuple[Place, ...] = ()
    """Where an element finds each of them, if they live on plates around it."""

    @property
    def axes(self) -> tuple[Index, ...]:
        """The plates that repeat the group."""
        return self.members[0].axes

    @property
    def log_norms(self) -> tuple[str, ...]:
        """Arrays whose sum is the log probability of what is seen, element by element."""
        return tuple(clique.message for clique in self.cliques if not clique.others)

    @cached_property
    def levels(self) -> Mapping[str, Index]:
        """The level index of each member, and of what is given."""
        return {item.name: item.level for item in (*self.members, *self.given)}

    @property
    def last(self) -> tuple[Clique, ...]:
        """The cliques whose messages leave the group."""
        names = {item.name for item in self.members}
        return tuple(clique for clique in self.cliques if not names & set(clique.others))


def group_holding(groups: Sequence[Group], names: Collection[str]) -> Group | None:
    """The group whose tables hold some variables together: the innermost of those that they belong to."""
    for group in groups:
        if set(names) <= set(group.levels) and any(item.name in names for item in group.members):
            return group
    return None


def earlier_name(name: str) -> str:
    """A variable at the previous element of a chain, as a variable of its own."""
    return f"{name}.before"


def joint_name(names: Sequence[str]) -> str:
    """The array of posterior probabilities of several hidden variables of one element."""
    return ".".join((*names, "probability"))


def hidden_named(hidden: Sequence[Hidden], name: str) -> Hidden:
    """The hidden variable of a name."""
    found = next((item for item in hidden if item.name == name), None)
    if found is None:
        raise UnknownName(name, [item.name for item in hidden], where="probabilities")
    return found


def find_hidden(graph: Graph, name: str) -> Hidden | Declined:
    """A hidden variable with its levels and factors, or why its posterior has no table.

    As a parent of an undirected component it is in the normaliser of that, too.
    """
    minus = normalisers(graph)
    if isinstance(minus, Declined):
        return Declined(NAME, minus.reason)
    factors = tuple(factor for factor in (*graph.factors, *minus) if name in factor.names)
    found = hidden_block(graph, name)
    node = graph.nodes[name]
    plate = str(node.domain.levels) if node.domain.kind == "levels" else f"{name}.levels"
    level, count = Index(f"{name}.level", plate), _level_count(graph, name, plate)
    match found:
        case ChainBlock():
            return Hidden(name, node.axes, level, True, factors, count)
        case ExactBlock():
            if any(isinstance(c, TableConditional) for c in found.plan.conditionals):
                return Hidden(name, node.axes, level, False, factors, count)
            return Declined(NAME, f"{name} has no table of values")
    reason = found.reason if isinstance(found, Declined) else "it is drawn by a slice sampler"
    return Declined(NAME, reason)


def connected(hidden: Sequence[Hidden]) -> list[list[Hidden]]:
    """Variables that meet, directly or through others, in the order of writing."""
    waiting = list(hidden)
    found = []
    while waiting:
        group, reached = [], {waiting[0].name}
        grown = True
        while grown:
            grown = False
            for item in list(waiting):
                if item.name in reached or any(reached & factor.names for factor in item.factors):
                    group.append(item)
                    waiting.remove(item)
                    reached.add(item.name)
                    grown = True
        found.append(sorted(group, key=hidden.index))
    return found


def group_of(members: Sequence[Hidden], factors: Sequence[Factor], given: Sequence[Hidden] = ()) -> Group | Declined:
    """One group with its elimination order; what is given stays."""
    names = {item.name for item in members}
    if odd := next((item for item in members if plates_of(item) != plates_of(members[0])), None):
        return on_other_plates(members[0], odd)
    for factor in factors:
        if reason := _apart(factor, names):
            return Declined(NAME, reason)
    kept = [item.name for item in given if any(item.name in factor.names for factor in factors)]
    sizes = {item.name: item.count for item in (*members, *given) if item.name in {*names, *kept}}
    scopes = [sorted(factor.names & {*names, *kept}) for factor in factors]
    order = choose_ordering(scopes, sizes, kept).order
    return Group(tuple(members), _cliques(order, kept, factors), tuple(given))


def plates_of(item: Hidden) -> tuple[str, ...]:
    """The names of its plates."""
    return tuple(axis.plate for axis in item.axes)


def on_other_plates(one: Hidden, other: Hidden) -> Declined:
    """The refusal of two variables that meet where neither lives inside the other."""
    shown = " and ".join(", ".join(plates_of(item)) or "no plate" for item in (one, other))
    return Declined(
        NAME,
        f"the hidden variables {one.name} and {other.name} meet but live on other plates ({shown}): what is hidden on "
        "two plates is summed out together only where each element of one belongs to one element of the other",
    )


def factors_of(hidden: Sequence[Hidden]) -> list[Factor]:
    """The factors that touch any of these variables, each once."""
    return list(dict.fromkeys(factor for item in hidden for factor in item.factors))


def _level_count(graph: Graph, name: str, plate: str) -> int:
    """How many values a variable has, as far as the model tells."""
    domain = graph.nodes[name].domain
    if domain.kind == "integer":
        return domain.listed
    found = graph.plates.get(plate)
    return (found.size if found is not None else None) or USUAL_LEVELS


def _apart(factor: Factor, names: set[str]) -> str:
    """Why a factor does not stay inside one element of the group's plates; empty when it does."""
    found = {place for name in names & factor.names for place in places(factor, name)}
    if len(found) > 1:
        shown = ", ".join(sorted(names & factor.names))
        return f"{factor.owner} ties {shown} at different elements"
    for place in found:
        if looked_up_apart(factor, place, names):
            return f"{factor.owner} looks {min(names & factor.names)} up at {', '.join(map(str, place))}"
    return ""


def _cliques(order: Sequence[str], kept: Sequence[str], factors: Sequence[Factor]) -> tuple[Clique, ...]:
    """The cliques of an elimination order, messages going to that of the next variable in them."""
    rank = {name: number for number, name in enumerate((*order, *kept))}
    scopes: dict[str, set[str]] = {name: set() for name in rank}
    own: dict[str, list[Factor]] = {name: [] for name in rank}
    inner: dict[str, list[str]] = {name: [] for name in rank}
    for factor in factors:
        touched = sorted(factor.names & set(rank), key=rank.__getitem__)
        own[touched[0]].append(factor)
        scopes[touched[0]] |= set(touched[1:])
    found = []
    for name in order:
        others = tuple(sorted(scopes[name], key=rank.__getitem__))
        if others:
            scopes[others[0]] |= set(others[1:])
            inner[others[0]].append(name)
        found.append(Clique(name, others, tuple(own[name]), tuple(inner[name])))
    return tuple(found)


def at_levels(factor: Factor, axes: tuple[Index, ...], levels: Mapping[str, Expression]) -> Expression:
    """A factor's contribution to one element, with hidden variables set to their levels.

    The element is that of the first of them that the factor looks up.
    """
    expression = factor.expression
    found: tuple[Expression, ...] = ()
    for name, level in levels.items():
        for place in places(factor, name):
            expression = put_in(expression, {Reference(name, place): level})
            found = found or place
    return at_element(factor, found, axes, expression)
