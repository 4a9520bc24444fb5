"""Draw nodes that depend on each other's past: the first elements of all sequences, then the second ones, and so on.

h[t] = w + a y[t-1]^2 + b h[t-1],   y[t] ~ N(0, h[t])      h[0], y[0], h[1], y[1], ...
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import (
    Before,
    Expression,
    Index,
    Lag,
    Reference,
    Scan,
    mentions,
    rebuild,
    references,
    walk,
)
from platewright.algebra.substitution import substitute
from platewright.family import Array
from platewright.graph.graph import Graph, parents_now
from platewright.language.plate import beginning
from platewright.language.variable import Variable
from platewright.run.exact.posterior import lift

Draw = Callable[[Variable, Environment, frozenset[str]], Array]


def circle_around(graph: Graph, name: str, given: Collection[str]) -> tuple[str, ...]:
    """Nodes without a value that a node looks at and that look at it, in the order of a step; none for one alone."""
    if not any(isinstance(at, Lag) for place in _places(graph.nodes[name]) for at in place.indices):
        if not any(_looks_back(graph.nodes[child]) for child in graph.children[name]):
            return ()
    above, below = _reached(graph.parents, name, given), _reached(graph.children, name, given)
    members = above & below
    if len(members) < 2:
        return ()
    now = {member: parents_now(graph)[member] & members for member in members}
    found: list[str] = []
    while len(found) < len(members):
        found.append(next(m for m in graph.nodes if m in members and m not in found and now[m] <= {*found}))
    return tuple(found)


def _looks_back(node: Variable) -> bool:
    return any(isinstance(at, Lag) for place in _places(node) for at in place.indices)


def _places(node: Variable) -> tuple[Reference, ...]:
    return references(node.log_density if node.definition is None else node.definition)


def _reached(arcs: Mapping[str, frozenset[str]], name: str, given: Collection[str]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for other in arcs[waiting.pop()]:
            if other not in found and other not in given:
                found.add(other)
                waiting.append(other)
    return found


def step_of(nodes: Sequence[Variable]) -> Index | None:
    """The ordered index along which nodes depend on previous elements of each other, through scans too."""
    wanted = frozenset(node.name for node in nodes)
    for node in nodes:
        for part in walk(written_by_steps(node)):
            plate = _plate_back(part, wanted)
            if plate is not None:
                return next(axis for axis in node.axes if axis.plate == plate)
    return None


def _plate_back(part: Expression, wanted: frozenset[str]) -> str | None:
    """The plate along which a part looks back at one of the wanted nodes."""
    if isinstance(part, Scan) and mentions(part, wanted):
        return part.step.plate
    for at in part.indices if isinstance(part, Reference) and part.name in wanted else ():
        if isinstance(at, Lag):
            return next(inner.plate for inner in walk(at) if isinstance(inner, Index))
    return None


def written_by_steps(node: Variable) -> Expression:
    """The density or definition of a node; a state of a scan as a function of states before, by name."""
    if not isinstance(node.definition, Scan):
        return node.log_density if node.definition is None else node.definition
    number = node.definition.states.index(node.name)
    own: dict[Expression, Index] = dict(zip(node.definition.axes[number], node.axes, strict=True))
    return substitute(_by_name(node.definition.bodies[number]), own)


def _by_name(part: Expression) -> Expression:
    if isinstance(part, Before):
        return Reference(part.state, part.indices)
    return part if isinstance(part, Scan) else rebuild(part, _by_name)


def drawn_along(
    nodes: Sequence[Variable],
    step: Index,
    environment: Environment,
    drawn: frozenset[str],
    leading: tuple[Index, ...],
    draw: Draw,
) -> dict[str, Array]:
    """Values of all the nodes; `draw` draws a random one whose past is given under its own name."""
    axes = {node.name: (*leading, *node.axes) for node in nodes}
    values = {name: np.zeros(tuple(environment.sizes[axis.plate] for axis in own)) for name, own in axes.items()}
    first = np.asarray(environment.values[beginning(step.plate)]).astype(bool)
    place = np.arange(len(first)) - np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    known = drawn | set(values) if leading else drawn
    for number in range(int(place.max(initial=-1)) + 1):
        for node in nodes:
            here = environment.with_values({n.name: _typed(n, values[n.name]) for n in nodes})
            if node.definition is None:
                found = draw(node, here, known)
            else:
                with np.errstate(all="ignore"):  # later steps are not there yet
                    found = evaluate(_lifted(written_by_steps(node), known, leading), here, axes[node.name])
            turn = np.reshape(place == number, [-1 if axis == step else 1 for axis in axes[node.name]])
            values[node.name] = np.where(turn, found, values[node.name])
    return {node.name: _typed(node, values[node.name]) for node in nodes}


def _lifted(expression: Expression, drawn: frozenset[str], leading: tuple[Index, ...]) -> Expression:
    return lift(expression, drawn, leading[0]) if leading else expression


def _typed(node: Variable, values: Array) -> Array:
    return values.astype(np.int64) if node.domain.is_discrete else values
