"""All directed networks over some variables at once: their sum, the best one, and the probability of each arc.

    score of a network = sum over nodes of log p(node's column | columns of its parents)

Networks are counted by layers: first the nodes without parents, then those with all parents before them and one in the
layer just before, and so on. Each network has one such layering, so nothing is subtracted that was counted twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from platewright.errors import ModelError, SizeError, UnknownName

MOST_NODES = 10
"""The layers of n nodes are 4^n steps."""

Scores = Mapping[str, Mapping[frozenset[str], float]]


@dataclass(frozen=True, eq=False)
class Networks:
    """A log score for each node and each set of parents that it may have; sets left out are not allowed."""

    scores: Scores

    def __post_init__(self) -> None:
        if len(self.scores) > MOST_NODES:
            raise SizeError(f"{len(self.scores)} nodes", expected=f"at most {MOST_NODES} for a sum over all networks")
        for name, found in self.scores.items():
            for parent in frozenset().union(*found):
                if parent not in self.scores or parent == name:
                    raise UnknownName(parent, set(self.scores) - {name}, where=f"parents of {name}")

    @cached_property
    def log_sum(self) -> float:
        """The log of the sum of exp(score) over all networks without a directed cycle."""
        full = (1 << len(self.names)) - 1
        reached: dict[tuple[int, int], float] = {(0, 0): 0.0}
        total = -np.inf
        for done in range(full + 1):  # a set comes after all its subsets
            for layer in _subsets(done):
                before = reached.pop((done, layer), -np.inf)
                if before == -np.inf:
                    continue
                if done == full:
                    total = np.logaddexp(total, before)
                    continue
                joining = [self._joining(node, done, layer) for node in range(len(self.names))]
                for chosen in _subsets(full & ~done):
                    if chosen:
                        step = before + sum(joining[node] for node in _members(chosen))
                        key = (done | chosen, chosen)
                        reached[key] = np.logaddexp(reached.get(key, -np.inf), step)
        return float(total)

    @cached_property
    def best(self) -> tuple[float, dict[str, frozenset[str]]]:
        """The highest score, and a network that has it: the last node takes its best parents among those before it."""
        full = (1 << len(self.names)) - 1
        heights, last = np.full(full + 1, -np.inf), np.zeros(full + 1, dtype=int)
        heights[0] = 0.0
        for done in range(1, full + 1):
            for node in _members(done):
                height = heights[done & ~(1 << node)] + self._highest[node][done & ~(1 << node)][0]
                if height > heights[done]:
                    heights[done], last[done] = height, node
        if heights[full] == -np.inf:
            raise ModelError("every choice of parents has a directed cycle", expected="a node that may have no parents")
        chosen: dict[str, frozenset[str]] = {}
        left = full
        while left:
            node = int(last[left])
            left &= ~(1 << node)
            chosen[self.names[node]] = self._named(self._highest[node][left][1])
        return float(heights[full]), {name: chosen[name] for name in self.names}

    def probability(self, parent: str, child: str) -> float:
        """The probability of an arc, when networks are as likely as their scores say."""
        for name in (parent, child):
            if name not in self.scores:
                raise UnknownName(name, self.scores, where="an arc")
        kept = {above: score for above, score in self.scores[child].items() if parent in above}
        return float(np.exp(replace(self, scores={**self.scores, child: kept}).log_sum - self.log_sum))

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes, in the order of the scores."""
        return tuple(self.scores)

    @cached_property
    def _coded(self) -> list[dict[int, float]]:
        """Scores by node and by the bits of the parents."""
        bit = {name: 1 << number for number, name in enumerate(self.names)}
        return [{sum(bit[p] for p in above): score for above, score in found.items()} for found in self.scores.values()]

    @cached_property
    def _within(self) -> list[np.ndarray]:
        """For each node and set: the log of the sum over its parents within the set."""
        tables = []
        for found in self._coded:
            table = np.full(1 << len(self.names), -np.inf)
            table[list(found)] = list(found.values())
            for number in range(len(self.names)):
                halves = table.reshape(-1, 2, 1 << number)
                halves[:, 1] = np.logaddexp(halves[:, 1], halves[:, 0])
            tables.append(table)
        return tables

    @cached_property
    def _highest(self) -> list[list[tuple[float, int]]]:
        """For each node and set: the best score of parents within the set, and those parents."""
        tables = []
        for found in self._coded:
            table = [(found.get(above, -np.inf), above) for above in range(1 << len(self.names))]
            for above in range(len(table)):
                table[above] = max([table[above], *(table[above & ~(1 << node)] for node in _members(above))])
            tables.append(table)
        return tables

    def _joining(self, node: int, done: int, layer: int) -> float:
        """The log sum over parents among those done of which at least one is in the last layer; at first, none."""
        if not done:
            return self._coded[node].get(0, -np.inf)
        whole, without = self._within[node][done], self._within[node][done & ~layer]
        if not without < whole:
            return -np.inf
        return float(whole + np.log1p(-np.exp(without - whole)))

    def _named(self, code: int) -> frozenset[str]:
        return frozenset(self.names[node] for node in _members(code))


def _members(code: int) -> Iterator[int]:
    node = 0
    while code:
        if code & 1:
            yield node
        code, node = code >> 1, node + 1


def _subsets(code: int) -> Iterator[int]:
    """All subsets of a set of bits, the whole first."""
    part = code
    while True:
        yield part
        if not part:
            return
        part = (part - 1) & code
