"""Searches over networks: climb, then leave the hill again and again, and keep the best.

steps    single arcs added, removed and reversed, from the empty network; then from kicks of the best network (some
         arcs changed at random), and what is found is kept where it is no worse
orders   the same, and every second time the best order of the nodes is searched before the arcs
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from platewright.run.heard import told_to_stop
from platewright.run.ticking import progress
from platewright.structure.native_library import side_by_side
from platewright.structure.network import Network
from platewright.structure.rules import bits
from platewright.structure.scorer import Parents, Scorer

MEMORY = 100
"""How many networks a search by arcs does not go back to."""
PATIENCE = 60
"""How many steps it goes on without a new best."""
NEAR = 1 / 500
"""Beginnings that end so near to each other, as a share of what arcs gain in all, say that the hill is an easy one."""
LIGHTEST, HEAVIEST = 3, 15
"""How many arcs a kick changes."""


@dataclass(frozen=True)
class Found:
    """The best network of a search and the best score after each round."""

    parents: Parents
    score: float
    trace: tuple[float, ...]
    interrupted: bool = False


@dataclass(frozen=True, eq=False)
class Worker:
    """Scores, and the grow-shrink trees of a search over orders, of one thread."""

    scorer: Scorer
    forest: int | None = None

    def improved(self, begin: Parents, order: NDArray[np.int64] | None, tabu: bool, stop: int) -> tuple[Parents, float]:
        """Where an order, if one is given, and then arcs lead to."""
        if order is not None and self.forest is not None:
            begin, _, _ = self.scorer.best_order(self.forest, order, stop)
        memory, patience = (MEMORY, PATIENCE) if tabu else (0, 0)
        parents, score, _ = self.scorer.climb(begin, memory, patience, stop)
        return parents, score


def search_orders(
    scorer: Scorer,
    generator: np.random.Generator,
    rounds: int,
    starts: Sequence[Parents] = (),
    workers: int = 1,
    may_end: bool = False,
) -> Found:
    """Orders and arcs in turn, from the best of what arcs lead to from nothing and from other starts.

    With `may_end` there are no more rounds where these lead to nearly the same score.
    """
    crew = [Worker(own, own.open_forest()) for own in _scorers(scorer, workers)]
    try:
        return _kicked(crew, generator, rounds, True, starts, may_end)
    finally:
        for worker in crew:
            worker.scorer.close_forest(worker.forest or 0)


def search_steps(scorer: Scorer, generator: np.random.Generator, rounds: int, tabu: bool, workers: int = 1) -> Found:
    """Arcs alone; with `tabu` a climb goes on downhill for a while."""
    return _kicked([Worker(own) for own in _scorers(scorer, workers)], generator, rounds, tabu)


def _scorers(scorer: Scorer, workers: int) -> list[Scorer]:
    return [scorer, *(replace(scorer, held={}) for _ in range(workers - 1))]


def _kicked(
    crew: Sequence[Worker],
    generator: np.random.Generator,
    rounds: int,
    tabu: bool,
    starts: Sequence[Parents] = (),
    may_end: bool = False,
) -> Found:
    """Improve, kick, improve, as many at a time as there are workers; Ctrl-C ends it with the best so far."""
    first = crew[0].scorer
    with told_to_stop() as listener:
        found: list[tuple[Parents, float]] = []
        for start in [first.rules.required, *starts]:
            if not found or not listener.stopped:
                found += side_by_side([partial(crew[0].improved, start, None, tabu)])[0]
        best, height = max(found, key=lambda pair: pair[1])
        trace = [height]
        nothing = sum(first.local(node, bits(above)) for node, above in enumerate(first.rules.required))
        near = height - min(score for _, score in found) <= NEAR * (height - nothing)
        numbers = range(1, 1 if may_end and len(found) > 1 and near else rounds)
        batches = [numbers[at : at + len(crew)] for at in range(0, len(numbers), len(crew))]
        for batch in progress(batches, "search over networks"):
            if listener.stopped:
                break
            works = []
            for worker, number in zip(crew, batch, strict=False):
                begin, order = best, None
                if number > 1:
                    kick = int(generator.integers(LIGHTEST, HEAVIEST)), int(generator.integers(2**62))
                    begin = first.shaken(best, *kick)
                if worker.forest is not None and number % 2:
                    order = topological(first.rules.required if number % 4 == 3 else begin, generator)
                works.append(partial(worker.improved, begin, order, tabu))
            for parents, score in side_by_side(works)[0]:
                if score >= height - 1e-9:
                    best, height = parents, max(score, height)
                trace.append(height)
        return Found(best, height, tuple(trace), listener.stopped)


def topological(parents: Parents, generator: np.random.Generator) -> NDArray[np.int64]:
    """A random order in which parents come before their children."""
    names = tuple(str(number) for number in generator.permutation(len(parents)))
    arcs = {(str(parent), str(child)) for child, above in enumerate(parents) for parent in above}
    return np.array([int(name) for name in Network(names, frozenset(arcs)).order], dtype=np.int64)
