"""Hidden Gaussian variables inside a plate: what is left when they are integrated out, element by element.

    log factors of an element = c + g'u - u'P u / 2        P, g by differentiating twice and once
    integral                  = value at the mean + (d/2) log 2 pi - log |P| / 2

P may depend on hidden classes of the same element, or of elements around it: the integral is then a table over their
levels, and the classes are treated as if that table were one of their factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from platewright.algebra.build import add, equal, multiply, substitute, totals
from platewright.algebra.differentiate import differentiate
from platewright.algebra.expression import (
    ONE,
    Expression,
    Index,
    Lag,
    Reference,
    bound,
    mentions,
    rebuild,
    walk,
)
from platewright.algebra.put_in import put_in
from platewright.elimination.tables import looked_up_apart, places
from platewright.errors import ModelError
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined
from platewright.program.program import Program
from platewright.program.statements import Assign
from platewright.schemas.body_program import body_program
from platewright.schemas.hidden import NAME, Hidden, Place, earlier_name, joint_name


@dataclass(frozen=True)
class GaussianMember:
    """One variable of a group: its axes inside an element, and their places among its own axes."""

    name: str
    axes: tuple[Index, ...]
    inner: tuple[Index, ...]

    @property
    def at(self) -> str:
        """The array at which log factors are evaluated: element, levels, inner axes."""
        return f"{self.name}.at"

    @property
    def point(self) -> str:
        """The array of points that have the posterior mean and covariance: element, levels, point, inner axes."""
        return f"{self.name}.point"

    @property
    def earlier(self) -> str:
        """The points of the previous element of a chain."""
        return f"{self.name}.earlier"


@dataclass(frozen=True)
class GaussianGroup:
    """Hidden Gaussian variables of one element that are integrated out together."""

    members: tuple[GaussianMember, ...]
    batch: tuple[Index, ...]
    classes: tuple[Hidden, ...]
    """Hidden classes on which it depends."""
    places: tuple[Place, ...]
    """Where an element finds each of them."""
    step: Index | None
    """The axis of `batch` along which neighbours depend on each other."""
    curvature: Program
    """Blocks of P, and the gradient, at given values."""
    value: Program
    """The sum of the log factors at given values."""
    weight: Expression = ONE
    """How often an element counts, where few stand for many."""

    @property
    def name(self) -> str:
        """All members."""
        return ".".join(member.name for member in self.members)

    @property
    def log_norm(self) -> str:
        """The array of log integrals: element, levels."""
        return f"{self.name}.integral"

    @property
    def point(self) -> Index:
        """The index of the points."""
        return Index(f"{self.name}.points", f"{self.name}.points")

    @property
    def axes(self) -> tuple[Index, ...]:
        """The axes of the integral."""
        return (*self.batch, *(item.level for item in self.classes))

    @property
    def integral(self) -> Factor:
        """The integral as a log factor of the classes."""
        symbols = tuple(Reference(item.name, place) for item, place in zip(self.classes, self.places, strict=True))
        return Factor(self.name, self.batch, Reference(self.log_norm, (*self.batch, *symbols)))

    @property
    def share(self) -> Reference:
        """The probability of the classes of an element."""
        place = self.batch if self.batch in self.places else self.places[0]
        return Reference(joint_name([item.name for item in self.classes]), (*place, *self.axes[len(self.batch) :]))


def block_name(group: str, one: str, two: str) -> str:
    """The block of P of two members."""
    return f"{group}.curvature.{one}.{two}"


def gradient_name(group: str, one: str) -> str:
    """The gradient of one member."""
    return f"{group}.gradient.{one}"


def find_gaussian_groups(
    graph: Graph, wanted: Sequence[str], factors: Sequence[Factor], classes: Sequence[Hidden]
) -> tuple[GaussianGroup, ...] | Declined:
    """Hidden Gaussians grouped by the factors in which they meet, each with its way to be integrated out."""
    waiting = list(wanted)
    groups = []
    while waiting:
        reached = {waiting[0]}
        while True:
            near = {name for factor in factors if factor.names & reached for name in factor.names & set(wanted)}
            if near <= reached:
                break
            reached |= near
        members = [name for name in wanted if name in reached]
        waiting = [name for name in waiting if name not in reached]
        touched = [factor for factor in factors if factor.names & reached]
        found = _group(graph, members, touched, classes)
        if isinstance(found, Declined):
            return found
        groups.append(found)
    return tuple(groups)


def _group(
    graph: Graph, members: list[str], factors: list[Factor], classes: Sequence[Hidden]
) -> GaussianGroup | Declined:
    met = {name for factor in factors for name in factor.names}
    tied = tuple(item for item in classes if item.name in met)
    step = _step(graph, members, factors)
    if step is not None and tied:
        shown = f"the hidden {tied[0].name} meets {members[0]}, a Gaussian chain"
        return Declined(NAME, f"{shown}: every way to choose {tied[0].name} would need a filter of its own")
    plates = _batch_plates(graph, members, factors, step)
    if not plates:
        return Declined(NAME, f"the elements of {', '.join(members)} depend on each other across all their plates")
    batch = tuple(axis for axis in graph.nodes[members[0]].axes if axis.plate in plates)
    if step is not None and len(batch) > 1:
        return Declined(NAME, f"{members[0]} is a chain beside other plates")
    held = tuple(
        GaussianMember(name, node.axes, tuple(axis for axis in node.axes if axis.plate not in plates))
        for name, node in ((name, graph.nodes[name]) for name in members)
    )
    around: list[Place] = []
    for item in tied:
        place = _class_place(item, factors, held, batch, [one.name for one in classes])
        if isinstance(place, Declined):
            return place
        around.append(place)
    if batch not in around and len(set(around)) > 1:
        return Declined(NAME, f"{members[0]} meets classes of several plates around it, but none of its own")
    whole = add(*(_moved(factor, held, batch, tied) for factor in factors))
    return _integrated(graph, held, batch, tied, tuple(around), step, whole)


def _class_place(
    item: Hidden, factors: Sequence[Factor], members: Sequence[GaussianMember], batch: Place, hidden: Sequence[str]
) -> Place | Declined:
    """The one place at which elements find a class: their own, or one that holds them."""
    found = set()
    for factor in factors:
        own = _elements(factor, members, batch)
        found |= {tuple(put_in(at, own) for at in place) for place in places(factor, item.name)}
    if len(found) == 1:
        place = found.pop()
        axes = tuple(axis for axis in batch if isinstance(axis, Index))
        if not looked_up_apart(Factor(item.name, axes, Reference(item.name, place)), place, set(hidden)):
            return place
    return Declined(
        NAME,
        f"the hidden variables {item.name} and {members[0].name} meet but live on other plates, and elements of "
        f"{members[0].name} do not each belong to one of {item.name}",
    )


def _elements(factor: Factor, members: Sequence[GaussianMember], batch: Place) -> dict[Expression, Expression]:
    """Where a factor looks members up, by the axes of an element."""
    found: dict[Expression, Expression] = {}
    for member in members:
        for place in places(factor, member.name):
            for axis, at in zip(member.axes, place, strict=True):
                if axis in batch:
                    found[at.index if isinstance(at, Lag) else at] = axis
    return found


def _step(graph: Graph, members: list[str], factors: list[Factor]) -> Index | None:
    """The ordered plate along which some member refers to its previous element."""
    for factor in factors:
        for name in members:
            for place in places(factor, name):
                for axis, at in zip(graph.nodes[name].axes, place, strict=True):
                    if isinstance(at, Lag):
                        return axis
    return None


def _batch_plates(graph: Graph, members: list[str], factors: list[Factor], step: Index | None) -> set[str]:
    """Plates whose elements do not meet: every factor looks all members up at one and the same element."""
    shared = [{axis.plate for axis in graph.nodes[name].axes} for name in members]
    found = set.intersection(*shared)
    for factor in factors:
        inside = set(bound_indices(factor.expression))
        for plate in list(found):
            used = set()
            for name in members:
                axes = graph.nodes[name].axes
                for place in places(factor, name):
                    used |= {at for axis, at in zip(axes, place, strict=True) if axis.plate == plate}
            if step is not None and plate == step.plate:
                used = {at.index if isinstance(at, Lag) else at for at in used}
            if len(used) > 1 or any(at in inside or not _is_element(graph, factor, at) for at in used):
                found.discard(plate)
    return found


def _is_element(graph: Graph, factor: Factor, at: Expression) -> bool:
    """Whether a factor looks up one element: that of its own axis, or one that its rows belong to."""
    if isinstance(at, Reference):
        return graph.is_known(at.name) and all(isinstance(part, Index) and part in factor.axes for part in at.indices)
    return at in factor.axes


def bound_indices(expression: Expression) -> list[Index]:
    """Indices that are bound anywhere inside."""
    return [index for part in walk(expression) for index in bound(part)]


def _moved(
    factor: Factor,
    members: tuple[GaussianMember, ...],
    batch: tuple[Index, ...],
    classes: tuple[Hidden, ...],
) -> Expression:
    """A factor's contribution to one element: classes at their levels, earlier values under a name of their own."""
    expression = factor.expression
    changes = _elements(factor, members, batch)
    for member in members:
        for place in places(factor, member.name):
            if any(isinstance(at, Lag) for at in place):
                now = tuple(at.index if isinstance(at, Lag) else at for at in place)
                earlier = Reference(earlier_name(member.name), now)
                expression = put_in(expression, {Reference(member.name, place): earlier})
    for item in classes:
        for place in places(factor, item.name):
            expression = put_in(expression, {Reference(item.name, place): item.level})
    left = [axis for axis in factor.axes if axis not in changes]
    groups = [equal(at, axis) for at, axis in changes.items() if isinstance(at, Reference)]
    moved = put_in(expression, {at: axis for at, axis in changes.items() if isinstance(at, Reference)})
    plain = {at: axis for at, axis in changes.items() if not isinstance(at, Reference)}
    return totals(multiply(*groups, substitute(moved, plain)), left)


