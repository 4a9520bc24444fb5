"""Draws that are not kept: each is added to sums as it comes, and forgotten (online moments, Welford 1962).

    a category:   how often each level was drawn
    a number:     mean and scatter:     mean' = mean + (x - mean) / n,     scatter' = scatter + (x - mean) (x - mean')

A run with `keep=["rate"]` takes memory for the draws of `rate`, and of the others for one row of sums. Draws are added
one after another, so the sums do not depend on how a run is cut into calls.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from platewright.errors import FormatError, ParameterError, UnknownName
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.language.variable import Variable
from platewright.run.door import Expected, admitted

BYTES_IN_A_CALL = 2**24
"""Draws of C that wait for being added up; at least one."""


@dataclass(frozen=True, eq=False)
class Sums:
    """All draws of one unknown by one chain."""

    count: int
    values: Array
    """Of a category its counts [..., level]; of a number mean and scatter [2, ...]."""
    levels: int = 0
    """How many levels a category has; none of a number."""

    @classmethod
    def of(cls, node: Variable, sizes: Mapping[str, int]) -> Sums:
        """Sums of no draw yet."""
        shape = tuple(sizes[axis.plate] for axis in node.axes)
        if levels := levels_of(node, sizes):
            return cls(0, np.zeros((*shape, levels), np.int64), levels)
        return cls(0, np.zeros((2, *shape)))

    def after(self, draws: Array) -> Sums:
        """With some draws more; the first axis numbers them."""
        values, count = self.values.copy(), self.count
        if self.levels:
            flat = values.reshape(-1, self.levels)
            every = np.arange(len(flat))
            for draw in draws:
                flat[every, np.asarray(draw, dtype=np.int64).ravel()] += 1
            return Sums(count + len(draws), values, self.levels)
        for draw in draws:
            count += 1
            off = draw - values[0]
            values[0] += off / count
            values[1] += off * (draw - values[0])
        return Sums(count, values)

    @property
    def mean(self) -> Array:
        """The mean of all draws; of a category that of its codes."""
        if not self.levels:
            return self.values[0]
        return np.asarray(self.values @ np.arange(self.levels) / self.count)

    @property
    def scatter(self) -> Array:
        """The sum of squared deviations from the mean."""
        if not self.levels:
            return self.values[1]
        codes = np.arange(self.levels)
        return np.asarray((self.values * (codes - self.mean[..., None]) ** 2).sum(axis=-1))

    def admitted(self, name: str, count: int, found: Array) -> Sums:
        """The sums of so many draws as a file tells them, looked at."""
        if not self.levels:
            values = admitted(name, found, Expected(self.values.shape))
            if (values[1] < 0).any():
                raise FormatError(f"`{name}` has a scatter below zero"[:80])
            return Sums(count, np.array(values, dtype=float))
        values = np.asarray(admitted(name, found, Expected(self.values.shape, "whole", 0, count)), dtype=np.int64)
        if (values.sum(axis=-1) != count).any():
            raise FormatError(f"`{name}` does not count {count} draws"[:80])
        return Sums(count, values, self.levels)


def levels_of(node: Variable, sizes: Mapping[str, int]) -> int:
    """How many values a discrete unknown can take; none where they are not listed."""
    if not node.domain.is_finite:
        return 0
    return sizes[str(node.domain.levels)] if node.domain.kind == "levels" else node.domain.listed


def merged(chains: Sequence[Sums]) -> Sums:
    """The sums of all chains together (Chan's rule)."""
    total = sum(each.count for each in chains)
    if chains[0].levels:
        return Sums(total, np.asarray(sum(each.values for each in chains)), chains[0].levels)
    mean = np.asarray(sum(each.count * each.values[0] for each in chains)) / total
    scatter = sum(each.values[1] + each.count * (each.values[0] - mean) ** 2 for each in chains)
    return Sums(total, np.stack([mean, np.asarray(scatter)]))


def size_of(chains: Sequence[Sums]) -> Array:
    """About how large the draws are: the root of their mean square."""
    total = merged(chains)
    return np.sqrt(total.mean**2 + total.scatter / total.count)


def not_kept(keep: object, graph: Graph, drawn: Sequence[str]) -> tuple[str, ...]:
    """The unknowns of which no draw is kept: all but those that `keep=` names, and none where it was left out."""
    if keep is None:
        return ()
    if not isinstance(keep, str | Collection):
        raise ParameterError(
            f"keep is {keep!r}"[:80], expected="names of unknowns whose draws are kept, or an empty list"
        )
    names = [keep] if isinstance(keep, str) else list(keep)
    for name in names:
        if name not in drawn:
            raise UnknownName(str(name), drawn, where="keep=")
    return tuple(name for name in graph.nodes if name in drawn and name not in names)


def draws_in_a_call(sums: Mapping[str, Sums]) -> int:
    """How many draws may wait for being added up."""
    each = sum(8 * max(one.values.size // (one.levels or 2), 1) for one in sums.values())
    return max(1, BYTES_IN_A_CALL // each) if each else np.iinfo(np.int64).max
