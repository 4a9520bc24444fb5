"""Hidden classes on plates inside one another: what lives further in is summed out first.

    w --> g[school] --> z[pupil] --> y[pupil]        z given g, pupil by pupil; what is left is a log factor of g

The elements of an inner plate are independent given the classes around them. Summed out they leave a message for each
element, and a message is a log factor of those classes like any other: `message[pupil, g[school@pupil[pupil]]]`, which
the class of a school adds up over its pupils. So the rule is the same at every depth, and for plates that cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from platewright.algebra.expression import Expression, Reference
from platewright.algebra.put_in import put_in
from platewright.elimination.tables import looked_up_apart, places
from platewright.graph.graph import Factor
from platewright.operation import Declined
from platewright.schemas.hidden import (
    Group,
    Hidden,
    Place,
    connected,
    factors_of,
    group_of,
    on_other_plates,
    plates_of,
)


def find_groups(hidden: Sequence[Hidden]) -> tuple[Group, ...] | Declined:
    """Hidden variables grouped by plates and by the factors in which they meet, in the order of summing out."""
    groups: list[Group] = []
    for tree in connected(hidden):
        waiting = list(tree)
        while waiting:
            found = _innermost(waiting)
            if isinstance(found, Declined):
                return found
            groups.append(found)
            waiting = _without(waiting, found)
    return tuple(groups)


def _innermost(waiting: Sequence[Hidden]) -> Group | Declined:
    """A group whose elements each find all the others that they meet at one place."""
    refusal: Declined | None = None
    for plates in dict.fromkeys(plates_of(item) for item in waiting):
        for members in connected([item for item in waiting if plates_of(item) == plates]):
            found = _group(members, waiting)
            if not isinstance(found, Declined):
                return found
            refusal = refusal or found
    assert refusal is not None  # something is waiting
    return refusal


def _group(members: Sequence[Hidden], waiting: Sequence[Hidden]) -> Group | Declined:
    """The group of some variables on the same plates, given those around them."""
    factors = factors_of(members)
    met = [item for item in waiting if item not in members and any(item.name in factor.names for factor in factors)]
    found = []
    for item in met:
        place = _place(members, item, factors)
        if isinstance(place, Declined):
            return place
        found.append(place)
    group = group_of(members, factors, met)
    return group if isinstance(group, Declined) else replace(group, places=tuple(found))


def _place(members: Sequence[Hidden], other: Hidden, factors: Sequence[Factor]) -> Place | Declined:
    """The one place at which an element of some members finds another variable."""
    axes = members[0].axes
    found = set()
    for factor in factors:
        inside = {place for item in members for place in places(factor, item.name)}
        if len(inside) == 1:
            own: dict[Expression, Expression] = dict(zip(inside.pop(), axes, strict=True))
            found |= {tuple(put_in(at, own) for at in place) for place in places(factor, other.name)}
    if len(found) == 1:
        place = found.pop()
        names = {item.name for item in (*members, other)}
        if not looked_up_apart(Factor(other.name, axes, Reference(other.name, place)), place, names):
            return place
    return on_other_plates(members[0], other)


def _without(waiting: Sequence[Hidden], group: Group) -> list[Hidden]:
    """What is left when a group is summed out: those around it, with its messages among their log factors."""
    gone = {item.name for item in group.members}
    left = []
    for item in waiting:
        if item.name not in gone:
            kept = [factor for factor in item.factors if not factor.names & gone]
            left.append(replace(item, factors=(*kept, *(f for f in _messages(group) if item.name in f.names))))
    return left


def _messages(group: Group) -> list[Factor]:
    """What the cliques of a group leave, as log factors of what is around it."""
    at = {item.name: Reference(item.name, place) for item, place in zip(group.given, group.places, strict=True)}
    return [
        Factor(
            clique.first, group.axes, Reference(clique.message, (*group.axes, *(at[name] for name in clique.others)))
        )
        for clique in group.last
        if clique.others
    ]


def outermost_first(groups: Sequence[Group]) -> list[Group]:
    """Groups in an order in which each comes after those around it."""
    return [*(group for group in groups if not group.places), *reversed([group for group in groups if group.places])]


def given_place(group: Group, name: str, element: Place) -> Place:
    """Where a group finds a variable around it, for one of its own elements."""
    own: dict[Expression, Expression] = dict(zip(group.axes, element, strict=True))
    place = next(place for item, place in zip(group.given, group.places, strict=True) if item.name == name)
    return tuple(put_in(at, own) for at in place)


def trees_of(groups: Sequence[Group]) -> list[list[Group]]:
    """Groups in portions that say nothing about each other: each with those around it, the innermost first."""
    found: list[list[Group]] = []
    for group in groups:
        names = {item.name for item in group.members}
        below = [tree for tree in found if any(item.name in names for one in tree for item in one.given)]
        found = [tree for tree in found if tree not in below]
        found.append([*(one for tree in below for one in tree), group])
    return found