def _integrated(
    graph: Graph,
    members: tuple[GaussianMember, ...],
    batch: tuple[Index, ...],
    classes: tuple[Hidden, ...],
    around: tuple[Place, ...],
    step: Index | None,
    whole: Expression,
) -> GaussianGroup | Declined:
    """The programs that give curvature, gradient and value."""
    axes = (*batch, *(item.level for item in classes))
    every = [(member, name) for member in members for name in _versions(member, step)]
    title = ".".join(member.name for member in members)
    blocks = []
    try:
        for member, name in every:
            first = _placed(member, "1")
            slope = differentiate(whole, Reference(name, _at(member, batch, first)))
            shown = _at_values(slope, members, batch, classes)
            blocks.append(Assign(gradient_name(title, name), (*axes, *first), shown, f"slope in {name}"))
            for other, other_name in every:
                second = _placed(other, "2")
                bend = differentiate(slope, Reference(other_name, _at(other, batch, second)))
                if mentions(bend, {version for _, version in every}):
                    return Declined(NAME, f"{member.name} does not enter the density as a Gaussian")
                curved = multiply(-1.0, bend)
                blocks.append(
                    Assign(block_name(title, name, other_name), (*axes, *first, *second), curved, "curvature")
                )
    except ModelError as error:
        return Declined(NAME, f"{', '.join(m.name for m in members)}: {error.found}")
    value = Assign(f"{title}.value", axes, _at_values(whole, members, batch, classes), "log factors")
    programs = (_program(graph, blocks, members, axes), _program(graph, [value], members, axes))
    return GaussianGroup(members, batch, classes, around, step, *programs)


