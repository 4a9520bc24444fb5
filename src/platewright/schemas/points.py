"""Points in place of Gaussian values: as many as twice their dimension, with the same mean and covariance.

    E f(u) = (1 / 2d) sum_s f(mean +- sqrt(d) L_s)        exactly, for f of degree two in u;   L L' = covariance

A statistic that is a sum of squares and products of hidden Gaussians therefore stays the statistic it was, summed over
one index more.
"""

from __future__ import annotations

from platewright.algebra.build import power
from platewright.algebra.differentiate import differentiate
from platewright.algebra.expression import Expression, Lag, Reference, Size, mentions, walk
from platewright.algebra.put_in import put_in
from platewright.errors import ModelError
from platewright.operation import Declined
from platewright.program.program import expressions_of
from platewright.program.statements import Pool, Statistic
from platewright.schemas.gaussian_hidden import GaussianGroup, GaussianMember
from platewright.schemas.hidden import NAME
from platewright.schemas.weighing import Place, Weighing, places_in

TOO_HIGH = 3


def in_points(statement: Statistic | Pool, group: GaussianGroup) -> Weighing | Declined:
    """How a statement is made soft for the Gaussians of a group, or why it cannot be."""
    names = {member.name for member in group.members}
    shown = ", ".join(sorted(names))
    if not _is_quadratic(statement, names):
        return Declined(NAME, f"{statement.name} needs more than squares and products of {shown}")
    parts = expressions_of(statement)
    changes: dict[Expression, Expression] = {}
    elements: dict[Place, None] = {}
    for member in group.members:
        for place in places_in(parts, member.name):
            element, point = _read(member, group, place)
            changes[Reference(member.name, place)] = point
            elements[element] = None
    if len(elements) > 1:
        return Declined(NAME, f"a statistic needs {shown} at several places")
    at: list[dict[Expression, Expression]] = [dict(zip(group.batch, one, strict=True)) for one in elements]
    classes = tuple(
        (item.name, tuple(put_in(one, own) for one in place))
        for item, place in zip(group.classes, group.places, strict=True)
        for own in at
    )
    return Weighing(power(Size(group.point.plate), -1.0), changes, (group.point,), classes)


def _read(member: GaussianMember, group: GaussianGroup, place: Place) -> tuple[Place, Reference]:
    """The element that a place belongs to, and the point that stands for its value."""
    at = [position for axis, position in zip(member.axes, place, strict=True) if axis in group.batch]
    inner = [position for axis, position in zip(member.axes, place, strict=True) if axis not in group.batch]
    element = tuple(position.index if isinstance(position, Lag) else position for position in at)
    array = member.earlier if any(isinstance(position, Lag) for position in at) else member.point
    levels = [item.level for item in group.classes]
    return element, Reference(array, (*element, *levels, group.point, *inner))


def _is_quadratic(statement: Statistic | Pool, names: set[str]) -> bool:
    """Features of a pool are multiplied with each other, so they must be linear; a summand may be quadratic."""
    if isinstance(statement, Statistic):
        return _degree(statement.summand, names) <= 2
    others = [statement.weight, *(cell.code for cell in statement.cells)]
    linear = all(_degree(feature.expression, names) <= 1 for feature in statement.features)
    return linear and not any(mentions(part, names) for part in others)


def _degree(part: Expression, names: set[str]) -> int:
    """The degree of a polynomial in hidden Gaussians; `TOO_HIGH` for anything else."""
    left = [part] if mentions(part, names) else []
    for degree in range(TOO_HIGH):
        if not left:
            return degree
        try:
            slopes = {differentiate(one, at): None for one in left for at in _references(one, names)}
        except ModelError:
            return TOO_HIGH
        left = [slope for slope in slopes if mentions(slope, names)]
        if degree == 0 and not left:
            return 1
    return TOO_HIGH


def _references(part: Expression, names: set[str]) -> list[Reference]:
    return list({node: None for node in walk(part) if isinstance(node, Reference) and node.name in names})
