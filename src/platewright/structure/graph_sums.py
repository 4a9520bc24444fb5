"""Sums and maxima over all networks at once, by dynamic programming over sets of nodes  (Section 8.3, exactly).

    log sum over networks of p(data | network) p(network)         and the probability of each arc

The best network takes 2^n n steps (Silander and Myllymaki), the sum over directed acyclic graphs 3^n with signs; no
order of the nodes is counted, so a prior that is uniform over networks stays so.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.errors import ModelError, SizeError
from platewright.structure.native_library import interruptible
from platewright.structure.rules import ArcPrior, Rules, members
from platewright.structure.scorer import MOST_ENUMERATED, Parents, sums

Table = NDArray[np.float64]
"""Scores by node and by the bits of the parents, without the node's own bit."""


@dataclass(frozen=True, eq=False)
class GraphSums:
    """What follows from the local scores of all nodes with all allowed parents."""

    scores: Table

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.scores)

    @cached_property
    def _heights(self) -> tuple[NDArray[np.float64], Parents]:
        count = self.nodes
        score, taken = self.scores.copy(), np.empty(self.scores.shape, dtype=np.uint32)
        heights, last = np.empty(1 << count), np.empty(1 << count, dtype=np.int8)
        sums().best_networks(count, *(found.ctypes.data for found in (score, taken, heights, last)))
        left = (1 << count) - 1
        if heights[left] == -np.inf:
            raise ModelError("every choice of parents has a directed cycle", expected="a network that the rules allow")
        above = [frozenset[int]()] * count
        while left:
            node = int(last[left])
            left &= ~(1 << node)
            above[node] = frozenset(members(widened(int(taken[node, squeezed(left, node)]), node)))
        return heights, tuple(above)

    @property
    def best(self) -> tuple[float, Parents]:
        """The highest score, and a network that has it: the last node takes its best parents among the others."""
        heights, parents = self._heights
        return float(heights[-1]), parents

    @property
    def log_sum(self) -> float:
        """The log of the sum of exp(score) over all networks."""
        return self._summed[0]

    @property
    def arcs(self) -> NDArray[np.float64]:
        """The probability of each arc [parent, child], when networks are as probable as their scores say."""
        return self._summed[1]

    @cached_property
    def _summed(self) -> tuple[float, NDArray[np.float64]]:
        return summed(self.scores, self._heights[0], with_arcs=True)


def summed(scores: Table, heights: NDArray[np.float64], with_arcs: bool) -> tuple[float, NDArray[np.float64]]:
    """The log sum over all networks, and the probability of each arc; Ctrl-C ends it."""
    count, log_sum = len(scores), np.zeros(1)
    arcs = np.zeros((count, count))
    where: Any = arcs.ctypes.data if with_arcs else None
    given = (scores.ctypes.data, heights.ctypes.data, log_sum.ctypes.data, where)
    bad, interrupted = interruptible(lambda stop: sums().sum_networks(count, *given, stop))
    if interrupted:
        raise KeyboardInterrupt
    if bad:
        raise SizeError("the sums over all networks did not fit into memory", expected="fewer nodes")
    return float(log_sum[0]), np.clip(arcs, 0.0, 1.0)


def squeezed(code: int, node: int) -> int:
    """Bits of a set without the place of one node."""
    low = (1 << node) - 1
    return (code & low) | ((code >> 1) & ~low)


def widened(code: int, node: int) -> int:
    """The way back."""
    low = (1 << node) - 1
    return (code & low) | ((code & ~low) << 1)


def log_prior_total(rules: Rules, prior: ArcPrior) -> float:
    """The log of the sum over all allowed networks of odds^arcs: what makes the prior add up to one."""
    count = len(rules.allowed)
    if all(len(found) == count - 1 for found in rules.allowed) and not any(rules.required):
        return log_symmetric_total(count, rules.most, prior.log_odds)
    if count > MOST_ENUMERATED:
        raise SizeError(f"the networks over {count} nodes under rules are not counted", expected="fewer nodes")
    sets = np.arange(1 << (count - 1), dtype=np.int64)
    sizes = np.bitwise_count(sets)
    scores = np.empty((count, len(sets)))
    for node, (may, must) in enumerate(zip(*rules.masks, strict=True)):
        may, must = squeezed(may, node), squeezed(must, node)
        permitted = (sets & ~may == 0) & (must & ~sets == 0) & (sizes <= rules.most)
        scores[node] = np.where(permitted, sizes * prior.log_odds, -np.inf)
    found = GraphSums(scores)
    return summed(scores, found._heights[0], with_arcs=False)[0]


def log_symmetric_total(nodes: int, most: int, log_odds: float) -> float:
    """The same where all nodes are alike, by how many there are  (Robinson, 1973), in exact fractions.

    >>> round(float(np.exp(log_symmetric_total(4, 3, 0.0))))
    543
    """
    odds = Fraction(exp(log_odds))
    choices = [sum(comb(size, k) * odds**k for k in range(min(size, most) + 1)) for size in range(nodes + 1)]
    totals = [Fraction(1)]
    for size in range(1, nodes + 1):
        terms = (
            (-1) ** (last + 1) * comb(size, last) * choices[size - last] ** last * totals[size - last]
            for last in range(1, size + 1)
        )
        totals.append(sum(terms, Fraction(0)))
    whole = totals[nodes]
    return _log_of(whole.numerator) - _log_of(whole.denominator)


def _log_of(whole: int) -> float:
    shift = max(0, whole.bit_length() - 1000)
    return log(whole >> shift) + shift * log(2.0)
