"""The result of a search over networks: the network, its evidence, and the ordinary fit that it stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import Any

import numpy as np

from platewright.drawing.traces import traces_svg
from platewright.errors import ModelError
from platewright.language.model import Model
from platewright.structure.bif_text import bif_text
from platewright.structure.columns import Rows
from platewright.structure.network import Arc, Network
from platewright.structure.network_picture import network_svg
from platewright.structure.rules import ArcPrior
from platewright.structure.scorer import Parents, Scorer
from platewright.structure.written import write_model, written_data

Learn = Callable[[Model, Mapping[str, Any]], Any]


@dataclass(frozen=True, eq=False)
class Best:
    """The best network that was found.

    `graph.arcs` is a set of (parent, child); `log_evidence` is its log marginal likelihood, without the prior over
    networks; `proven` says that no network is better; `trace` holds the score of each start.
    """

    graph: Network
    scorer: Scorer
    make_model: Callable[[str], Model]
    proven: bool = False
    trace: tuple[float, ...] = ()
    interrupted: bool = False

    @cached_property
    def parents(self) -> Parents:
        """Parents of each node, by number."""
        return numbered(self.graph)

    @cached_property
    def local_evidence(self) -> Mapping[str, float]:
        """One term of the log evidence for each node (Corollary 6.1.1)."""
        terms = (self.scorer.local_evidence(node, above) for node, above in enumerate(self.parents))
        return dict(zip(self.graph.nodes, terms, strict=True))

    @property
    def log_evidence(self) -> float:
        """`log p(data | network)`."""
        return sum(self.local_evidence.values())

    @property
    def rows(self) -> Rows:
        """The cells it was scored on."""
        return self.scorer.rows

    @cached_property
    def model(self) -> Any:
        """The network as an ordinary model with the priors of its scores."""
        return write_model(self.make_model("network"), self.graph, self.rows, self.scorer.evidence)

    @cached_property
    def fit(self) -> Any:
        """What learning that model from the same rows gives: posteriors, predictions, source and steps."""
        return self.model.learn(written_data(self.rows, self.model))

    def to_bif(self) -> str:
        """The network with the posterior means of its tables, as BIF text that `pw.read_bif` reads."""
        return bif_text(self.graph, self.rows, self.scorer.evidence)

    def svg(self) -> str:
        """The network as SVG text."""
        return network_svg(self.graph)

    def trace_svg(self) -> str:
        """The best score after each round of the search, as SVG text."""
        if not self.trace:
            raise ModelError("no search led to this network step by step", expected="the result of a search by rounds")
        return traces_svg([np.array(self.trace)], "best score", "round")

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        said = "the best of all networks" if self.proven else f"best of {max(1, len(self.trace))} starts"
        return f"{self.graph}\nlog evidence {self.log_evidence:.4f}, {len(self.graph.arcs)} arcs, {said}"


class BayesFactor(float):
    """`p(data | one) / p(data | other)`; `.log` holds its logarithm, also where the ratio itself is out of range."""

    log: float

    def __new__(cls, log: float) -> BayesFactor:
        """From the logarithm."""
        found = super().__new__(cls, exp(log) if log < 709.0 else float("inf"))
        found.log = log
        return found


def bayes_factor(best: Any, other: Any) -> BayesFactor:
    """How much more probable the data are under one network than under another, from the terms that differ alone.

    Both are results of the same data; the other may be a bare `graph` too. `.log` of the answer is its logarithm.

    >>> family = pw.Structures({"a": [0, 1, 0, 1, 1, 0], "b": [0, 1, 0, 1, 1, 1]})
    >>> best = family.search({"a": [0, 1, 0, 1, 1, 0], "b": [0, 1, 0, 1, 1, 1]})
    >>> round(pw.bayes_factor(best, best), 3)
    1.0
    """
    if isinstance(best, Network) and not isinstance(other, Network):
        return BayesFactor(-bayes_factor(other, best).log)
    if isinstance(best, Network):
        raise ModelError("two bare networks have no data", expected="results of search(), score() or a fit")
    if not all(hasattr(one, "log_evidence") for one in (best, other) if not isinstance(one, Network)):
        raise ModelError(
            f"{best!r} and {other!r} have no evidence both", expected="results of search(), score() or a fit"
        )
    if not isinstance(best, Best) or not isinstance(other, Best | Network):
        return BayesFactor(float(best.log_evidence) - float(other.log_evidence))
    if isinstance(other, Best) and (other.graph.nodes != best.graph.nodes or not same_cells(best.rows, other.rows)):
        raise ModelError("the two networks were scored on different data", expected="the same rows for both")
    graph = other if isinstance(other, Network) else other.graph
    there = other.scorer if isinstance(other, Best) else best.scorer
    total = 0.0
    for node, (one, two) in enumerate(zip(best.parents, numbered(graph), strict=True)):
        groups = (scorer.rows.columns[node].group for scorer in (best.scorer, there))
        if one != two or there.evidence != best.scorer.evidence or len(set(groups)) > 1:
            total += best.scorer.local_evidence(node, one) - there.local_evidence(node, two)
    return BayesFactor(total)


def same_cells(one: Rows, two: Rows) -> bool:
    """Whether two tables hold the same."""
    same = one.columns == two.columns and one.codes.shape == two.codes.shape
    return same and np.array_equal(one.codes, two.codes) and np.array_equal(one.values, two.values, equal_nan=True)


def numbered(network: Network) -> Parents:
    """Parents of each node, by number."""
    place = {name: number for number, name in enumerate(network.nodes)}
    return tuple(frozenset(place[parent] for parent in network.parents(name)) for name in network.nodes)


def named(nodes: tuple[str, ...], parents: Iterable[frozenset[int]]) -> Network:
    """The way back."""
    arcs: list[Arc] = [(nodes[parent], nodes[child]) for child, above in enumerate(parents) for parent in above]
    return Network(nodes, frozenset(arcs))


def log_prior(prior: ArcPrior, parents: Parents) -> float:
    """What the prior over networks adds, up to what makes it add up to one."""
    return prior.log_odds * sum(len(above) for above in parents)
