"""Functions of draws: what a sampler drew, carried through the deterministic nodes and predictions of a model.

    chains of the unknowns  ->  every node that follows from them, parents first, draw by draw

Draws are taken in parts, so that memory stays flat however many there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Index
from platewright.family import Array
from platewright.graph.graph import Graph, topological
from platewright.operations.split_partly_known import missing_name, observed_name
from platewright.run.exact.posterior import lift
from platewright.run.forward import draw_node
from platewright.run.samplers.sampled import one_after_another

DRAW = Index("draw@", "draw@")
MOST_CELLS = 2_000_000

Place = tuple[str, tuple[int, ...]]
"""A node, and the position of one element of it."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws of the unknowns of a graph; the first two axes number chains and draws."""

    graph: Graph
    chains: Mapping[str, Array]
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]

    @property
    def shape(self) -> tuple[int, int]:
        """Chains and draws."""
        count, draws = next(iter(self.chains.values())).shape[:2]
        return count, draws

    def cells(self, wanted: Mapping[str, Place], seed: int = 0) -> dict[str, Array]:
        """By name: chain and draw of one element of a node, whether drawn, predicted or computed."""
        places = {name: self._found(*place) for name, place in wanted.items()}
        parts: dict[str, list[Array]] = {name: [] for name in places}
        for count, values in self.parts({node for node, _ in places.values()}, seed):
            for name, (node, at) in places.items():
                every: tuple[slice | int, ...] = (slice(None), *at)
                found = values[node][every] if node in values else self.columns[node][at]
                parts[name].append(np.broadcast_to(np.array(found, dtype=float), (count,)))
        return {name: np.concatenate(found).reshape(self.shape) for name, found in parts.items()}

    def node(self, name: str, seed: int = 0) -> Array:
        """Chain, draw and axes of a node that follows from the draws."""
        found = [values[name] for _, values in self.parts({name}, seed)]
        whole = np.concatenate(found)
        return whole.reshape(*self.shape, *whole.shape[1:])

    def _found(self, name: str, at: tuple[int, ...]) -> Place:
        """Where an element lives: a missing cell of a node that is known in part is a node of its own."""
        twin, mask = missing_name(name), observed_name(name)
        if twin in self.graph.nodes and not np.asarray(self.columns[mask])[at]:
            return twin, at
        return name, at

    def parts(self, wanted: Collection[str], seed: int = 0) -> Iterator[tuple[int, dict[str, Array]]]:
        """The wanted nodes and all they follow from, for some draws at a time, with the number of these."""
        nodes = _ancestors(self.graph, wanted)
        step = max(1, MOST_CELLS // max([self._size(node) for node in nodes] + [1]))
        generator = np.random.default_rng(seed)
        flat = {name: one_after_another(found) for name, found in self.chains.items()}
        total = self.shape[0] * self.shape[1]
        for start in range(0, total, step):
            some = {name: found[start : start + step] for name, found in flat.items()}
            yield min(step, total - start), self._extended(some, nodes, generator)

    def _size(self, node: str) -> int:
        return int(np.prod([self.sizes.get(axis.plate, 1) for axis in self.graph.nodes[node].axes], dtype=float))

    def _extended(
        self, drawn: Mapping[str, Array], nodes: Collection[str], generator: np.random.Generator
    ) -> dict[str, Array]:
        found: dict[str, Array] = dict(drawn)
        sizes = {**self.sizes, DRAW.plate: len(next(iter(drawn.values())))}
        for name in topological(self.graph):
            node = self.graph.nodes[name]
            if name not in nodes or name in found or name in self.columns:
                continue
            environment = Environment({**self.columns, **found}, sizes)
            with np.errstate(all="ignore"):
                if node.definition is not None:
                    lifted = lift(node.definition, frozenset(found), DRAW)
                    found[name] = np.ascontiguousarray(evaluate(lifted, environment, (DRAW, *node.axes)))
                elif node.kind == "random":
                    found[name] = draw_node(node, environment, frozenset(found), generator, (DRAW,))
        return found


def _ancestors(graph: Graph, wanted: Collection[str]) -> set[str]:
    """The wanted nodes and all they follow from."""
    found: set[str] = set()
    waiting = [name for name in wanted if name in graph.nodes]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        waiting += [parent for parent in graph.nodes[name].parents if parent in graph.nodes]
    return found
