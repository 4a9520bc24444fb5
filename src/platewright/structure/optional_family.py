"""The family of a model with optional arcs: search it, sample it, go over all of it  (Figures 12 and 26).

    evidence(arcs) = evidence(all arcs) + sum over nodes of what its own arcs change          (Lemma 6.3)

Where each node with optional arcs has a piece of the decomposed problem to itself, the arcs into it change the evidence
of that piece alone, and 2^k models are learned for a node with k optional arcs instead of one for every combination.
Where pieces are shared (a hidden node, a common parameter), every model is learned as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import exp
from typing import Any

import numpy as np

from platewright.errors import ModelError, ParameterError, SizeError
from platewright.graph.graph import Graph
from platewright.operation import Declined
from platewright.operations.decompose import decompose
from platewright.structure.chains import Chains
from platewright.structure.instances import choices, optional_arcs
from platewright.structure.moves import State
from platewright.structure.network import Arc, Network
from platewright.structure.network_picture import network_svg
from platewright.structure.posterior import Posterior, Sampled
from platewright.structure.rules import ArcPrior, uniform_dags

Arcs = frozenset[Arc]
MOST_LISTED = 4096


@dataclass(frozen=True, eq=False)
class Learned:
    """Evidences of the models of a family, each learned once from the same data."""

    graph: Graph
    """The family with its data known."""
    learn: Callable[[Arcs], Any]
    fits: dict[Arcs, Any] = field(default_factory=dict)

    @cached_property
    def arcs(self) -> tuple[Arc, ...]:
        """All optional arcs, in the order of writing."""
        return optional_arcs(self.graph)

    @cached_property
    def is_local(self) -> bool:
        """Whether no two nodes with optional arcs share a piece, and all parents of such arcs are known."""
        if len(choices(self.graph)) > len(self.arcs):  # potentials, whose normaliser takes in the whole component
            return False
        found = decompose(self.graph)
        if isinstance(found, Declined):
            return False
        homes = [found.home.get(child) for child in {child for _, child in self.arcs}]
        known = all(parent in self.graph.known for parent, _ in self.arcs)
        return known and None not in homes and len(set(homes)) == len(homes)

    def fit(self, present: Arcs) -> Any:
        """The ordinary fit of one model."""
        if present not in self.fits:
            self.fits[present] = self.learn(present)
        return self.fits[present]

    def whole(self, present: Arcs) -> float:
        """The log evidence of one model, learned as a whole."""
        return float(self.fit(present).evidence.value)

    def gain(self, child: str, above: Arcs) -> float:
        """What it changes when a node has these of its optional arcs, and not all."""
        every = frozenset(self.arcs)
        own = frozenset(arc for arc in self.arcs if arc[1] == child)
        return self.whole((every - own) | above) - self.whole(every)

    def log_evidence(self, present: Arcs) -> float:
        """The log evidence of one model."""
        if not self.is_local:
            return self.whole(present)
        children = dict.fromkeys(child for _, child in self.arcs)
        changes = (self.gain(c, frozenset(arc for arc in present if arc[1] == c)) for c in children)
        return self.whole(frozenset(self.arcs)) + sum(changes)


@dataclass(frozen=True, eq=False)
class OptionalBest:
    """The best model that was found; its graph has the optional arcs that are there."""

    graph: Network
    learned: Learned
    proven: bool

    @property
    def log_evidence(self) -> float:
        """`log p(data | model)`."""
        return self.learned.log_evidence(self.graph.arcs)

    @property
    def fit(self) -> Any:
        """The ordinary fit of the model."""
        return self.learned.fit(self.graph.arcs)

    def svg(self) -> str:
        """The optional arcs that are there, as SVG text."""
        return network_svg(self.graph)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        listed = ", ".join(f"{parent} -> {child}" for parent, child in sorted(self.graph.arcs)) or "no optional arc"
        return f"{listed}\nlog evidence {self.log_evidence:.4f}"


@dataclass(frozen=True, eq=False, repr=False)
class OptionalPosterior(Posterior):
    """All models of the family with their exact shares."""

    learned: Learned
    scores: Mapping[State, float]
    """Log evidence plus log prior of each."""

    @property
    def log_evidence(self) -> float:
        """`log sum over models of p(data | model) p(model)`."""
        return float(np.logaddexp.reduce(list(self.scores.values())))

    @cached_property
    def weighed(self) -> Mapping[State, float]:
        """Models with their probabilities, the most probable first."""
        total = self.log_evidence
        ordered = sorted(self.scores.items(), key=lambda pair: -pair[1])
        return {state: exp(score - total) for state, score in ordered}

    def average(self, predict: Any, top: int | None = None) -> Any:
        """A function of the fits, or the log density of new rows, averaged over the models."""
        return averaged(self, predict, top)

    def _best(self, state: State) -> Any:
        return OptionalBest(self._network(state), self.learned, False)

    def _title(self) -> str:
        return f"{len(self.scores)} models, log evidence {self.log_evidence:.4f}"


@dataclass(frozen=True, eq=False, repr=False)
class OptionalSampled(Sampled):
    """Models drawn by Markov chains."""

    learned: Learned

    def average(self, predict: Any, top: int | None = None) -> Any:
        """A function of the fits, or the log density of new rows, averaged over the models."""
        return averaged(self, predict, top)

    def _best(self, state: State) -> Any:
        return OptionalBest(self._network(state), self.learned, False)


def averaged(found: OptionalPosterior | OptionalSampled, predict: Any, top: int | None) -> Any:
    """Over the models, by their shares."""
    chosen = found._chosen(top)
    if callable(predict):
        values = [np.asarray(predict(found._best(state).fit), dtype=float) * share for state, share in chosen.items()]
        total = sum(values)
        return float(total) if np.ndim(total) == 0 else total
    rows = [found._best(state).fit.log_predictive(predict) + np.log(share) for state, share in chosen.items()]
    return np.logaddexp.reduce(rows, axis=0)


class OptionalFamily:
    """The models that the optional arcs of one model stand for; plates, hidden nodes and all.

    `read(data)` gives the family with its data known, and what learns one of its models.
    """

    def __init__(self, graph: Graph, read: Callable[[object], Learned], prior: ArcPrior | None = None) -> None:
        self.options = choices(graph)
        """What is there or not: an arc, or all arcs from a potential to what it shapes."""
        if not self.options:
            raise ModelError(
                "the model has no optional arcs",
                hint="write optional=[m.a] in a distribution, or optional=True of a potential",
            )
        if prior is not None and not isinstance(prior, ArcPrior):
            raise ParameterError(f"prior is {prior!r}", expected="pw.uniform_dags() or pw.arcs(probability)")
        ends = {name for option in self.options for arc in option for name in arc}
        self.nodes = tuple(name for name in (*graph.potentials, *graph.nodes) if name in ends)
        self.prior = prior or uniform_dags()
        self._read = read

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """All that may be left out, arc by arc."""
        return tuple(arc for option in self.options for arc in sorted(option))

    def enumerate(self, data: object) -> OptionalPosterior:
        """Every model with its exact share."""
        if 2 ** len(self.options) > MOST_LISTED:
            raise SizeError(
                f"{len(self.options)} optional arcs stand for 2^{len(self.options)} models",
                expected=f"at most {MOST_LISTED} models",
                hint="use search() or sample()",
            )
        learned = self._read(data)
        scores = {self._state(present): self._score(learned, present) for present in self._all()}
        return OptionalPosterior(self.nodes, None, None, learned, scores)  # type: ignore[arg-type]

    def search(self, data: object, seed: int = 0) -> OptionalBest:
        """The best model: proven where nodes can be settled one by one or all models gone over, else by single arcs."""
        learned = self._read(data)
        if learned.is_local:
            present: Arcs = frozenset()
            for child in dict.fromkeys(child for _, child in learned.arcs):
                own = _subsets(frozenset({arc}) for arc in learned.arcs if arc[1] == child)
                heights = [learned.gain(child, above) + self._prior(above) for above in own]
                present |= own[int(np.argmax(heights))]
            return OptionalBest(self._network(present), learned, True)
        if 2 ** len(self.options) <= MOST_LISTED // 16:
            present = max(self._all(), key=lambda arcs: self._score(learned, arcs))
            return OptionalBest(self._network(present), learned, True)
        return OptionalBest(self._network(self._climbed(learned, seed)), learned, False)

    def sample(self, data: object, draws: int = 20_000, seed: int = 0, chains: int = 4) -> OptionalSampled:
        """Models drawn by adding and removing random arcs, `draws` in all."""
        for name, value in (("draws", draws), ("chains", chains)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ParameterError(f"{name} is {value!r}", expected="a whole number from 1")
        learned = self._read(data)
        kept: dict[Arcs, float] = {}
        states: dict[State, int] = {}
        per_chain, moved = -(-draws // chains), 0
        found, scores = np.zeros((chains, per_chain), dtype=np.int64), np.zeros((chains, per_chain))
        for chain in range(chains):
            generator = np.random.default_rng((seed, chain))
            at = frozenset(arc for option in self.options if generator.random() < 0.5 for arc in option)
            warm_up, thin = max(50, per_chain // 10), len(self.options)
            for draw in range(-warm_up, per_chain):
                for place, chance in zip(generator.integers(len(self.options), size=thin), generator.random(thin)):
                    made = at ^ self.options[place]
                    for arcs in (at, made):
                        if arcs not in kept:
                            kept[arcs] = self._score(learned, arcs)
                    if chance < exp(min(0.0, kept[made] - kept[at])):
                        at, moved = made, moved + 1
                if draw >= 0:
                    found[chain, draw] = states.setdefault(self._state(at), len(states))
                    scores[chain, draw] = kept[at]
        steps = chains * thin * (per_chain + warm_up)
        chained = Chains(tuple(states), found, moved / steps, False, scores)
        return OptionalSampled(self.nodes, None, None, chained, learned)  # type: ignore[arg-type]

    def _climbed(self, learned: Learned, seed: int) -> Arcs:
        generator = np.random.default_rng(seed)
        best: Arcs = frozenset().union(*self.options)
        while True:
            near = [best ^ self.options[place] for place in generator.permutation(len(self.options))]
            made = max(near, key=lambda arcs: self._score(learned, arcs))
            if self._score(learned, made) <= self._score(learned, best):
                return best
            best = made

    def _score(self, learned: Learned, present: Arcs) -> float:
        """Log evidence plus log prior, normalised over all models."""
        return (
            learned.log_evidence(present)
            + self._prior(present)
            - len(self.options) * np.log1p(np.exp(self.prior.log_odds))
        )

    def _prior(self, present: Arcs) -> float:
        return self.prior.log_odds * sum(option <= present for option in self.options)

    def _all(self) -> list[Arcs]:
        return _subsets(self.options)

    def _network(self, present: Arcs) -> Network:
        return Network(self.nodes, present)

    def _state(self, present: Arcs) -> State:
        place = {name: number for number, name in enumerate(self.nodes)}
        return tuple(sum(1 << place[p] for p, c in present if c == name) for name in self.nodes)

    def __repr__(self) -> str:
        listed = ", ".join(f"{parent} -> {child}" for parent, child in self.arcs)
        return f"{2 ** len(self.options)} models over the optional arcs {listed}; {self.prior}"


def _subsets(options: Iterable[Arcs]) -> list[Arcs]:
    listed = tuple(options)
    sizes = range(len(listed), -1, -1)
    return [frozenset[Arc]().union(*chosen) for size in sizes for chosen in combinations(listed, size)]
