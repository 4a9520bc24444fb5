"""Plates written out: one node for every element  (Definition 3.1 as corrected in E4, Figures 10 and 15).

    plate i (2): theta -> x[i]        becomes        x[0] <- theta -> x[1]

An arc joins instances that agree on the plates they share. `mu[z]` points from every element of mu, `mu[2]` from one,
and a lag from the element before. Axes inside one value (the simplex of a Dirichlet) are not plates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from platewright.algebra.expression import (
    Constant,
    Expression,
    Index,
    Inverse,
    Lag,
    Reference,
    bound,
    children,
)
from platewright.errors import SizeError
from platewright.graph.graph import Graph
from platewright.language.variable import Variable

MOST_INSTANCES = 1_000_000
UNSIZED = 3
"""How many elements a plate without a size is shown with: a first, an inner and a last one."""

Element = dict[Index, int]


@dataclass(frozen=True)
class Instances:
    """A graph without plates, by the names of its instances. Equal graphs are equal values."""

    nodes: frozenset[str]
    directed: frozenset[tuple[str, str]] = frozenset()
    undirected: frozenset[frozenset[str]] = frozenset()
    known: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()
    """Instances of inputs and statistics: always known."""
    deterministic: frozenset[str] = frozenset()
    ties: frozenset[frozenset[str]] = frozenset()
    """Instances that share a potential without undirected members, as if they had a known common child."""


def instance(name: str, at: Sequence[int]) -> str:
    """`x[0, 2]`: the name of one element of a plated variable."""
    return f"{name}[{', '.join(map(str, at))}]" if at else name


def instances_of(graph: Graph, name: str, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """All elements of a variable."""
    ranges = [range(sizes[axis.plate]) for axis in graph.nodes[name].plates]
    return tuple(instance(name, at) for at in product(*ranges))


def plate_sizes(graph: Graph, sizes: Mapping[str, int] | None = None) -> dict[str, int]:
    """The size of every plate: as given, as declared, or a small number."""
    given = dict(sizes or {})
    return {name: given.get(name, plate.size or UNSIZED) for name, plate in graph.plates.items()}


def expand_plates(
    graph: Graph, sizes: Mapping[str, int] | None = None, columns: Mapping[str, Sequence[int]] | None = None
) -> Instances:
    """Every plate duplicated; `columns` may hold the values of known columns that are used as an index."""
    writer = _Expansion(graph, plate_sizes(graph, sizes), columns or {})
    count = sum(prod(writer.sizes[axis.plate] for axis in node.plates) for node in graph.nodes.values())
    if count > MOST_INSTANCES:
        raise SizeError(f"the expanded graph would have {count} nodes", expected=f"at most {MOST_INSTANCES}")
    directed: set[tuple[str, str]] = set()
    for node in graph.nodes.values():
        source = node.definition if node.definition is not None else node.log_density
        for element in writer.elements(node.plates):
            head = instance(node.name, tuple(element.values()))
            directed |= {(tail, head) for tail in writer.touched(source, element) if tail != head}
            directed |= {(tail, head) for tail in writer.named(graph.nodes[name] for name in node.reads)}
    undirected: set[frozenset[str]] = set()
    ties: set[frozenset[str]] = set()
    for potential in graph.potentials.values():
        for element in writer.elements(potential.axes):
            members = writer.touched(potential.expression, element)
            inside = {name for name in members if writer.kind(name) == "undirected"}
            undirected |= {frozenset((one, two)) for one in inside for two in inside if one < two}
            directed |= {(tail, head) for head in inside for tail in members - inside}
            if not inside:
                ties.add(frozenset(members))
    return Instances(
        nodes=writer.named(graph.nodes.values()),
        directed=frozenset(directed),
        undirected=frozenset(undirected),
        known=writer.named(node for name, node in graph.nodes.items() if name in graph.known),
        given=writer.named(node for node in graph.nodes.values() if node.kind in ("input", "statistic")),
        deterministic=writer.named(node for node in graph.nodes.values() if node.kind == "deterministic"),
        ties=frozenset(ties),
    )


def contract(instances: Instances, groups: Mapping[str, Sequence[str]]) -> Instances:
    """Rename written-out copies as the elements of one plated variable: `{"x": ("x1", "x2")}` gives x[0] and x[1].

    Two graphs, one drawn with plates and one without, are the same when this makes their instances equal.
    """
    names = {old: instance(new, (at,)) for new, copies in groups.items() for at, old in enumerate(copies)}

    def renamed(found: frozenset[str]) -> frozenset[str]:
        return frozenset(names.get(name, name) for name in found)

    return Instances(
        nodes=renamed(instances.nodes),
        directed=frozenset((names.get(tail, tail), names.get(head, head)) for tail, head in instances.directed),
        undirected=frozenset(renamed(pair) for pair in instances.undirected),
        known=renamed(instances.known),
        given=renamed(instances.given),
        deterministic=renamed(instances.deterministic),
        ties=frozenset(renamed(tie) for tie in instances.ties),
    )


@dataclass(frozen=True)
class _Expansion:
    """What is looked up while a graph is written out."""

    graph: Graph
    sizes: Mapping[str, int]
    columns: Mapping[str, Sequence[int]]

    def elements(self, plates: tuple[Index, ...]) -> Iterator[Element]:
        for at in product(*(range(self.sizes[plate.plate]) for plate in plates)):
            yield dict(zip(plates, at, strict=True))

    def named(self, nodes: Iterable[Variable]) -> frozenset[str]:
        return frozenset(name for node in nodes for name in instances_of(self.graph, node.name, self.sizes))

    def kind(self, name: str) -> str:
        return self.graph.nodes[name.partition("[")[0]].kind

    def touched(self, source: Expression, element: Element) -> set[str]:
        """The instances that an expression refers to at one element of its plates."""
        found: set[str] = set()
        stack: list[tuple[Expression, Element]] = [(source, element)]
        while stack:
            part, place = stack.pop()
            if isinstance(part, Reference):
                found.update(self._instances(part, place))
            inner = {index: at for index, at in place.items() if index not in bound(part)} if bound(part) else place
            if isinstance(part, Inverse):
                # The place of the element is outside the binding.
                stack += [(part.matrix, inner), (part.at_row, place), (part.at_column, place)]
                continue
            stack.extend((child, inner) for child in children(part))
        return found

    def _instances(self, reference: Reference, element: Element) -> Iterator[str]:
        plates = self.graph.nodes[reference.name].plates
        choices = [
            self._positions(at, element, self.sizes[plate.plate])
            for plate, at in zip(plates, reference.indices, strict=False)
        ]
        for at in product(*choices):
            yield instance(reference.name, at)

    def _positions(self, at: Expression, element: Element, size: int) -> Sequence[int]:
        """Where on a plate an index may point: one place if the element says so, else anywhere."""
        match at:
            case Index() if at in element:
                return (element[at],)
            case Constant(value):
                return (int(value),)
            case Lag(index) if index in element:
                return (element[index] - 1,) if element[index] > 0 else ()
            case Reference(name, (inner,)) if name in self.columns:
                column = self.columns[name]
                return sorted({int(column[k]) for k in self._positions(inner, element, len(column))})
        return range(size)
