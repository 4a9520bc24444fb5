"""The order in which variables are eliminated, and what it costs, before anything is computed.

    min-fill       next the variable whose neighbours lack the fewest arcs among themselves
    min-weight     next the variable whose clique has the fewest states
    search         the better fill rule again, every variable's score times a factor of its own; some factors are drawn
                   anew and kept when the order got no worse: a walk through orders that are all sensible

Ties go by clique states, then by the order of writing; the walk has a fixed seed, so two runs find the same order. It
ends when it has gained nothing for as long as the elimination itself would take. Neighbourhoods are bit sets in Python
integers, so a step is a few machine words wide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from math import exp, inf, log2
from random import Random

WORTH_SEARCH = 2.0**24
"""From this many table entries on (about half a second of arithmetic), other orders are tried."""
HOPELESS = 2.0**45
"""From here on no search brings the tables into memory: few tries are made before it is refused."""
FEW = 24
ENTRIES_A_SCORE = 2000.0
"""Table entries that take as long as the score of one variable."""
MOST_SCORES = 4_000_000
"""The search ends after this many scores (about a minute)."""
REDRAWN = 0.05
SPREAD = 1.0
"""The share of factors that a try draws anew, and the standard deviation of their logs."""


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
    """Logs of the numbers of levels."""
    alike: tuple[tuple[float, int], ...]
    """Each weight that occurs, and the set of variables that have it."""
    adjacent: tuple[int, ...]
    open: tuple[int, ...]
    """The variables to eliminate."""


@dataclass(frozen=True)
class _Found:
    order: tuple[int, ...]
    entries: float
    fills: bool
    simplicial: int
    """How many came before the first arc was added."""
    scores: int


def choose_ordering(scopes: Iterable[Sequence[str]], sizes: Mapping[str, int], keep: Iterable[str] = ()) -> Ordering:
    """The best of several elimination orders for tables with these scopes; variables in `keep` stay."""
    problem = _read(scopes, sizes, frozenset(keep))
    found: dict[str, _Found] = {}
    for rule, score in _RULES.items():
        found[rule] = done = _greedy(problem, score)
        if not done.fills:
            break
    best = min(found, key=lambda rule: found[rule].entries)
    chosen = _named(problem, best, found[best])
    if chosen.entries <= WORTH_SEARCH or not chosen.fills:
        return chosen
    start = min(("weighted min-fill", "min-fill"), key=lambda rule: found[rule].entries)
    return _searched(problem, start, found[start], chosen)


def _named(problem: _Problem, rule: str, found: _Found, before: Sequence[int] = (), more: float = 0.0) -> Ordering:
    names = tuple(problem.names[at] for at in (*before, *found.order))
    return Ordering(rule, names, found.entries + more, found.fills)


def _searched(problem: _Problem, rule: str, start: _Found, best: Ordering) -> Ordering:
    """Orders by the same rule with scores multiplied by random factors; the best of them, or `best`."""
    score = _RULES[rule]
    # What adds no arc goes first in every order, whatever the factors are: it is taken away once and for all.
    before = start.order[: start.simplicial]
    rest, spent = _without(problem, before)
    random = Random(0)
    factors = [1.0] * len(problem.names)
    limit = start.entries - spent
    tries = scores = in_vain = 0
    most = MOST_SCORES if best.entries < HOPELESS else FEW * start.scores
    while scores < most and in_vain < best.entries / ENTRIES_A_SCORE:
        tries += 1
        tried = [exp(SPREAD * random.gauss(0, 1)) if random.random() < REDRAWN else old for old in factors]
        found = _greedy(rest, score, tried, limit)
        scores += found.scores
        in_vain += found.scores
        if found.entries > limit:
            continue
        factors, limit = tried, found.entries
        if limit + spent < best.entries:
            in_vain = 0
            best = _named(problem, f"{rule}, try {tries}", found, before, spent)
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
    weights = tuple(log2(sizes[name]) for name in names)
    alike: dict[float, int] = {}
    for at, weight in enumerate(weights):
        alike[weight] = alike.get(weight, 0) | 1 << at
    waiting = tuple(at for at in range(len(names)) if not kept >> at & 1)
    return _Problem(names, weights, tuple(alike.items()), cleared, waiting)


def _without(problem: _Problem, gone: Sequence[int]) -> tuple[_Problem, float]:
    """What is left when some variables were eliminated, and the table entries that took."""
    adjacent = list(problem.adjacent)
    entries = 0.0
    for at in gone:
        entries += _states(problem, adjacent, at)
        _eliminate(adjacent, at)
    left = tuple(at for at in problem.open if at not in set(gone))
    return replace(problem, adjacent=tuple(adjacent), open=left), entries


def _members(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


Score = Callable[[_Problem, Sequence[int], int], float]


def _weight(problem: _Problem, mask: int) -> float:
    """Log of the number of states of some variables."""
    total = 0.0
    for weight, same in problem.alike:
        total += weight * (mask & same).bit_count()
    return total


def _states(problem: _Problem, adjacent: Sequence[int], at: int) -> float:
    """The number of states of the clique that eliminating a variable makes."""
    return 2.0 ** min(_clique_weight(problem, adjacent, at), 900.0)


def _clique_weight(problem: _Problem, adjacent: Sequence[int], at: int) -> float:
    return problem.weights[at] + _weight(problem, adjacent[at])


def _fill(problem: _Problem, adjacent: Sequence[int], at: int) -> float:
    around = left = adjacent[at]
    lacking = 0
    while left:
        low = left & -left
        left ^= low
        lacking += (around & ~adjacent[low.bit_length() - 1]).bit_count() - 1
    return lacking


def _weighted_fill(problem: _Problem, adjacent: Sequence[int], at: int) -> float:
    around = left = adjacent[at]
    weights = problem.weights
    lacking = 0.0
    while left:
        low = left & -left
        left ^= low
        other = low.bit_length() - 1
        if strange := around & ~adjacent[other] & ~low:
            lacking += weights[other] * _weight(problem, strange)
    return lacking


_RULES: dict[str, Score] = {"min-fill": _fill, "weighted min-fill": _weighted_fill, "min-weight": _clique_weight}


def _greedy(problem: _Problem, score: Score, factors: Sequence[float] | None = None, limit: float = inf) -> _Found:
    """One order by repeated best choice; its entries are infinite as soon as they are more than `limit`."""
    adjacent = list(problem.adjacent)
    scores = 0

    def entry(at: int) -> tuple[float, float, int]:
        nonlocal scores
        scores += 1
        if factors is not None:
            return score(problem, adjacent, at) * factors[at], factors[at], at
        return score(problem, adjacent, at), _clique_weight(problem, adjacent, at), at

    current = {at: entry(at) for at in problem.open}
    heap = list(current.values())
    heapify(heap)
    order: list[int] = []
    entries, simplicial, stale = 0.0, None, 0
    while current:
        found = heappop(heap) if heap else (inf, 0.0, -1)
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
        entries += _states(problem, adjacent, at)
        if entries > limit:
            return _Found((), inf, True, 0, scores)
        touched, filled = _eliminate(adjacent, at)
        if filled and simplicial is None:
            simplicial = len(order)
        order.append(at)
        stale |= touched
    fills = simplicial is not None
    return _Found(tuple(order), entries, fills, simplicial if simplicial is not None else len(order), scores)


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
