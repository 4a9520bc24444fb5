"""Small discrete models, written with the language, and their joint distribution by enumeration.

network("Age -> Dis, Occ -> Dis, Heart - Lung")      a graph with those arcs and random tables
random_graph(seed)                                   a random chain graph, some of it known
conditional(graph, order)                            p(unknown | known) as an array, one axis a node
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from platewright.algebra.build import substitute
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index
from platewright.families.bernoulli import BERNOULLI
from platewright.families.categorical import CATEGORICAL
from platewright.graph.graph import Graph, read_graph, topological
from platewright.graph.normaliser import normalised_log_joint
from platewright.language.distribution import Constructor, Undirected, array
from platewright.language.model import Model
from platewright.language.plate import Plate

Bernoulli, Categorical = Constructor(BERNOULLI), Constructor(CATEGORICAL)


class Writer:
    """Writes discrete nodes with random tables into a model."""

    def __init__(self, title: str, generator: np.random.Generator) -> None:
        self.model = Model(title)
        self.generator = generator
        self.levels: dict[str, Plate] = {}

    def _table(self, names: Sequence[str], values: np.ndarray, last: Plate | None = None) -> Expression:
        axes = [self.levels[name] for name in names] + ([last] if last else [])
        if not axes:
            return float(values)  # type: ignore[return-value]
        table = array(values, over=axes)
        return table[tuple(getattr(self.model, name) for name in names)] if names else table

    def _shape(self, names: Sequence[str]) -> tuple[int, ...]:
        return tuple(self.levels[name].size or 0 for name in names)

    def categorical(self, name: str, parents: Sequence[str], size: int = 2) -> None:
        plate = self.model.plate(f"{name}_levels", size)
        rows = self.generator.dirichlet(np.ones(size), size=self._shape(parents))
        setattr(self.model, name, Categorical(self._table(parents, rows, plate), over=plate))
        self.levels[name] = plate

    def bernoulli(self, name: str, parents: Sequence[str]) -> None:
        rows = self.generator.uniform(0.1, 0.9, size=self._shape(parents))
        setattr(self.model, name, Bernoulli(self._table(parents, rows)))
        self.levels[name] = self.model.plate(f"{name}_levels", 2)

    def undirected(self, name: str, size: int = 2) -> None:
        self.levels[name] = self.model.plate(f"{name}_levels", size)
        setattr(self.model, name, Undirected(levels=self.levels[name]))

    def potential(self, members: Sequence[str]) -> None:
        values = self.generator.normal(size=self._shape(members))
        self.model.potential("of_" + "_".join(members), self._table(members, values))

    def directed_potential(self, tail: str, head: str) -> None:
        """An arc from one undirected component to another: the potential sees a copy of the tail, hence a parent."""
        copy = f"copy_of_{tail}"
        if copy not in self.model.variables:
            setattr(self.model, copy, getattr(self.model, tail))
        weight = float(self.generator.normal())
        self.model.potential(f"of_{tail}_{head}", weight * getattr(self.model, copy) * getattr(self.model, head))


def network(arcs: str, known: Iterable[str] = (), seed: int = 0) -> Graph:
    """A graph from text: `a -> b` a directed arc, `a - b` an undirected one, `a` a node; two levels each."""
    writer = Writer("network", np.random.default_rng(seed))
    items = [item.split() for item in arcs.split(",")]
    names = list(dict.fromkeys(word for item in items for word in item[::2]))
    directed = [(item[0], item[2]) for item in items if item[1:2] == ["->"]]
    pairs = [(item[0], item[2]) for item in items if item[1:2] == ["-"]]
    undirected = {name for pair in pairs for name in pair}
    written: set[str] = set()
    while len(written) < len(names):
        for name in names:
            parents = [tail for tail, head in directed if head == name]
            if name in written or not set(parents) <= written:
                continue
            if name in undirected:
                writer.undirected(name)
            else:
                writer.categorical(name, parents)
            written.add(name)
    for one, two in pairs:
        writer.potential((one, two))
    for tail, head in directed:
        if head in undirected and tail in undirected:
            writer.directed_potential(tail, head)
        elif head in undirected:
            writer.potential((tail, head))
    return read_graph(writer.model, known)


def random_graph(seed: int) -> Graph:
    """A random chain graph of three to seven discrete nodes; about a third is known."""
    generator = np.random.default_rng(seed)
    writer = Writer(f"random{seed}", generator)
    names: list[str] = []
    for step in range(generator.integers(2, 5)):
        above = [str(name) for name in generator.permutation(names)[: generator.integers(0, 3)]]
        if generator.random() < 0.3:
            names += _random_component(writer, f"u{step}", above)
            continue
        name = f"x{step}"
        if generator.random() < 0.5:
            writer.bernoulli(name, above)
        else:
            writer.categorical(name, above, int(generator.integers(2, 4)))
        names.append(name)
    if generator.random() < 0.2:
        tied = [name for name in names if name.startswith("x")][:2]
        if tied:
            writer.potential(tied)  # a loose factor: no undirected member
    known = [name for name in names if generator.random() < 0.4]
    return read_graph(writer.model, known)


def _random_component(writer: Writer, stem: str, above: Sequence[str]) -> list[str]:
    """Two or three undirected nodes in a line or a clique, with parents on some or all of them."""
    generator = writer.generator
    members = [f"{stem}{letter}" for letter in "abc"[: generator.integers(2, 4)]]
    for name in members:
        writer.undirected(name, int(generator.integers(2, 4)))
    if any(name.startswith("u") for name in above):
        above, inside = [name for name in above if name.startswith("x")], above
        for name in inside:
            if name.startswith("u"):
                writer.directed_potential(name, members[0])
    if generator.random() < 0.5:
        writer.potential((*above, *members))
        return members
    for one, two in pairwise(members):
        writer.potential((one, two))
    for parent in above:
        writer.potential((parent, str(generator.choice(members))))
    return members


def random_nodes(graph: Graph) -> list[str]:
    """The nodes with levels of their own, in the order of writing."""
    return [name for name, node in graph.nodes.items() if node.kind != "deterministic"]


def sizes(graph: Graph) -> dict[str, int]:
    """Plate sizes, and one for values 0 and 1."""
    return {"binary": 2, **{name: plate.size or 0 for name, plate in graph.plates.items()}}


def joint_table(graph: Graph, order: Sequence[str]) -> np.ndarray:
    """The log joint at every combination of levels: a variable is replaced by the index over its levels."""
    whole = normalised_log_joint(graph)
    assert not isinstance(whole, str), whole
    return table_of(graph, whole, order)


def table_of(graph: Graph, whole: Expression, order: Sequence[str]) -> np.ndarray:
    """An expression at every combination of levels of the named nodes."""
    levels = {name: graph.nodes[name].domain.levels or "binary" for name in order}
    axes = tuple(Index(f"value of {name}", plate) for name, plate in levels.items())
    changes: dict[Expression, Expression] = {graph.nodes[name].symbol: axis for name, axis in zip(order, axes)}
    for name in topological(graph):
        definition = graph.nodes[name].definition
        if definition is not None:
            changes[graph.nodes[name].symbol] = substitute(definition, changes)
    return np.array(evaluate(substitute(whole, changes), Environment({}, sizes(graph)), axes))


def conditional(graph: Graph, order: Sequence[str]) -> np.ndarray:
    """p(unknown | known) for every value of the known nodes, as an array with the axes of `order`."""
    return normalised(joint_table(graph, order), [name in graph.unknown for name in order])


def normalised(log_table: np.ndarray, unknown: Sequence[bool]) -> np.ndarray:
    """A log joint made into a conditional of the unknown axes."""
    over = tuple(axis for axis, is_unknown in enumerate(unknown) if is_unknown)
    table = np.exp(log_table - log_table.max())
    return table / table.sum(axis=over, keepdims=True)
