"""What a family of networks says after the data: probabilities of arcs, of whole networks, and averaged predictions.

p(x | data) = sum over networks of p(network | data) p(x | network, data)                     (Section 3.1)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from platewright.drawing.traces import traces_svg
from platewright.errors import ModelError, ParameterError, UnknownName
from platewright.language.model import Model
from platewright.structure.averaging import log_predictive
from platewright.structure.best import Best, named
from platewright.structure.chains import Chains, frequencies, split_half
from platewright.structure.columns import read_rows
from platewright.structure.graph_sums import GraphSums, log_prior_total, squeezed
from platewright.structure.moves import State, all_networks, has_cycle
from platewright.structure.network import Network
from platewright.structure.network_picture import weighed_svg
from platewright.structure.rules import bits, members
from platewright.structure.scorer import Scorer

FEW_NODES = 5
"""All networks over so many nodes are listed one by one."""
EXPLORED = 2000


class Weighed(NamedTuple):
    """A network and its posterior probability."""

    graph: Network
    probability: float


@dataclass(frozen=True, eq=False)
class Posterior:
    """A distribution over the networks of a family; `sample` and `enumerate` make the two sorts."""

    nodes: tuple[str, ...]
    scorer: Scorer
    make_model: Callable[[str], Model]

    def arc_probability(self, parent: str, child: str) -> float:
        """The posterior probability of the arc parent -> child."""
        return min(1.0, float(self.arcs[self._place(parent), self._place(child)]))

    @cached_property
    def arcs(self) -> NDArray[np.float64]:
        """The probability of every arc: [parent, child], in the order of `nodes`."""
        found = np.zeros((len(self.nodes), len(self.nodes)))
        for state, weight in self.weighed.items():
            for child, above in enumerate(state):
                found[members(above), child] += weight
        return found

    @property
    def weighed(self) -> Mapping[State, float]:
        """Networks with their probabilities, the most probable first."""
        raise NotImplementedError

    def graphs(self, top: int = 10) -> list[Weighed]:
        """The most probable networks as (graph, probability), the most probable first."""
        if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
            raise ParameterError(f"the {top!r} most probable networks", expected="a whole number from 1")
        listed = list(self.weighed.items())[:top]
        return [Weighed(self._network(state), weight) for state, weight in listed]

    def probability(self, feature: Callable[[Network], object]) -> float:
        """The probability that something holds of the network, such as `lambda g: g.has_path("a", "b")`."""
        return float(sum(weight for state, weight in self.weighed.items() if feature(self._network(state))))

    def path_probability(self, start: str, end: str) -> float:
        """The probability that directed arcs lead from one node to another."""
        self._place(start), self._place(end)
        return self.probability(lambda graph: graph.has_path(start, end))

    def blanket_probability(self, node: str, other: str) -> float:
        """The probability that a node is in the Markov blanket of another."""
        self._place(node), self._place(other)
        return self.probability(lambda graph: other in graph.blanket(node))

    def inclusion(self, target: str) -> Mapping[str, float]:
        """For each other node the probability that it is a parent of the target: variable selection."""
        place = self._place(target)
        return {name: float(self.arcs[number, place]) for number, name in enumerate(self.nodes) if number != place}

    def average(self, predict: Any, top: int | None = None) -> Any:
        """Averages over the networks.

        `predict` is a table of new cases, for the log predictive density of each of its rows; or a function of an
        ordinary fit, whose values (numbers or arrays) are averaged over the networks by their probabilities. `top`
        leaves out all but so many networks, the rest weighed anew.
        """
        if callable(predict):
            return self._averaged(predict, top)
        new = read_rows(self.scorer.rows.columns, predict)
        if new.missing.any():
            raise ModelError("the new cases have missing cells", hint="average a function of the fit, and predict")
        return self._log_predictive(new, top)

    def _log_predictive(self, new: Any, top: int | None) -> NDArray[np.float64]:
        return log_predictive(self.scorer, self._chosen(top), new)

    def _averaged(self, predict: Callable[[Any], Any], top: int | None) -> Any:
        total: Any = None
        for state, weight in self._chosen(top).items():
            value = np.asarray(predict(self._best(state).fit), dtype=np.float64) * weight
            total = value if total is None else total + value
        return float(total) if np.ndim(total) == 0 else total

    def _chosen(self, top: int | None) -> Mapping[State, float]:
        listed = list(self.weighed.items())[:top]
        total = sum(weight for _, weight in listed)
        return {state: weight / total for state, weight in listed}

    def svg(self) -> str:
        """The arcs as SVG text, each as wide as it is probable."""
        places = range(len(self.nodes))
        weights = {
            (self.nodes[p], self.nodes[c]): float(self.arcs[p, c])
            for p in places
            for c in places
            if self.arcs[p, c] > 0
        }
        return weighed_svg(self.nodes, weights)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        places = [(p, c) for p in range(len(self.nodes)) for c in range(len(self.nodes)) if p != c]
        places.sort(key=lambda arc: -self.arcs[arc])
        lines = [
            f"{self.nodes[p]} -> {self.nodes[c]}   {self.arcs[p, c]:.4f}" for p, c in places[:20] if self.arcs[p, c]
        ]
        return "\n".join([self._title(), *lines])

    def _title(self) -> str:
        return "posterior over networks"

    def _network(self, state: State) -> Network:
        return named(self.nodes, [frozenset(members(above)) for above in state])

    def _best(self, state: State) -> Best:
        return Best(self._network(state), self.scorer, self.make_model)

    def _place(self, name: str) -> int:
        if name not in self.nodes:
            raise UnknownName(name, self.nodes, where="a node")
        return self.nodes.index(name)


@dataclass(frozen=True, eq=False, repr=False)
class Sampled(Posterior):
    """Networks drawn by Markov chains."""

    chains: Chains

    @cached_property
    def weighed(self) -> Mapping[State, float]:
        """The distinct networks with the share of draws that were they."""
        return frequencies(self.chains)

    @property
    def diagnostics(self) -> Mapping[str, float]:
        """How far the chains agree: the worst scale reduction over arcs, the gap between chains, accepted moves."""
        count = len(self.nodes)
        doubtful = [(p, c) for p in range(count) for c in range(count) if p != c and 0.01 < self.arcs[p, c] < 0.99]
        worst = max((split_half(self.chains.arc(p, c).astype(np.float64)) for p, c in doubtful), default=1.0)
        return {
            "worst_rhat": worst,
            "worst_gap_between_chains": self.chains.worst_gap,
            "accepted": self.chains.accepted,
            "distinct_networks": float(len(self.chains.states)),
        }

    def trace_svg(self) -> str:
        """The score of each draw, log evidence and log prior, as SVG text with a line for each chain."""
        return traces_svg(list(self.chains.scores), "score of each draw, by chain", "draw")

    def _log_predictive(self, new: Any, top: int | None) -> NDArray[np.float64]:
        if not self.scorer.rows.missing.any():
            return super()._log_predictive(new, top)
        kept = self.chains.fillings
        if top is not None:
            wanted = self._chosen(top)
            kept = tuple(pair for pair in kept if pair[0] in wanted)
        if not kept:
            raise ModelError("no draw with its missing cells was kept of these networks", hint="leave out top=")
        rows = [log_predictive(replace(self.scorer, rows=rows, held={}), {state: 1.0}, new) for state, rows in kept]
        return np.asarray(np.logaddexp.reduce(rows, axis=0) - np.log(len(rows)))

    def _title(self) -> str:
        found = self.diagnostics
        count = self.chains.draws.size
        return f"{count} networks drawn, {len(self.chains.states)} distinct, worst R-hat {found['worst_rhat']:.3f}"


@dataclass(frozen=True, eq=False, repr=False)
class Enumerated(Posterior):
    """All networks of the family, by dynamic programming; few nodes are listed network by network."""

    sums: GraphSums

    @cached_property
    def log_prior_total(self) -> float:
        """What makes the prior over the allowed networks add up to one, in logs."""
        return log_prior_total(self.scorer.rules, self.scorer.prior)

    @property
    def log_evidence(self) -> float:
        """`log sum over networks of p(data | network) p(network)`."""
        return self.sums.log_sum - self.log_prior_total

    @cached_property
    def arcs(self) -> NDArray[np.float64]:
        """The probability of every arc: [parent, child]."""
        return self.sums.arcs

    @cached_property
    def best(self) -> Best:
        """The most probable network; none is more probable."""
        graph = named(self.nodes, self.sums.best[1])
        return Best(graph, self.scorer, self.make_model, proven=True)

    @cached_property
    def weighed(self) -> Mapping[State, float]:
        """Networks with their exact probabilities: all over few nodes, else those around the best."""
        found = self._listed() if self.is_listed else self._around_the_best()
        return dict(sorted(found, key=lambda pair: -pair[1]))

    @property
    def is_listed(self) -> bool:
        """Whether `weighed` holds all networks."""
        return len(self.nodes) <= FEW_NODES

    def probability(self, feature: Callable[[Network], object]) -> float:
        """The probability that something holds of the network; over few nodes."""
        if not self.is_listed:
            raise ModelError(
                f"a feature of networks over {len(self.nodes)} nodes is not a sum over arcs",
                expected=f"at most {FEW_NODES} nodes",
                hint="use sample(), which draws whole networks",
            )
        return super().probability(feature)

    def _score(self, state: State) -> float:
        return sum(float(self.sums.scores[node, squeezed(above, node)]) for node, above in enumerate(state))

    def _listed(self) -> list[tuple[State, float]]:
        states = list(all_networks(self.scorer.rules))
        return [(state, float(np.exp(self._score(state) - self.sums.log_sum))) for state in states]

    def _around_the_best(self) -> list[tuple[State, float]]:
        """Networks reached from the best by single arcs, always from the most probable one not yet gone from."""
        start = tuple(bits(above) for above in self.sums.best[1])
        heap = [(-self._score(start), start)]
        seen = {start}
        found: list[tuple[State, float]] = []
        while heap and len(found) < EXPLORED:
            below, state = heappop(heap)
            found.append((state, float(np.exp(-below - self.sums.log_sum))))
            for made in _neighbours(state):
                if made in seen:
                    continue
                seen.add(made)
                score = self._score(made)
                if score > -np.inf and not has_cycle(made):
                    heappush(heap, (-score, made))
        return found

    def _log_predictive(self, new: Any, top: int | None) -> NDArray[np.float64]:
        if top is None and not self.is_listed:
            raise ModelError("not all networks are listed", expected="top=, or at most 5 nodes")
        return super()._log_predictive(new, top)

    def _title(self) -> str:
        return f"all networks over {len(self.nodes)} nodes, log evidence {self.log_evidence:.4f}"


def _neighbours(state: State) -> list[State]:
    """One arc added, removed or turned; some have cycles."""
    found = []
    for child, above in enumerate(state):
        for parent in range(len(state)):
            if parent == child:
                continue
            made = list(state)
            made[child] = above ^ (1 << parent)
            found.append(tuple(made))
            if above >> parent & 1:
                made[parent] |= 1 << child
                found.append(tuple(made))
    return found
