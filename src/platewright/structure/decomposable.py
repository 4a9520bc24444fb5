"""Decomposable undirected graphs over the columns of a table: hyper-Dirichlet and hyper-inverse-Wishart laws.

    evidence(graph) = product over cliques of evidence(clique) / product over separators of evidence(separator)

The evidence of a set of columns is that of one table of all their states, or of one normal-Wishart (Dawid and
Lauritzen, 1993). A chordal graph has an order in which the earlier neighbours of each node are joined, and along it the
product is that of a directed network: each node given those neighbours, with the very same local scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import exp
from typing import Any

import numpy as np

from platewright.errors import MissingValue, ModelError, ParameterError, SizeError
from platewright.structure.chains import split_half
from platewright.structure.columns import read_columns, read_rows
from platewright.structure.evidence_prior import EvidencePrior
from platewright.structure.rules import ArcPrior, members, read_rules, uniform_dags
from platewright.structure.scorer import Scorer
from platewright.structure.undirected import BestEdges, EdgePosterior, Joined, directed, graph_of, perfect_order

MOST_LISTED = 6


class Decomposable:
    """All decomposable undirected graphs over the columns of a table, which is read for names, types and levels.

    Columns are all categories or all numbers; priors are those of `pw.Structures`. `forbid` lists pairs that are never
    joined; `prior` is `pw.uniform_dags()` (all graphs alike) or `pw.arcs(0.1)` for each edge.

    >>> data = {"a": [0, 1, 0, 1, 1, 0] * 9, "b": [0, 1, 0, 1, 1, 0] * 9, "c": [0, 0, 1, 1, 0, 1] * 9}
    >>> print(pw.Decomposable(data).search(data).graph)
    a-b
    """

    def __init__(
        self,
        data: object,
        *,
        forbid: Sequence[tuple[str, str]] = (),
        prior: ArcPrior | None = None,
        sample_size: float = 1.0,
        degrees: float | None = None,
        kinds: Mapping[str, str] | None = None,
    ) -> None:
        self.columns = read_columns(data, kinds or {})
        self.nodes = tuple(column.name for column in self.columns)
        if len({column.kind for column in self.columns}) > 1 or self.columns[0].kind in ("count", "model"):
            raise ModelError("the columns are of several kinds", expected="all categories, or all numbers")
        self.rules = read_rules(self.columns, [*forbid, *((two, one) for one, two in forbid)], (), (), None)
        if prior is not None and not isinstance(prior, ArcPrior):
            raise ParameterError(f"prior is {prior!r}", expected="pw.uniform_dags() or pw.arcs(probability)")
        self.prior = prior or uniform_dags()
        self.evidence = EvidencePrior("bdeu", "bge", sample_size, degrees)

    def enumerate(self, data: object) -> EdgePosterior:
        """Every decomposable graph with its exact share; up to 6 nodes."""
        if len(self.nodes) > MOST_LISTED:
            raise SizeError(f"the graphs over {len(self.nodes)} nodes", expected=f"at most {MOST_LISTED} nodes")
        scores = self._scores(data)
        found = {joined: scores.log_evidence(joined) for joined in self._all()}
        odds = {joined: self.prior.log_odds * edge_count(joined) for joined in found}
        total = np.logaddexp.reduce([score + odds[joined] for joined, score in found.items()])
        shares = {joined: exp(score + odds[joined] - total) for joined, score in found.items()}
        ordered = dict(sorted(shares.items(), key=lambda pair: -pair[1]))
        evidence = float(total - np.logaddexp.reduce(list(odds.values())))
        return EdgePosterior(self.nodes, ordered, scores.scorer, self.make_model, evidence)

    def search(self, data: object, seed: int = 0, restarts: int = 5) -> BestEdges:
        """The best graph: proven up to 5 nodes, else by single edges from several starts."""
        scores = self._scores(data)

        def height(joined: Joined) -> float:
            return scores.log_evidence(joined) + self.prior.log_odds * edge_count(joined)

        if len(self.nodes) < MOST_LISTED:
            best = max(self._all(), key=height)
            return BestEdges(graph_of(self.nodes, best), scores.scorer, self.make_model, best, True)
        generator = np.random.default_rng(seed)
        best = (0,) * len(self.nodes)
        for start in range(restarts):
            at = (0,) * len(self.nodes)
            for _ in range(0 if not start else 2 * len(self.nodes)):
                at = self._toggled(at, generator) or at
            while near := max(self._near(at), key=height, default=None):
                if height(near) <= height(at) + 1e-9:
                    break
                at = near
            best = max(best, at, key=height)
        return BestEdges(graph_of(self.nodes, best), scores.scorer, self.make_model, best)

    def sample(self, data: object, draws: int = 20_000, seed: int = 0, chains: int = 4) -> EdgePosterior:
        """Graphs drawn by joining and parting random pairs; what is not chordal stays, so the way back is as likely."""
        scores = self._scores(data)
        counts: dict[Joined, int] = {}
        per_chain, thin = -(-draws // chains), 2 * len(self.nodes)
        edges = np.zeros((chains, per_chain))
        for chain in range(chains):
            generator = np.random.default_rng((seed, chain))
            at = (0,) * len(self.nodes)
            for draw in range(-per_chain // 10, per_chain):
                for _ in range(thin):
                    at = self.step(scores, at, generator)
                if draw >= 0:
                    counts[at] = counts.get(at, 0) + 1
                    edges[chain, draw] = edge_count(at)
        total = sum(counts.values())
        ordered = dict(sorted(((at, count / total) for at, count in counts.items()), key=lambda pair: -pair[1]))
        return EdgePosterior(self.nodes, ordered, scores.scorer, self.make_model, None, split_half(edges))

    def make_model(self, title: str) -> Any:
        """An empty model, for the fit of a graph."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"decomposable graphs over {', '.join(self.nodes)}; {self.prior}"

    def step(self, scores: CliqueScores, at: Joined, generator: np.random.Generator) -> Joined:
        """One move of a chain."""
        made = self._toggled(at, generator)
        if made is None:
            return at
        ratio = scores.log_evidence(made) - scores.log_evidence(at)
        ratio += self.prior.log_odds * (edge_count(made) - edge_count(at))
        return made if generator.random() < exp(min(0.0, ratio)) else at

    def _toggled(self, at: Joined, generator: np.random.Generator) -> Joined | None:
        if len(at) < 2:
            return None
        one = int(generator.integers(len(at)))
        two = (one + 1 + int(generator.integers(len(at) - 1))) % len(at)
        made = toggled(at, one, two)
        return made if self._is_allowed(made) else None

    def _near(self, at: Joined) -> Iterator[Joined]:
        for one, two in combinations(range(len(at)), 2):
            if self._is_allowed(made := toggled(at, one, two)):
                yield made

    def _is_allowed(self, joined: Joined) -> bool:
        may = self.rules.masks[0]
        return (
            all(not near & ~free for near, free in zip(joined, may, strict=True)) and perfect_order(joined) is not None
        )

    def _all(self) -> Iterator[Joined]:
        pairs = [pair for pair in combinations(range(len(self.nodes)), 2) if pair[1] in self.rules.allowed[pair[0]]]
        for code in range(1 << len(pairs)):
            joined: Joined = (0,) * len(self.nodes)
            for place in members(code):
                joined = toggled(joined, *pairs[place])
            if perfect_order(joined) is not None:
                yield joined

    def _scores(self, data: object) -> CliqueScores:
        rows = read_rows(self.columns, data)
        if rows.missing.any():
            raise MissingValue("decomposable graphs need complete rows", hint="drop these rows, or use pw.Structures")
        return CliqueScores(Scorer(rows, self.rules, uniform_dags(), self.evidence))


@dataclass(frozen=True, eq=False)
class CliqueScores:
    """Evidences of graphs from local scores, each kept."""

    scorer: Scorer

    @cached_property
    def _kept(self) -> dict[Any, float]:
        return {}

    def log_evidence(self, joined: Joined) -> float:
        """Along a perfect order, each node given its earlier neighbours."""
        if joined not in self._kept:
            self._kept[joined] = sum(self.scorer.local(node, above) for node, above in enumerate(directed(joined)))
        return self._kept[joined]


def toggled(joined: Joined, one: int, two: int) -> Joined:
    """The graph with one edge there or not."""
    made = list(joined)
    made[one] ^= 1 << two
    made[two] ^= 1 << one
    return tuple(made)


def edge_count(joined: Joined) -> int:
    """How many edges there are."""
    return sum(near.bit_count() for near in joined) // 2
