"""Search where cells are missing or nodes hidden: structural EM, its expectations taken over drawn fillings.

    E   missing cells are drawn several times from their predictive under the network of the moment
    M   the network is searched on all fillings together, each row counting for its share

A hidden node starts as the parent of everything that it may be a parent of, or nothing would ever hang on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from platewright.run.heard import Listener, told_to_stop
from platewright.run.ticking import progress
from platewright.structure.best import Best, named
from platewright.structure.columns import Rows
from platewright.structure.incomplete_evidence import Estimate, estimated_evidence
from platewright.structure.missing_cells import first_filling, refilled
from platewright.structure.scorer import Parents, Scorer
from platewright.structure.searching import search_orders

FILLINGS = 3
ROUNDS = 8
SWEEPS = 3
FIRST_SWEEPS = 25


@dataclass(frozen=True, eq=False, repr=False)
class Incomplete(Best):
    """The best network that was found for rows with missing cells; its evidence is estimated from draws."""

    missing_from: Rows | None = None
    seed: int = 0

    @property
    def rows(self) -> Rows:
        """The cells as they were given."""
        assert self.missing_from is not None
        return self.missing_from

    @cached_property
    def estimate(self) -> Estimate:
        """The log evidence and the standard error of its estimate."""
        return estimated_evidence(self.rows, self.parents, self.scorer, np.random.default_rng(self.seed))

    @property
    def log_evidence(self) -> float:
        """`log p(the cells that are there | network)`, by Chib's estimate."""
        return self.estimate.value

    def __repr__(self) -> str:
        holes = int(self.rows.missing.sum())
        return f"{self.graph}\n{len(self.graph.arcs)} arcs, {holes} cells missing"


def search_incomplete(
    rows: Rows, scorer: Scorer, seed: int, listener: Listener, rounds: int = ROUNDS
) -> tuple[Parents, tuple[float, ...]]:
    """The network after some rounds of structural EM, fewer after Ctrl-C; `scorer` holds a first filling."""
    generator = np.random.default_rng(seed)
    missing = rows.missing
    fillings = [first_filling(rows, generator) for _ in range(FILLINGS)]
    parents = first_network(rows, scorer)
    trace = []
    if any(parents):
        # all fillings go on from one, so that the levels of hidden nodes mean the same in each
        whole = fillings[0]
        whole = refilled(whole, missing, parents, scorer.evidence, scorer.centres, generator, FIRST_SWEEPS)
        fillings = [whole] * FILLINGS
    for _ in progress(range(rounds), "structural EM"):
        fillings = [
            refilled(filling, missing, parents, scorer.evidence, scorer.centres, generator, SWEEPS)
            for filling in fillings
        ]
        if listener.stopped:
            break
        stacked = rows.with_cells(
            np.concatenate([filling.codes for filling in fillings], axis=1),
            np.concatenate([filling.values for filling in fillings], axis=1),
        )
        found = search_orders(replace(scorer, rows=stacked, share=1.0 / FILLINGS, held={}), generator, 2)
        parents = found.parents
        trace.append(found.score)
    return parents, tuple(trace)


def first_network(rows: Rows, scorer: Scorer) -> Parents:
    """What is required, and every hidden node the parent of all that it may be a parent of."""
    hidden = {node for node, column in enumerate(rows.columns) if column.hidden}
    above = []
    for node, (must, may) in enumerate(zip(scorer.rules.required, scorer.rules.allowed, strict=True)):
        wanted = must | (may & hidden if node not in hidden else frozenset())
        above.append(wanted if len(wanted) <= scorer.rules.most else must)
    return tuple(above)


def incomplete_best(
    names: tuple[str, ...], rows: Rows, scorer: Scorer, make_model: object, seed: int, restarts: int
) -> Incomplete:
    """The best over restarts: by evidence where nodes are hidden and more than one network is found.

    Ctrl-C keeps the best so far, once a round of structural EM is over.
    """
    best: Incomplete | None = None
    with told_to_stop() as listener:
        for start in range(restarts if any(column.hidden for column in rows.columns) else 1):
            parents, trace = search_incomplete(rows, scorer, seed + start, listener)
            if listener.stopped and (best is not None or not trace):
                break
            made = Incomplete(named(names, parents), scorer, make_model, False, trace, False, rows, seed)  # type: ignore[arg-type]
            if best is None or made.log_evidence > best.log_evidence:
                best = made
    if best is None:
        raise KeyboardInterrupt
    return replace(best, interrupted=True) if listener.stopped else best