def _versions(member: GaussianMember, step: Index | None) -> list[str]:
    return [member.name] if step is None else [member.name, earlier_name(member.name)]


def _placed(member: GaussianMember, word: str) -> tuple[Index, ...]:
    """Fresh indices for the inner axes of a member."""
    return tuple(Index(f"{axis.name}.{word}", axis.plate) for axis in member.inner)


def _at(member: GaussianMember, batch: tuple[Index, ...], inner: tuple[Index, ...]) -> Place:
    """The place of an element of a member with given inner indices."""
    waiting = list(inner)
    return tuple(axis if axis in batch else waiting.pop(0) for axis in member.axes)


def _at_values(
    expression: Expression,
    members: tuple[GaussianMember, ...],
    batch: tuple[Index, ...],
    classes: tuple[Hidden, ...],
) -> Expression:
    """Members read from the arrays of values at which to evaluate, which may depend on the levels of classes."""
    by_name = {member.name: (member, member.at) for member in members}
    by_name |= {earlier_name(member.name): (member, f"{member.at}.before") for member in members}
    levels = tuple(item.level for item in classes)

    def read(part: Expression) -> Expression:
        rebuilt = rebuild(part, read)
        if isinstance(rebuilt, Reference) and rebuilt.name in by_name:
            member, array = by_name[rebuilt.name]
            inner = tuple(at for axis, at in zip(member.axes, rebuilt.indices, strict=True) if axis not in batch)
            return Reference(array, (*batch, *levels, *inner))
        return rebuilt

    return read(expression)


def _program(graph: Graph, body: list[Assign], members: tuple[GaussianMember, ...], axes: tuple[Index, ...]) -> Program:
    """Statements that read members from the arrays of values at which to evaluate."""
    arrays = {name: (*axes, *m.inner) for m in members for name in (m.at, f"{m.at}.before")}
    return body_program(graph, body, arrays)
