"""The chain graph with plates: nodes, what is known, and the log factors of the joint  (Definition 3.1, Equation 12).

    log p(everything) = sum over nodes of sum over their plates of log p(node | parents) + potentials - log normalisers

Arcs are read from the expressions, never stored, so a graph cannot disagree with its density.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from platewright.algebra.build import add, totals
from platewright.algebra.expression import Expression, Index, Lag, names, references
from platewright.algebra.facts import Facts
from platewright.errors import CycleError, UnknownName, shown_name, shown_text
from platewright.graph.recursions import with_scans
from platewright.language.model import Model
from platewright.language.plate import Plate
from platewright.language.variable import Potential, Variable
from platewright.program.statements import Assign, Pool, Triangularise


@dataclass(frozen=True)
class Factor:
    """One log factor of the joint density: an expression summed over its plates, and whose it is."""

    owner: str
    axes: tuple[Index, ...]
    expression: Expression

    @property
    def summed(self) -> Expression:
        """The factor's whole contribution to the log joint."""
        return totals(self.expression, self.axes)

    @property
    def names(self) -> frozenset[str]:
        """The variables it touches."""
        return names(self.expression)


@dataclass(frozen=True, repr=False)
class Graph:
    """An immutable graph. Operations return new ones. `print(graph)` shows it line by line."""

    title: str
    plates: Mapping[str, Plate]
    nodes: Mapping[str, Variable]
    potentials: Mapping[str, Potential] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    statements: tuple[Assign | Pool | Triangularise, ...] = ()
    """What eliminations left to compute from the known, in order: arrays that stand in potentials as statistics."""
    about: Mapping[str, int] = field(default_factory=dict)
    """About how many elements the data give to plates without a size: orders of elimination look at it."""
    integrate: frozenset[str] | None = None
    """The unknowns that a mode integrates out, where that was said; else they are found."""

    def __post_init__(self) -> None:
        for name in ("plates", "nodes", "potentials", "about"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __getstate__(self) -> dict[str, object]:
        """What was written, in plain dicts: a view cannot be pickled, and what follows is found anew."""
        views = {name: dict(getattr(self, name)) for name in ("plates", "nodes", "potentials", "about")}
        rest = {"known": self.known, "statements": self.statements, "integrate": self.integrate}
        return {"title": self.title, **views, **rest}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        known = ", ".join(name for name in self.nodes if name in self.known)
        unknown, title = ", ".join(self.unknown), shown_name(self.title)
        return f"<Graph {title}: {unknown or 'nothing'} unknown, {known or 'nothing'} known>"

    def __str__(self) -> str:
        from platewright.graph.text import graph_text  # which is about graphs, so it cannot come first

        return shown_text(graph_text(self))

    def with_sizes_about(self, sizes: Mapping[str, int]) -> Graph:
        """The graph with sizes of data, to the next power of two, where the order of elimination may turn on them."""
        grouped = {
            axis.plate
            for name in self.unknown
            if self.nodes[name].domain.is_unbounded
            for axis in self.nodes[name].axes
        }
        if len(grouped) < 2 or all(self.plates[plate].size is not None for plate in grouped):
            return self
        return replace(self, about={plate: 1 << max(sizes[plate] - 1, 0).bit_length() for plate in sizes})

    # -- what is known ---

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """Random and undirected nodes without a value, in the order of writing."""
        return tuple(
            n for n, node in self.nodes.items() if node.kind in ("random", "undirected") and n not in self.known
        )

    def is_known(self, name: str) -> bool:
        """Known as data, as an input, or as a function of known nodes."""
        node = self.nodes[name]
        if name in self.known or node.kind in ("input", "statistic"):
            return True
        return node.kind == "deterministic" and all(self.is_known(parent) for parent in node.parents)

    # -- arcs ---

    @cached_property
    def parents(self) -> Mapping[str, frozenset[str]]:
        """Directed arcs by their head. Members of a potential that are not undirected point at those that are."""
        result = {name: set(node.parents) for name, node in self.nodes.items()}
        for potential in self.potentials.values():
            members = names(potential.expression)
            inside = self.inside(potential)
            for name in inside:
                result[name] |= members - inside
        return {name: frozenset(found) for name, found in result.items()}

    @cached_property
    def children(self) -> Mapping[str, frozenset[str]]:
        """Directed arcs by their tail."""
        result: dict[str, set[str]] = {name: set() for name in self.nodes}
        for name, found in self.parents.items():
            for parent in found:
                result[parent].add(name)
        return {name: frozenset(found) for name, found in result.items()}

    @cached_property
    def neighbours(self) -> Mapping[str, frozenset[str]]:
        """Undirected arcs: nodes that share a potential. A potential without undirected nodes ties all it touches."""
        result: dict[str, set[str]] = {name: set() for name in self.nodes}
        for potential in self.potentials.values():
            members = {name for name in names(potential.expression) if self.nodes[name].kind != "input"}
            inside = self.inside(potential) or members
            for name in inside:
                result[name] |= inside - {name}
        return {name: frozenset(found) for name, found in result.items()}

    def inside(self, potential: Potential) -> frozenset[str]:
        """The undirected nodes that a potential shapes: those it is `of`, else all in it."""
        if potential.of:
            return frozenset(potential.of)
        return frozenset(n for n in names(potential.expression) if self.nodes[n].kind == "undirected")

    @cached_property
    def facts(self) -> Facts:
        """Axes and domains of all nodes, for the algebra."""
        return Facts(
            {name: tuple(axis.plate for axis in node.axes) for name, node in self.nodes.items()},
            {name: node.domain for name, node in self.nodes.items()},
        )

    # -- the density ---

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """The log factors of the joint: one for each random node and each potential."""
        found = [
            Factor(name, node.plates, node.log_density) for name, node in self.nodes.items() if node.kind == "random"
        ]
        found += [Factor(name, potential.axes, potential.expression) for name, potential in self.potentials.items()]
        return tuple(found)

    def is_likelihood(self, factor: Factor, hidden: Collection[str] = ()) -> bool:
        """Whether a factor is of the known; a factor of an undirected part is, when something in such a part is known.

        Hidden variables count with the known: they are summed out of the likelihood, and what they leave is of it.
        """
        seen = self.known.union(hidden)
        if factor.owner in self.nodes or factor.owner in seen:
            return factor.owner in seen
        return any(node.kind == "undirected" and name in seen for name, node in self.nodes.items())

    @property
    def log_joint(self) -> Expression:
        """The log joint as one expression (undirected parts up to their normaliser)."""
        return add(*(factor.summed for factor in self.factors))

    # -- change ---

    def with_nodes(self, changed: Iterable[Variable]) -> Graph:
        """The graph with nodes added or replaced."""
        return replace(self, nodes={**self.nodes, **{node.name: node for node in changed}})

    def without(self, gone: Iterable[str]) -> Graph:
        """The graph without some nodes."""
        left_out = set(gone)
        nodes = {name: node for name, node in self.nodes.items() if name not in left_out}
        return replace(self, nodes=nodes, known=self.known - left_out)


def read_graph(model: Model, known: Iterable[str] = ()) -> Graph:
    """The graph of a model with the given nodes known; checks names and that no arcs run in a circle."""
    names_known = frozenset(known)
    for name in names_known:
        if name not in model.variables:
            visible = [variable for variable in model.variables if "@" not in variable]
            raise UnknownName(name, visible, where="known=")
    graph = Graph(model.title, model.plates, with_scans(model.variables), model.potentials, names_known)
    topological(graph)
    return graph


def topological(graph: Graph) -> tuple[str, ...]:
    """Nodes with parents first; raises when directed arcs form a cycle.

    Where nodes look at each other a step back only, neither is before the other.
    """
    try:
        return _sorted(graph, graph.parents)
    except CycleError:
        return _sorted(graph, parents_now(graph))


def parents_now(graph: Graph) -> dict[str, frozenset[str]]:
    """For each node the parents that it looks at in another way than a step back."""
    found: dict[str, frozenset[str]] = {}
    for name, node in graph.nodes.items():
        places = references(node.log_density if node.definition is None else node.definition)
        back = {part.name for part in places if any(isinstance(at, Lag) for at in part.indices)}
        now = {part.name for part in places if not any(isinstance(at, Lag) for at in part.indices)}
        found[name] = graph.parents[name] - (back - now)
    return found


def _sorted(graph: Graph, parents: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    order: list[str] = []
    state: dict[str, int] = {}
    for start in graph.nodes:
        stack = [(start, iter(sorted(parents[start])))]
        if state.get(start):
            continue
        state[start] = 1
        while stack:
            name, waiting = stack[-1]
            parent = next(waiting, None)
            if parent is None:
                state[name] = 2
                order.append(name)
                stack.pop()
            elif state.get(parent) == 1:
                circle = [step for step, _ in stack][[step for step, _ in stack].index(parent) :]
                raise CycleError(
                    "the arcs run in a circle: " + " <- ".join([*circle, parent]), expected="no directed cycle"
                )
            elif parent in graph.nodes and not state.get(parent):
                state[parent] = 1
                stack.append((parent, iter(sorted(parents[parent]))))
    return tuple(order)
