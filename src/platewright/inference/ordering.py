"""The order in which variables are eliminated, and what it costs, before anything is computed.

    min-fill       next the variable whose neighbours lack the fewest arcs among themselves
    min-weight     next the variable whose clique has the fewest states
    ties           by clique states, then by the order of writing; further tries break them at random from a fixed seed

Neighbourhoods are bit sets in Python integers, so a step is a few machine words wide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import inf, log2
from random import Random

RESTARTS = 24
WORTH_RESTARTS = 2.0**25
"""From this many table entries on (about a second of arithmetic), other orders are tried."""
MANY = 100
"""Variables with more neighbours are scored by the number of arcs they lack, not by their weights."""
LARGE = 400
"""Networks with more variables get fewer tries: a try takes longer there."""


@dataclass(frozen=True)
class Ordering:
    """Variables to eliminate, first to last, with the total number of table entries on the way."""

    rule: str
    order: tuple[str, ...]
    entries: float
    fills: bool = True
    """Whether arcs had to be added; an order that adds none cannot be improved."""


@dataclass(frozen=True)
class _Problem:
    names: tuple[str, ...]
    weights: tuple[float, ...]
    adjacent: tuple[int, ...]
    kept: int


def choose_ordering(
    scopes: Iterable[Sequence[str]], sizes: Mapping[str, int], keep: Iterable[str] = (), tries: int = RESTARTS
) -> Ordering:
    """The best of several elimination orders for tables with these scopes; variables in `keep` stay."""
    problem = _read(scopes, sizes, frozenset(keep))
    best: Ordering | None = None
    for rule, score in _RULES.items():
        found = _greedy(problem, rule, score, None, inf if best is None else best.entries)
        best = found if best is None or (found and found.entries < best.entries) else best
        if best is not None and not best.fills:
            return best
    assert best is not None
    if best.entries > WORTH_RESTARTS:
        for seed in range(tries if len(problem.names) < LARGE else tries // 2):
            rule = ("min-fill", "weighted min-fill")[seed % 2]
            found = _greedy(problem, f"{rule}, try {seed + 1}", _RULES[rule], Random(seed), best.entries)
            best = found if found and found.entries < best.entries else best
    return best


def _read(scopes: Iterable[Sequence[str]], sizes: Mapping[str, int], keep: frozenset[str]) -> _Problem:
    names = tuple(sizes)
    number = {name: at for at, name in enumerate(names)}
    adjacent = [0] * len(names)
    for scope in scopes:
        mask = 0
        for name in scope:
            mask |= 1 << number[name]
        for name in scope:
            adjacent[number[name]] |= mask
    kept = sum(1 << number[name] for name in keep)
    for at in _members(kept):
        adjacent[at] |= kept
    cleared = tuple(mask & ~(1 << at) for at, mask in enumerate(adjacent))
    return _Problem(names, tuple(log2(sizes[name]) for name in names), cleared, kept)


def _members(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


Score = Callable[[Sequence[int], Sequence[float], int], tuple[float, float]]


def _weight(adjacent: Sequence[int], weights: Sequence[float], at: int) -> float:
    """Log of the number of states of the clique that eliminating a variable makes."""
    return weights[at] + sum(weights[other] for other in _members(adjacent[at]))


def _fill(adjacent: Sequence[int], weights: Sequence[float], at: int) -> tuple[float, float]:
    around = adjacent[at]
    lacking = sum((around & ~adjacent[other]).bit_count() - 1 for other in _members(around))
    return lacking, _weight(adjacent, weights, at)


def _weighted_fill(adjacent: Sequence[int], weights: Sequence[float], at: int) -> tuple[float, float]:
    around = adjacent[at]
    lacking = 0.0
    if around.bit_count() > MANY:
        return _fill(adjacent, weights, at)
    for other in _members(around):
        for third in _members(around & ~adjacent[other] & ~(1 << other)):
            lacking += weights[other] * weights[third]
    return lacking, _weight(adjacent, weights, at)


def _states(adjacent: Sequence[int], weights: Sequence[float], at: int) -> tuple[float, float]:
    return _weight(adjacent, weights, at), 0.0


_RULES: dict[str, Score] = {"min-fill": _fill, "weighted min-fill": _weighted_fill, "min-weight": _states}


def _greedy(problem: _Problem, rule: str, score: Score, random: Random | None, limit: float) -> Ordering | None:
    """One order by repeated best choice; None as soon as it costs more than `limit`."""
    adjacent, weights = list(problem.adjacent), problem.weights
    ranks = list(range(len(weights)))
    if random is not None:
        random.shuffle(ranks)

    def entry(at: int) -> tuple[float, float, int, int]:
        first, second = score(adjacent, weights, at)
        return first, 0.0 if random is not None else second, ranks[at], at

    current = {at: entry(at) for at in range(len(weights)) if not problem.kept >> at & 1}
    heap = list(current.values())
    heapify(heap)
    order: list[str] = []
    entries, fills, stale = 0.0, False, 0
    while current:
        found = heappop(heap) if heap else (inf, 0.0, 0, -1)
        at = found[-1]
        if at >= 0 and current.get(at) != found:
            continue
        if found[0] > 0 and stale:
            # Scores may have fallen. While something fills nothing it goes first whatever the others' scores are.
            heappush(heap, found)
            for changed in _members(stale):
                if changed in current and (fresh := entry(changed)) != current[changed]:
                    current[changed] = fresh
                    heappush(heap, fresh)
            stale = 0
            continue
        del current[at]
        order.append(problem.names[at])
        entries += 2.0 ** min(_weight(adjacent, weights, at), 900.0)
        if entries >= limit:
            return None
        touched, filled = _eliminate(adjacent, at)
        stale |= touched
        fills = fills or filled
    return Ordering(rule, tuple(order), entries, fills)


def _eliminate(adjacent: list[int], at: int) -> tuple[int, bool]:
    """Join the neighbours of a variable and take it away; whose scores may have changed, and whether arcs came."""
    around = adjacent[at]
    touched = around
    filled = False
    for other in _members(around):
        lacking = around & ~adjacent[other] & ~(1 << other)
        adjacent[other] = (adjacent[other] | around) & ~(1 << other) & ~(1 << at)
        if lacking:
            filled = True
            touched |= adjacent[other]
    return touched, filled
