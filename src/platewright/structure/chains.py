"""Several Markov chains over networks, and whether they agree  (Section 8.3; Figure 12).

Chains start at different networks: what greedy steps find from random places, and random places themselves. After the
warm-up each keeps one network for every `thin` moves. Where cells are missing, each sweep also draws them anew from
their predictive under the network of the moment (step 4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from platewright.run.heard import told_to_stop
from platewright.run.ticking import Ticker, progress
from platewright.structure.columns import Rows
from platewright.structure.moves import State, state_of
from platewright.structure.native_library import side_by_side
from platewright.structure.scorer import Parents, Scorer

FILLINGS = 400
"""So many draws are kept with their missing cells, for predictions."""


@dataclass(frozen=True, eq=False)
class Chains:
    """The networks that chains went through: the distinct ones, and which of them each draw was."""

    states: tuple[State, ...]
    draws: NDArray[np.int64]
    """By chain and draw a place in `states`."""
    accepted: float
    """The share of moves that changed the network."""
    interrupted: bool = False
    scores: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    fillings: tuple[tuple[State, Rows], ...] = ()
    """Some of the draws with their missing cells, evenly apart."""

    @property
    def weights(self) -> NDArray[np.float64]:
        """How often each distinct network was drawn."""
        counts = np.bincount(self.draws.ravel(), minlength=len(self.states))
        return np.asarray(counts / counts.sum())

    def arc(self, parent: int, child: int) -> NDArray[np.bool_]:
        """Whether an arc was there, by chain and draw."""
        there = np.array([state[child] >> parent & 1 for state in self.states], dtype=np.bool_)
        return np.asarray(there[self.draws])

    @property
    def worst_gap(self) -> float:
        """The greatest standard deviation over chains of the share of one arc: small where they agree."""
        nodes = len(self.states[0])
        shares = [self.arc(p, c).mean(axis=1) for p in range(nodes) for c in range(nodes) if p != c]
        return float(max((np.std(share) for share in shares), default=0.0))


def run_chains(
    scorer: Scorer,
    draws: int,
    chains: int,
    warm_up: int,
    thin: int,
    seed: int,
    refill: Callable[[Scorer, State, np.random.Generator], Scorer] | None = None,
    workers: int = 1,
) -> Chains:
    """As many draws in all; `refill` draws missing cells anew and returns the scorer of the filled rows.

    Chains without refills are dealt out to `workers` threads, each with scores of its own.
    """
    per_chain = -(-draws // chains)
    if refill is None:
        legs, interrupted = _dealt_out(scorer, chains, per_chain, warm_up, thin, seed, min(workers, chains))
    else:
        legs, interrupted = _one_by_one(scorer, chains, per_chain, warm_up, thin, seed, refill)
    legs.sort(key=lambda leg: -len(leg.states))
    lengths = [len(leg.states) * number for number, leg in enumerate(legs, 1)]
    legs = legs[: int(np.argmax(lengths)) + 1]  # where Ctrl-C came, as many draws of equally long chains as there are
    length = len(legs[-1].states)
    if not length:
        raise KeyboardInterrupt
    legs.sort(key=lambda leg: leg.chain)
    flat = np.concatenate([leg.states[:length] for leg in legs])
    distinct, first = np.unique(flat.reshape(len(flat), -1), axis=0, return_inverse=True)
    listed = tuple(state_of(row.reshape(scorer.nodes, scorer.words)) for row in distinct)
    places = np.asarray(first).reshape(len(legs), -1)
    accepted = sum(leg.moved for leg in legs) / max(1, thin * (warm_up + per_chain) * len(legs))
    scores = np.stack([leg.scores[:length] for leg in legs])
    return Chains(listed, places, accepted, interrupted, scores, tuple(pair for leg in legs for pair in leg.fillings))


@dataclass(frozen=True, eq=False)
class Leg:
    """What one chain went through after its warm-up."""

    chain: int
    states: NDArray[np.uint64]
    scores: NDArray[np.float64]
    moved: int
    fillings: list[tuple[State, Rows]] = field(default_factory=list)


def _dealt_out(
    scorer: Scorer, chains: int, per_chain: int, warm_up: int, thin: int, seed: int, workers: int
) -> tuple[list[Leg], bool]:
    with Ticker("chains over networks", chains) as ticker:

        def run(first: int, stop: int) -> list[Leg]:
            own = scorer if first == 0 else replace(scorer, held={})
            legs = []
            for chain in range(first, chains, workers):
                generator = np.random.default_rng((seed, chain))
                walker = Walker(own, _start(own, chain, generator, stop), generator, thin)
                walker.walk(warm_up, stop)
                states, scores, _ = walker.walk(per_chain, stop)
                legs.append(Leg(chain, states, scores, walker.moved))
                ticker.advance()
            return legs

        dealt, interrupted = side_by_side([partial(run, first) for first in range(workers)])
    return [leg for legs in dealt for leg in legs], interrupted


def _one_by_one(
    scorer: Scorer,
    chains: int,
    per_chain: int,
    warm_up: int,
    thin: int,
    seed: int,
    refill: Callable[[Scorer, State, np.random.Generator], Scorer],
) -> tuple[list[Leg], bool]:
    legs, every = [], max(1, per_chain * chains // FILLINGS)
    for chain in progress(range(chains), "chains over networks"):
        generator = np.random.default_rng((seed, chain))
        walker = Walker(scorer, _start(scorer, chain, generator), generator, thin)
        states, scores, interrupted, fillings = _with_refills(walker, warm_up, per_chain, refill, generator, every)
        legs.append(Leg(chain, states, scores, walker.moved, fillings))
        if interrupted:
            return legs, True
    return legs, False


@dataclass(eq=False)
class Walker:
    """One chain: where it is, and its random numbers."""

    scorer: Scorer
    words: NDArray[np.uint64]
    generator: np.random.Generator
    thin: int
    moved: int = 0

    def __post_init__(self) -> None:
        self.random = self.generator.integers(2**63, size=1, dtype=np.uint64)

    @property
    def state(self) -> State:
        """The network it is at."""
        return state_of(self.words)

    def walk(self, draws: int, stop: int | None = None) -> tuple[NDArray[np.uint64], NDArray[np.float64], bool]:
        """Go on for so many draws: networks, scores, and whether Ctrl-C came."""
        kept = np.zeros((draws, *self.words.shape), dtype=np.uint64)
        scores = np.full(draws, np.nan)
        moved, interrupted = self.scorer.walk(self.words, self.thin, self.random, kept, scores, stop)
        self.moved += moved
        done = int(np.count_nonzero(~np.isnan(scores)))
        return kept[:done], scores[:done], interrupted


def _with_refills(
    walker: Walker,
    warm_up: int,
    draws: int,
    refill: Callable[[Scorer, State, np.random.Generator], Scorer],
    generator: np.random.Generator,
    every: int,
) -> tuple[NDArray[np.uint64], NDArray[np.float64], bool, list[tuple[State, Rows]]]:
    """One draw at a time, the missing cells drawn anew after each; some of the filled rows are kept."""
    kept = np.zeros((draws, *walker.words.shape), dtype=np.uint64)
    scores = np.zeros(draws)
    fillings: list[tuple[State, Rows]] = []
    draw = -warm_up
    with told_to_stop() as listener, Ticker("networks and missing cells", warm_up + draws) as ticker:
        while draw < draws and not listener.stopped:
            states, heights, _ = walker.walk(1)
            if draw >= 0:
                kept[draw], scores[draw] = states[0], heights[0]
            walker.scorer = refill(walker.scorer, walker.state, generator)
            if draw >= 0 and draw % every == 0:
                fillings.append((walker.state, walker.scorer.rows))
            draw += 1
            ticker.advance()
        done = max(0, draw)
        return kept[:done], scores[:done], listener.stopped, fillings


def _start(scorer: Scorer, chain: int, generator: np.random.Generator, stop: int | None = None) -> NDArray[np.uint64]:
    """Every other chain begins on a hill, the others at random."""
    parents: Parents = scorer.shaken(scorer.rules.required, scorer.nodes, int(generator.integers(2**62)))
    if chain % 2 == 0:
        parents, _, _ = scorer.climb(parents, stop=stop)
    return scorer.sets_of(parents)


def split_half(values: NDArray[np.float64]) -> float:
    """The potential scale reduction of chains cut in two  (Gelman and Rubin): near 1 where they agree."""
    count = values.shape[1]
    half = count // 2
    if half < 2:
        return float("nan")
    parts = np.concatenate([values[:, :half], values[:, half : 2 * half]])
    within = parts.var(axis=1, ddof=1).mean()
    between = half * parts.mean(axis=1).var(ddof=1)
    if within == 0.0:
        return 1.0 if between == 0.0 else float("inf")
    return float(np.sqrt(((half - 1) / half * within + between / half) / within))


def frequencies(chains: Chains) -> Mapping[State, float]:
    """The share of draws of each distinct network, the commonest first."""
    counts = Counter(dict(zip(chains.states, chains.weights.tolist(), strict=True)))
    return dict(counts.most_common())
