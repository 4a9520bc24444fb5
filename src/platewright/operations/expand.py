"""Write a plate out: one node for every element  (Definition 3.1 as corrected in E4, Figures 10, 13 and 15).

    theta -> [ x ]_row (3)          becomes          x[0] <- theta -> x[1],  theta -> x[2]

A sum over the plate is written out too; a place that only data will tell, `mu[z[n]]`, becomes a choice among elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from math import prod

from platewright.algebra.build import add, call, equal, multiply
from platewright.algebra.expression import (
    ONE,
    ZERO,
    Constant,
    Expression,
    Index,
    Lag,
    Maximum,
    Reference,
    Size,
    Sum,
    bound,
    rebuild,
)
from platewright.graph.expansion import instance
from platewright.graph.graph import Graph
from platewright.language.plate import beginning
from platewright.language.variable import Potential, Variable
from platewright.operation import Declined, Step

NAME = "expand"
MOST_NODES = 10_000

Place = Mapping[Index, int]


class _Cannot(Exception):
    """A part that cannot be written out."""


def expand(graph: Graph, sizes: Mapping[str, int]) -> Step | Declined:
    """Write plates out at the given sizes; the joint density stays the same, element by element."""
    if reason := _refusal(graph, sizes):
        return Declined(NAME, reason)
    writer = _Writer(graph, dict(sizes))
    try:
        after = writer.graph_after()
    except _Cannot as part:
        return Declined(NAME, f"{part} stands over a plate inside a function that is not written out")
    shown = ", ".join(f"{name} ({size})" for name, size in sizes.items())
    copied = [node for node in graph.nodes.values() if writer.own(node.plates)]
    formulas = tuple(f"{node.symbol} becomes {', '.join(writer.copies(node))}" for node in copied)
    return Step(NAME, graph, after, f"each element of {shown} has a node of its own", "Definition 3.1", formulas)


def _refusal(graph: Graph, sizes: Mapping[str, int]) -> str:
    """The condition that fails, or nothing."""
    if not sizes:
        return "no plate is named: expand(row=3)"
    for name, size in sizes.items():
        if name not in graph.plates:
            return f"there is no plate {name}"
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            return f"plate {name} cannot have {size!r} elements"
        declared = graph.plates[name].size
        if declared is not None and declared != size:
            return f"plate {name} has {declared} elements, not {size}"
        for node in graph.nodes.values():
            if any(axis.plate == name for axis in node.events):
                return f"plate {name} runs inside the values of {node.name}"
    count = sum(prod(sizes.get(axis.plate, 1) for axis in node.plates) for node in graph.nodes.values())
    if count > MOST_NODES:
        return f"there would be {count:,} nodes (at most {MOST_NODES:,})"
    return ""


@dataclass(frozen=True)
class _Writer:
    """A graph and the sizes of the plates that are written out."""

    graph: Graph
    sizes: Mapping[str, int]

    def graph_after(self) -> Graph:
        """Nodes and potentials once for each element; plates stay where they number the levels of a variable."""
        nodes: dict[str, Variable] = {}
        known: set[str] = set()
        for node in self.graph.nodes.values():
            for place in self.places(node.plates):
                copy = self.node_at(node, place)
                nodes[copy.name] = copy
                if node.name in self.graph.known:
                    known.add(copy.name)
        potentials: dict[str, Potential] = {}
        for potential in self.graph.potentials.values():
            for place in self.places(potential.axes):
                name = instance(potential.name, [place[axis] for axis in self.own(potential.axes)])
                axes = tuple(axis for axis in potential.axes if axis not in place)
                members = tuple(copy for member in potential.of for copy in self.copies(self.graph.nodes[member]))
                potentials[name] = Potential(name, axes, self.written(potential.expression, place), members)
        used = {node.domain.levels for node in nodes.values()}
        plates = {
            name: replace(plate, size=self.sizes.get(name, plate.size))
            for name, plate in self.graph.plates.items()
            if name not in self.sizes or name in used
        }
        return replace(self.graph, plates=plates, nodes=nodes, potentials=potentials, known=frozenset(known))

    def own(self, axes: tuple[Index, ...]) -> tuple[Index, ...]:
        """The axes along which there will be copies."""
        return tuple(axis for axis in axes if axis.plate in self.sizes)

    def places(self, axes: tuple[Index, ...]) -> Iterator[dict[Index, int]]:
        """Every element of the plates that are written out."""
        own = self.own(axes)
        for at in product(*(range(self.sizes[axis.plate]) for axis in own)):
            yield dict(zip(own, at, strict=True))

    def copies(self, node: Variable) -> list[str]:
        """The names of the copies of a node."""
        return [instance(node.name, tuple(place.values())) for place in self.places(node.plates)]

    def node_at(self, node: Variable, place: Place) -> Variable:
        """The copy of a node at one element."""
        if not self.own(node.plates) and not self.touches(node):
            return node
        definition = None if node.definition is None else self.written(node.definition, place)
        parameters, given = (
            tuple((name, self.written(value, place)) for name, value in pairs)
            for pairs in (node.parameters, node.given)
        )
        return replace(
            node,
            name=instance(node.name, [place[axis] for axis in self.own(node.plates)]),
            axes=tuple(axis for axis in node.axes if axis not in place),
            log_density=self.written(node.log_density, place),
            definition=definition,
            parameters=parameters,
            given=given,
            optional=tuple(copy for name in node.optional for copy in self.copies(self.graph.nodes[name])),
        )

    def touches(self, node: Variable) -> bool:
        """Whether a node looks at one that is written out."""
        return any(self.own(self.graph.nodes[name].plates) for name in node.parents)

    # -- expressions ---

    def written(self, whole: Expression, place: Place) -> Expression:
        """An expression at one element."""
        match whole:
            case Reference(name, indices):
                return self.reference(name, indices, place)
            case Index() if whole in place:
                return Constant(float(place[whole]))
            case Lag(later) if isinstance(now := self.written(later, place), Constant):
                return Constant(now.value - 1.0)
            case Size(plate) if plate in self.sizes:
                return Constant(float(self.sizes[plate]))
            case Sum(index, body) if index.plate in self.sizes:
                return add(*self.each(index, body, place))
            case Maximum(index, body) if index.plate in self.sizes:
                return reduce(lambda one, two: call("maximum", one, two), self.each(index, body, place))
        if stuck := [index for index in bound(whole) if index.plate in self.sizes]:
            raise _Cannot(f"a function over {stuck[0].plate}")
        return rebuild(whole, lambda part: self.written(part, place))

    def each(self, index: Index, body: Expression, place: Place) -> list[Expression]:
        """A body at every element of an index."""
        return [self.written(body, {**place, index: at}) for at in range(self.sizes[index.plate])]

    def reference(self, name: str, indices: tuple[Expression, ...], place: Place) -> Expression:
        """The copy that a reference means, or a choice among copies where only data will tell."""
        node = self.graph.nodes[name]
        wanted = [number for number, axis in enumerate(node.axes) if axis in self.own(node.plates)]
        rest = tuple(self.written(at, place) for n, at in enumerate(indices) if n not in wanted)
        if not wanted:
            return Reference(name, rest)
        ways = [self._ways(indices[number], node.axes[number], place) for number in wanted]
        if any(not way for way in ways):
            return ZERO  # a step before the first, which the density does not look at
        parts: list[Expression] = []
        for chosen in product(*ways):
            at = tuple(position for position, _ in chosen)
            if name == beginning(node.axes[0].plate) and at == (0,):
                parts.append(ONE)  # the first element begins a sequence
                continue
            parts.append(multiply(*(condition for _, condition in chosen), Reference(instance(name, at), rest)))
        return add(*parts)

    def _ways(self, at: Expression, axis: Index, place: Place) -> list[tuple[int, Expression]]:
        """The elements that a position may mean, each with its condition."""
        moved = self.written(at, place)
        size = self.sizes[axis.plate]
        if isinstance(moved, Constant):
            position = int(moved.value)
            return [(position, ONE)] if 0 <= position < size else []
        return [(position, equal(moved, Constant(float(position)))) for position in range(size)]
