"""Functions of draws: what a sampler drew, carried through the deterministic nodes and predictions of a model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from platewright.algebra.build import add
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, names
from platewright.graph.graph import Graph, topological
from platewright.run.forward import draw_node
from platewright.run.posterior import lift

DRAW = Index("draw@", "draw@")
MOST_CELLS = 2_000_000
"""Draws are taken in parts, so that no node has more cells than this at a time."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws of the unknowns of a graph; the first two axes number chains and draws."""

    graph: Graph
    chains: Mapping[str, np.ndarray]
    columns: Mapping[str, np.ndarray]
    sizes: Mapping[str, int]

    def cells(self, wanted: Mapping[str, tuple[str, tuple[int, ...]]], seed: int = 0) -> dict[str, np.ndarray]:
        """By name: chain and draw of one element of a node, whether drawn, predicted or computed."""
        first = next(iter(self.chains.values()))
        count, draws = first.shape[:2]
        nodes = _ancestors(self.graph, {node for node, _ in wanted.values()})
        step = max(1, MOST_CELLS // max([self._size(node) for node in nodes] + [1]))
        generator = np.random.default_rng(seed)
        parts: dict[str, list[np.ndarray]] = {name: [] for name in wanted}
        flat = {name: found.reshape(-1, *found.shape[2:]) for name, found in self.chains.items()}
        for start in range(0, count * draws, step):
            some = {name: found[start : start + step] for name, found in flat.items()}
            values = self._extended(some, nodes, generator)
            for name, (node, at) in wanted.items():
                parts[name].append(np.array(values[node][(slice(None), *at)], dtype=float))
        return {name: np.concatenate(found).reshape(count, draws) for name, found in parts.items()}

    def deviance(self) -> np.ndarray:
        """Minus twice the log density of the data given everything else, by chain and draw."""
        owners = [factor for factor in self.graph.factors if factor.owner in self.graph.known]
        total: Expression = add(*(factor.summed for factor in owners))
        first = next(iter(self.chains.values()))
        count, draws = first.shape[:2]
        nodes = _ancestors(self.graph, names(total))
        largest = [self._size(factor.owner) for factor in owners] + [self._size(node) for node in nodes]
        step = max(1, MOST_CELLS // max([*largest, 1]))
        flat = {name: found.reshape(-1, *found.shape[2:]) for name, found in self.chains.items()}
        parts = []
        for start in range(0, count * draws, step):
            some = {name: found[start : start + step] for name, found in flat.items()}
            values = self._extended(some, nodes, np.random.default_rng(0))
            size = len(next(iter(some.values())))
            environment = Environment({**self.columns, **values}, {**self.sizes, DRAW.plate: size})
            with np.errstate(all="ignore"):
                found = evaluate(lift(total, frozenset(values), DRAW), environment, (DRAW,))
            parts.append(-2 * np.broadcast_to(np.asarray(found, dtype=float), (size,)))
        return np.concatenate(parts).reshape(count, draws)

    def _size(self, node: str) -> int:
        shape = [self.sizes.get(axis.plate, 1) for axis in self.graph.nodes[node].axes]
        return int(np.prod(shape, dtype=float))

    def _extended(
        self, drawn: Mapping[str, np.ndarray], nodes: Collection[str], generator: np.random.Generator
    ) -> dict[str, Any]:
        """The draws, and with them the nodes that follow from them, parents first."""
        found: dict[str, Any] = dict(drawn)
        sizes = {**self.sizes, DRAW.plate: len(next(iter(drawn.values())))}
        for name in topological(self.graph):
            node = self.graph.nodes[name]
            if name not in nodes or name in found or name in self.columns:
                continue
            environment = Environment({**self.columns, **found}, sizes)
            with np.errstate(all="ignore"):
                if node.definition is not None:
                    lifted = lift(node.definition, frozenset(found), DRAW)
                    found[name] = np.array(evaluate(lifted, environment, (DRAW, *node.axes)))
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
