"""Functions of their own past, alone or together, as scans: what is left has no circle of functions.

    s[t] = where(first, s0, s[t-1] - new[t]),  new[t] = b s[t-1] i[t-1],  i[t] = ...

become the three states of one scan, in an order in which each step can be computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from platewright.algebra.expression import (
    Before,
    Expression,
    Index,
    Lag,
    Reference,
    Scan,
    names,
    rebuild,
    references,
    walk,
)
from platewright.algebra.scanning import steps_back
from platewright.algebra.substitution import substitute
from platewright.errors import CycleError, ModelError, PlateError, UnknownName
from platewright.language.variable import Variable


def with_scans(nodes: Mapping[str, Variable]) -> dict[str, Variable]:
    """The nodes with each function of its own past defined by a scan; names that were looked back at are looked up."""
    functions = {name: node for name, node in nodes.items() if node.definition is not None}
    if not any(isinstance(at, Lag) for node in nodes.values() for place in _places(node) for at in place.indices):
        return dict(nodes)
    for node in nodes.values():
        _check_names(node, nodes)
    found = dict(nodes)
    for circle in _circles(functions):
        found |= _as_scan([functions[name] for name in nodes if name in circle])
    return found


def _places(node: Variable) -> tuple[Reference, ...]:
    return references(node.log_density if node.definition is None else node.definition)


def _check_names(node: Variable, nodes: Mapping[str, Variable]) -> None:
    """A look back at a name that was never defined, or that is on other plates."""
    for place in _places(node):
        if not any(isinstance(at, Lag) for at in place.indices):
            continue
        if place.name not in nodes:
            raise UnknownName(place.name, [name for name in nodes if "@" not in name], where=f"m.lag in {node.name}")
        axes = nodes[place.name].axes
        plates = [at.plate for at in map(_under_lags, place.indices) if at is not None]
        if len(axes) != len(place.indices) or not set(plates) <= {axis.plate for axis in axes}:
            listed = ", ".join(axis.plate for axis in axes) or "none"
            raise PlateError(
                f"`{node.name}` looks back at `{place.name}`, defined later and on other plates ({listed})",
                where=f"m.lag in {node.name}",
                expected="the same plates in the same order",
            )


def _under_lags(position: Expression) -> Index | None:
    """The index that a position is some steps before."""
    inner = walk(position) if isinstance(position, Lag) else ()
    return next((part for part in inner if isinstance(part, Index)), None)


def _circles(functions: Mapping[str, Variable]) -> list[set[str]]:
    """Sets of functions that are functions of each other."""
    above = {name: node.parents & set(functions) for name, node in functions.items()}
    reached = {name: _reached(name, above) for name in functions}
    circles: list[set[str]] = []
    for name, node in functions.items():
        assert node.definition is not None
        own = {other for other in reached[name] if name in reached[other]}
        if (own or name in names(node.definition)) and not any(name in circle for circle in circles):
            circles.append(own | {name})
    return circles


def _reached(name: str, above: Mapping[str, frozenset[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(above[name])
    while waiting:
        if (other := waiting.pop()) not in found:
            found.add(other)
            waiting += above[other]
    return found


def _as_scan(members: Sequence[Variable]) -> dict[str, Variable]:
    step = _step_of(members)
    ordered = _in_order(members, step)
    states = tuple(node.name for node in ordered)
    axes = {node.name: node.axes for node in ordered}
    bodies = []
    for node in ordered:
        assert node.definition is not None
        bodies.append(_with_states(node.definition, axes, step, node.name))
    # Indices of its own: they need not step aside wherever the scan is put.
    inner: dict[Expression, Index] = {
        axis: Index(f"{axis.name}_{states[0]}", axis.plate) for n in ordered for axis in n.axes
    }
    shapes = tuple(tuple(inner[axis] for axis in node.axes) for node in ordered)
    moved = tuple(substitute(body, inner) for body in bodies)
    scan = Scan(inner[step], states, shapes, moved, False, states[0], shapes[0])
    return {n.name: replace(n, definition=replace(scan, state=n.name, at=n.axes)) for n in ordered}


def _step_of(members: Sequence[Variable]) -> Index:
    """The one plate along which all of them are looked back at."""
    wanted = {node.name for node in members}
    steps = {
        at
        for node in members
        for place in _places(node)
        if place.name in wanted
        for at in map(_under_lags, place.indices)
        if at is not None
    }
    shown = ", ".join(f"`{name}`" for name in sorted(wanted))
    if not steps:
        raise CycleError(f"{shown} are functions of each other at the same element", expected="a lag between them")
    if len(steps) > 1:
        raise ModelError(f"{shown} look back along {len(steps)} plates", expected="one ordered plate")
    step = next(iter(steps))
    for node in members:
        if step not in node.axes:
            raise PlateError(f"`{node.name}` is a function of its past along `{step.plate}`, but not on that plate")
    return step


def _in_order(members: Sequence[Variable], step: Index) -> list[Variable]:
    """The members such that each looks at earlier ones only within the same step."""
    now = {node.name: _looked_at_now(node, {other.name for other in members}, step) for node in members}
    left, found = list(members), list[Variable]()
    while left:
        ready = next((node for node in left if not now[node.name] - {other.name for other in found}), None)
        if ready is None:
            circle = " <- ".join(node.name for node in left)
            raise CycleError(f"functions of each other at the same element: {circle}", expected="a lag between them")
        found.append(ready)
        left.remove(ready)
    return found


def _looked_at_now(node: Variable, members: set[str], step: Index) -> set[str]:
    return {place.name for place in _places(node) if place.name in members and step in place.indices}


def _with_states(part: Expression, axes: Mapping[str, tuple[Index, ...]], step: Index, owner: str) -> Expression:
    if isinstance(part, Reference) and part.name in axes:
        place = axes[part.name].index(step)
        if steps_back(part.indices[place], step) is None:
            raise ModelError(
                f"`{owner}` looks `{part.name}` up at another place than an earlier step",
                where=f"definition of {owner}",
                expected=f"m.lag({part.name!r})",
            )
        return Before(part.name, part.indices)
    return rebuild(part, lambda inner: _with_states(inner, axes, step, owner))
