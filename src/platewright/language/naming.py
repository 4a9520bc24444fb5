"""Turn a distribution into a named variable: fill the family's template in, and check plates on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from platewright.algebra.build import add, at_most, expression, substitute, where
from platewright.algebra.domain import Domain
from platewright.algebra.expression import (
    Constant,
    Expression,
    Index,
    Lag,
    Reference,
    free_indices,
    names,
    walk,
)
from platewright.algebra.put_in import put_in
from platewright.errors import ModelError, ParameterError, PlateError, UnknownName
from platewright.family import Argument, Family, filled
from platewright.language.distribution import Distribution, literal
from platewright.language.parameters import check_bounds, check_parameter
from platewright.language.past import PENDING, beginning_of, is_pending, ordered
from platewright.language.plate import Plate, membership, root_of
from platewright.language.variable import Variable


def named(name: str, distribution: Distribution, plates: Mapping[str, Plate], back: int = 1) -> Variable:
    """The variable that `m.name = distribution` declares, which looks at most so many steps back."""
    family = distribution.family
    own = tuple(plate.index for plate in distribution.plates)
    check_bounds(name, family, distribution.given)
    event = _event_plate(name, distribution, own, plates)
    axes = (event, Index(event.name + "'", event.plate)) if event is not None else ()
    arguments = _arguments(name, distribution, distribution.given, own, axes, plates)
    canonical = _parameters(family, arguments, axes)
    value_axes = (*own, *axes[: family.rank])
    x = Argument(Reference(name, value_axes), axes[: family.rank])
    density = _density(distribution, canonical, x, axes)
    if distribution.start is not None:
        at_start = _start(name, distribution, own, axes, plates)
        begin = _parameters(family, at_start, axes)
        step = ordered(name, distribution.plates)
        first = beginning_of(step, back)
        density = where(first, _density(distribution, begin, x, axes), density)
        canonical = {
            word: Argument(where(first, begin[word].expression, later.expression), later.axes)
            for word, later in canonical.items()
        }
        arguments = {
            word: Argument(where(first, at_start[word].expression, later.expression), later.axes)
            for word, later in arguments.items()
            if word in at_start
        }
    elif any(isinstance(node, Lag) for node in walk(density)):
        raise no_start(name)
    return Variable(
        name=name,
        kind="random",
        axes=value_axes,
        domain=_domain(distribution, canonical, event),
        rank=family.rank,
        log_density=density,
        family=family,
        parameters=tuple((parameter, argument.expression) for parameter, argument in canonical.items()),
        optional=_optional(name, distribution, density),
        given=tuple((word, argument.expression) for word, argument in arguments.items() if word not in canonical),
    )


def no_start(name: str) -> ModelError:
    """The error for a variable whose first element has nothing to look back at."""
    return ModelError(
        f"`{name}` uses the previous element but has no start",
        where=f"variable {name}",
        expected="start= with the parameter of each sequence's first element",
    )


def _event_plate(
    name: str, distribution: Distribution, own: tuple[Index, ...], plates: Mapping[str, Plate]
) -> Index | None:
    """The axis inside one value: given by `over=`, or the one axis of the parameters that the plates leave."""
    family = distribution.family
    if not family.rank and not any(parameter.rank for parameter in family.parameters):
        if distribution.over is not None:
            raise ParameterError(
                f"{family.name} has no axis inside it, so `over=` means nothing", where=f"variable {name}"
            )
        return None
    if distribution.over is not None:
        index = distribution.over.index
        if index in own:
            raise PlateError(
                f"`{name}` repeats over {index.plate} and also has it inside each value",
                where=f"variable {name}",
                hint=f"make a second index with m.plate('other', like={index.plate})",
            )
        return index
    left: set[Index] = set()
    for value in distribution.given.values():
        if isinstance(value, Expression):
            left |= {index for index in free_indices(value) if index not in own and not index.name.endswith("'")}
    left -= {PENDING}
    left -= {index for index in left if _membership_route(index.plate, own, plates) is not None}
    if len(left) != 1:
        found = ", ".join(sorted(index.name for index in left)) or "none"
        raise PlateError(
            f"cannot tell which axis is inside one value of `{name}` (left over: {found})",
            where=f"variable {name}",
            expected="over=plate",
        )
    return next(iter(left))


def _arguments(
    name: str,
    distribution: Distribution,
    given: Mapping[str, object],
    own: tuple[Index, ...],
    axes: tuple[Index, ...],
    plates: Mapping[str, Plate],
) -> dict[str, Argument]:
    """Parameters as spelled, as expressions over the plates and event axes of the variable."""
    family = distribution.family
    arguments: dict[str, Argument] = {}
    for word, value in given.items():
        rank = family.argument(word).rank
        sizes = [plates[axis.plate].size for axis in axes[:rank]]
        if isinstance(value, (list, tuple, np.ndarray)):
            value = literal(value, axes[:rank], sizes)
        if isinstance(value, Distribution):
            raise ParameterError(
                f"{word} of `{name}` is a distribution without a name",
                where=f"variable {name}",
                hint=f"name it first: m.{word} = {value!r}, then use m.{word}",
            )
        written = _as_matrix(expression(value), own, axes[:rank], plates)
        check_parameter(name, family, word, written, axes[:rank], plates[axes[0].plate].size if axes else None)
        inside = axes[: family.rank]
        arguments[word] = Argument(align(name, written, own, axes[:rank], plates, inside), axes[:rank])
    return arguments


def _parameters(family: Family, arguments: Mapping[str, Argument], axes: tuple[Index, ...]) -> dict[str, Argument]:
    """Canonical parameters from those that were given."""
    canonical: dict[str, Argument] = {}
    for parameter in family.parameters:
        spellings = family.spelled.get(parameter.name, {parameter.name: parameter.symbol})
        word = next(word for word in spellings if word in arguments)
        written = filled(spellings[word], arguments, axes) if axes else _plain(spellings[word], arguments)
        canonical[parameter.name] = Argument(written, axes[: parameter.rank])
    return canonical


def _as_matrix(
    written: Expression, own: tuple[Index, ...], events: tuple[Index, ...], plates: Mapping[str, Plate]
) -> Expression:
    """A matrix written over two plates of one set, `over=` and another like it: the other one is its second axis."""
    if len(events) < 2:
        return written
    root = root_of(plates, events[0].plate)
    same = {index for index in free_indices(written) if root_of(plates, index.plate) == root}
    others = same - {*own, *events}
    return put_in(written, {others.pop(): events[1]}) if len(others) == 1 else written


def _plain(template: Expression, arguments: Mapping[str, Argument]) -> Expression:
    return substitute(template, {Reference(word): argument.expression for word, argument in arguments.items()})


def align(
    name: str,
    written: Expression,
    own: tuple[Index, ...],
    events: tuple[Index, ...],
    plates: Mapping[str, Plate],
    inside: tuple[Index, ...] = (),
) -> Expression:
    """Check an expression's plates against those of the variable; outer plates are reached through membership.

    `inside` are the axes of one value of the variable, which its previous value has too.
    """
    changes: dict[Expression, Expression] = {}
    for index in sorted(free_indices(written), key=lambda index: index.name):
        if index in own or index in events or index == PENDING:
            continue
        if index.name.endswith("'") and any(index.plate == event.plate for event in events):
            continue
        route = _membership_route(index.plate, own, plates)
        if route is None:
            listed = ", ".join(axis.name for axis in own) or "none"
            found = next((n.name for n in walk(written) if isinstance(n, Reference) and index in n.indices), None)
            guilty = "a table" if found is None else f"`{found}`"
            indexed = "it[...]" if found is None else f"m.{found}[...]"
            raise PlateError(
                f"`{name}` uses {guilty}, which lives on plate `{index.plate}`, but `{name}` is not on that plate",
                where=f"variable {name}",
                expected=f"the plates of {guilty} among those of {name} ({listed})",
                hint=f"add plates={index.plate}, index it ({indexed}), or reduce it (over={index.plate})",
            )
        changes[index] = route
    step = next((plates[index.plate] for index in own if plates[index.plate].ordered), None)
    for node in walk(written):
        if isinstance(node, Reference) and any(map(is_pending, node.indices)):
            if step is None:
                raise ModelError(
                    f"`{name}` uses m.lag but none of its plates is ordered", expected="m.plate(..., ordered=True)"
                )
            changes[node] = Reference(node.name, _lagged(name, node, step.index, (*own, *inside)))
    return put_in(written, changes)


def _lagged(name: str, node: Reference, step: Index, axes: tuple[Index, ...]) -> tuple[Expression, ...]:
    """The place one step back: other axes as they are, or where they were indexed."""
    back = next(part for part in node.indices if is_pending(part))
    given = [part for part in node.indices if part != back]
    others = [index for index in axes if index != step]
    if len(given) > len(others):
        raise ModelError(
            f"m.lag('{name}') is indexed with {len(given)} positions", expected=f"at most {len(others)} beside the step"
        )
    chosen = iter([*given, *others[len(given) :]])
    return tuple(put_in(back, {PENDING: index}) if index == step else next(chosen) for index in axes)


def _membership_route(plate: str, own: tuple[Index, ...], plates: Mapping[str, Plate]) -> Expression | None:
    """`doc@word[word]`: the element of an outer plate that an element of one of our plates lies in."""
    for index in own:
        at: Expression = index
        inner = index.plate
        while (outer := plates[inner].within) is not None:
            at = Reference(membership(inner, outer), (at,))
            if outer == plate:
                return at
            inner = outer
    return None


def _density(
    distribution: Distribution, canonical: dict[str, Argument], x: Argument, axes: tuple[Index, ...]
) -> Expression:
    family = distribution.family
    arguments = {**canonical, "x": x}
    parts = [filled(family.log_density, arguments, axes) if axes else filled(family.log_density, arguments, ())]
    for low, high in ((family.lower, x.expression), (x.expression, family.upper)):
        bounds = [
            filled(b, arguments, axes) if b in (family.lower, family.upper) else b for b in (low, high) if b is not None
        ]
        if len(bounds) == 2 and not any(isinstance(bound, Constant) for bound in bounds):
            parts.append(at_most(*bounds))
    domain = _domain(distribution, canonical, None)
    if domain.kind == "integer" and domain.is_finite and domain.lower > 0:
        # Its values are listed from nought on, and those below the lower end must weigh nothing.
        parts.append(at_most(expression(domain.lower), x.expression))
    return add(*parts)


def _domain(distribution: Distribution, canonical: dict[str, Argument], event: Index | None) -> Domain:
    """Where values live; constant bounds narrow the family's own domain."""
    family = distribution.family
    domain = family.domain
    if domain.kind == "levels" and event is not None:
        return Domain("levels", levels=event.plate)
    for side in ("lower", "upper"):
        bound = getattr(family, side)
        if bound is None:
            continue
        value = filled(bound, canonical, ())
        if isinstance(value, Constant):
            lower, upper = (value.value, domain.upper) if side == "lower" else (domain.lower, value.value)
            domain = replace(domain, lower=lower, upper=upper)
    return domain


def _start(
    name: str,
    distribution: Distribution,
    own: tuple[Index, ...],
    axes: tuple[Index, ...],
    plates: Mapping[str, Plate],
) -> dict[str, Argument]:
    """The arguments of the first element: a distribution of the same family, or one that differs in its first."""
    start = distribution.start
    if isinstance(start, Distribution):
        if start.family.name != distribution.family.name:
            raise ModelError(f"`{name}` starts as {start.family.name} but goes on as {distribution.family.name}")
        return _arguments(name, distribution, start.given, own, axes, plates)
    first = next(iter(distribution.given))
    return _arguments(name, distribution, {**distribution.given, first: start}, own, axes, plates)


def _optional(name: str, distribution: Distribution, density: Expression) -> tuple[str, ...]:
    chosen = []
    for item in distribution.optional:
        if not isinstance(item, Reference):
            raise ModelError(f"an optional arc of `{name}` is not a variable", expected="optional=[m.a, m.b]")
        if item.name not in names(density):
            raise UnknownName(item.name, names(density), where=f"optional arcs of {name}")
        chosen.append(item.name)
    return tuple(chosen)
