"""Undirected decomposable graphs, and what was found about them: the best, or their posterior.

Along a perfect order, in which the earlier neighbours of each node are joined, such a graph is the directed network of
each node given those neighbours: it has the same evidence, predicts the same and is learned as that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from platewright.errors import MissingExtra, MissingValue, ModelError, ParameterError, UnknownName
from platewright.language.model import Model
from platewright.structure.averaging import log_predictive
from platewright.structure.best import Best, named
from platewright.structure.columns import read_rows
from platewright.structure.moves import State
from platewright.structure.network_picture import edges_svg
from platewright.structure.rules import members
from platewright.structure.scorer import Scorer

Edge = frozenset[str]
Joined = tuple[int, ...]
"""The neighbours of each node as bits."""


@dataclass(frozen=True)
class UndirectedGraph:
    """Nodes and undirected edges."""

    nodes: tuple[str, ...]
    edges: frozenset[Edge]

    def __str__(self) -> str:
        listed = sorted("-".join(sorted(edge)) for edge in self.edges)
        return ", ".join(listed) or "no edge"

    def to_networkx(self) -> Any:
        """The same graph for networkx."""
        try:
            import networkx  # type: ignore[import-untyped]
        except ImportError as error:
            raise MissingExtra("networkx is not installed", hint="pip install networkx") from error
        graph = networkx.Graph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from(sorted(sorted(edge) for edge in self.edges))
        return graph


@dataclass(frozen=True, eq=False)
class EdgePosterior:
    """Decomposable graphs with their probabilities, the most probable first; `sample` and `enumerate` make them."""

    nodes: tuple[str, ...]
    weighed: Mapping[Joined, float]
    scorer: Scorer
    make_model: Callable[[str], Model]
    log_evidence: float | None = None
    """`log sum over graphs of p(data | graph) p(graph)`, where all were gone over."""
    worst_rhat: float = 1.0

    def edge_probability(self, one: str, other: str) -> float:
        """The posterior probability that two nodes are joined."""
        for name in (one, other):
            if name not in self.nodes:
                raise UnknownName(name, self.nodes, where="a node")
        first, second = self.nodes.index(one), self.nodes.index(other)
        return min(1.0, sum(share for joined, share in self.weighed.items() if joined[first] >> second & 1))

    def graphs(self, top: int = 10) -> list[tuple[UndirectedGraph, float]]:
        """The most probable graphs."""
        if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
            raise ParameterError(f"the {top!r} most probable graphs", expected="a whole number from 1")
        return [(graph_of(self.nodes, joined), share) for joined, share in list(self.weighed.items())[:top]]

    def average(self, predict: Any, top: int | None = None) -> Any:
        """Averages over the graphs, as over networks: the log density of new cases, or a function of the fits."""
        listed = list(self.weighed.items())[:top]
        total = sum(share for _, share in listed)
        if callable(predict):
            values = (
                np.asarray(predict(self._best(joined).fit), dtype=np.float64) * share / total
                for joined, share in listed
            )
            mean = sum(values, start=np.float64(0.0))
            return float(mean) if np.ndim(mean) == 0 else mean
        new = read_rows(self.scorer.rows.columns, predict)
        if new.missing.any():
            raise MissingValue("the new cases have missing cells", hint="average a function of the fit, and predict")
        shares = {directed(joined): share / total for joined, share in listed}
        return log_predictive(self.scorer, shares, new)

    def svg(self) -> str:
        """The edges as SVG text, each as wide as it is probable."""
        places = range(len(self.nodes))
        pairs = {(self.nodes[one], self.nodes[two]) for one in places for two in places if one < two}
        return edges_svg(self.nodes, {pair: self.edge_probability(*pair) for pair in pairs})

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        lines = [f"{share:.4f}  {graph}" for graph, share in self.graphs(10)]
        return "\n".join([f"{len(self.weighed)} decomposable graphs over {len(self.nodes)} nodes", *lines])

    def _best(self, joined: Joined) -> BestEdges:
        return BestEdges(graph_of(self.nodes, joined), self.scorer, self.make_model, joined)


@dataclass(frozen=True, eq=False)
class BestEdges:
    """The best decomposable graph that was found; `fit` is that of the directed network which says the same."""

    graph: UndirectedGraph
    scorer: Scorer
    make_model: Callable[[str], Model]
    joined: Joined
    proven: bool = False

    @cached_property
    def directed(self) -> Best:
        """The network of each node given its earlier neighbours, as the result of a search."""
        parents = [frozenset(members(above)) for above in directed(self.joined)]
        return Best(named(self.graph.nodes, parents), self.scorer, self.make_model, self.proven)

    @property
    def log_evidence(self) -> float:
        """`log p(data | graph)`: cliques over separators."""
        return self.directed.log_evidence

    @property
    def fit(self) -> Any:
        """The ordinary fit, with posteriors, predictions, source and steps."""
        return self.directed.fit

    def svg(self) -> str:
        """The graph as SVG text."""
        return edges_svg(self.graph.nodes, {(one, two): None for one, two in map(sorted, self.graph.edges)})

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        said = "the best of all graphs" if self.proven else "the best that was found"
        return f"{self.graph}\nlog evidence {self.log_evidence:.4f}, {len(self.graph.edges)} edges, {said}"


def perfect_order(joined: Joined) -> tuple[int, ...] | None:
    """An order in which the earlier neighbours of each node are joined, by maximum cardinality; none if not chordal."""
    placed, order = 0, []
    for _ in joined:
        left = [node for node in range(len(joined)) if not placed >> node & 1]
        node = max(left, key=lambda name: (joined[name] & placed).bit_count())
        earlier = joined[node] & placed
        for other in members(earlier):
            if earlier & ~(1 << other) & ~joined[other]:
                return None
        placed |= 1 << node
        order.append(node)
    return tuple(order)


def directed(joined: Joined) -> State:
    """The parents of each node along a perfect order."""
    order = perfect_order(joined)
    if order is None:
        raise ModelError("the graph is not decomposable", expected="no cycle of four or more without a chord")
    found, placed = [0] * len(joined), 0
    for node in order:
        found[node] = joined[node] & placed
        placed |= 1 << node
    return tuple(found)


def graph_of(nodes: tuple[str, ...], joined: Joined) -> UndirectedGraph:
    """By names."""
    edges = (frozenset((nodes[one], nodes[two])) for one, near in enumerate(joined) for two in members(near))
    return UndirectedGraph(nodes, frozenset(edges))
