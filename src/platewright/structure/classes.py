"""Search over Markov equivalence classes: greedy equivalence search (Chickering, 2002).

    class      arcs a -> b that all its networks share, and lines a - b that some of them turn
    insert     x -> y for nodes not joined, where lines t - y become t -> y; N = neighbours of y joined with x
               gain = s(y | N, T, parents, x) - s(y | N, T, parents), if N and T are a clique that blocks
               all ways from y to x
    delete     the arc or line from x to y, where lines h - y become y -> h
               gain = s(y | N - H, parents without x) - s(y | N - H, parents, x), if N without H is a clique

Inserts are made while one gains, then deletes, and both again until neither does. Every gain is one difference of local
scores, for scores that are the same for all networks of a class. The moves are made in C (`native/classes.c`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from platewright.structure.moves import State, state_of
from platewright.structure.native_library import LEAST_GAIN, interruptible
from platewright.structure.rules import members
from platewright.structure.scorer import Scorer
from platewright.structure.searching import Found

MOST_TURNS = 4096
Masks = tuple[int, ...]


@dataclass(frozen=True)
class EquivalenceClass:
    """All networks with the same skeleton and colliders, as one graph of arcs and lines."""

    above: Masks
    """Nodes with an arc into each."""
    near: Masks
    """Nodes with a line to each."""


def search_classes(scorer: Scorer) -> Found:
    """The network of the class that inserts and deletes lead to from no arc at all."""
    library, opened = scorer.held["library"], scorer.held["scorer"]
    sets = scorer.sets_of((frozenset(),) * scorer.nodes)
    height = sum(scorer.local(node, 0) for node in range(scorer.nodes))
    trace, interrupted, begin = [height], False, -np.inf
    while height > begin + LEAST_GAIN and not interrupted:
        begin = height
        for inserting in (1, 0):
            gained, stopped = interruptible(partial(library.climb_classes, opened, sets.ctypes.data, inserting))
            height += scorer.checked(gained)
            interrupted = interrupted or stopped
            trace.append(height)
    parents = tuple(frozenset(members(above)) for above in state_of(sets))
    return Found(parents, height, tuple(trace), interrupted)


def class_of(scorer: Scorer, state: State) -> EquivalenceClass:
    """The class of a network: arcs into colliders whose parents are not joined, and what these force (Meek, 1995)."""
    sets = scorer.sets_of(tuple(frozenset(members(above)) for above in state))
    above, near = np.empty_like(sets), np.empty_like(sets)
    scorer.held["library"].class_of(scorer.nodes, *(found.ctypes.data for found in (sets, above, near)))
    return EquivalenceClass(state_of(above), state_of(near))


def turns_of(scorer: Scorer, state: State, x: int, y: int, inserting: bool) -> list[tuple[float, State]]:
    """What each move of one pair gains, and a network of the class that it leads to."""
    sets = scorer.sets_of(tuple(frozenset(members(above)) for above in state))
    made = np.zeros((MOST_TURNS, *sets.shape), dtype=np.uint64)
    gains = np.zeros(MOST_TURNS)
    library, opened = scorer.held["library"], scorer.held["scorer"]
    where = (made.ctypes.data, gains.ctypes.data)
    count = library.turns_of(opened, sets.ctypes.data, x, y, int(inserting), MOST_TURNS, *where)
    return [(float(gains[k]), state_of(made[k])) for k in range(count)]
