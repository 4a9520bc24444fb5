"""Evidence by listing all values of the discrete unknowns: the exact log evidence of each, then the log of their sum.

Labels that the model cannot tell apart are listed once: of all relabellings of an assignment the one in which labels
appear in order stands for the others, with their number as its weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from platewright.family import Array

MOST_ASSIGNMENTS = 10_000
"""The most assignments of hidden values that are listed."""
COUNTLESS = 10**18
"""Larger numbers are not worked out."""


@dataclass(frozen=True)
class Listing:
    """The cells to fill, each with its values, and how many assignments there are."""

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    levels: tuple[int, ...]
    together: tuple[tuple[str, ...], ...]
    """Variables whose labels may be exchanged, all of a plate at once, without a change of the evidence."""
    given: dict[str, Array]
    """Values of variables that are known in part; minus one where a cell is missing."""

    def open_cells(self, name: str) -> list[tuple[str, int]]:
        """The cells of a variable that have to be filled."""
        shape = self.shapes[self.names.index(name)]
        known = np.ravel(self.given[name]) if name in self.given else np.full(prod(shape, start=1), -1)
        return [(name, int(at)) for at in np.flatnonzero(known < 0)]

    @property
    def total(self) -> int:
        """The number of assignments, relabellings counted apart."""
        return prod(levels ** len(self.open_cells(name)) for name, levels in zip(self.names, self.levels, strict=True))

    @property
    def count(self) -> int:
        """The number of assignments that are listed."""
        cells = self.cells()
        return prod(
            orbits(len(found), levels) if exchanged else levels ** len(found) for levels, found, exchanged in cells
        )

    def cells(self) -> list[tuple[int, list[tuple[str, int]], bool]]:
        """The number of levels of cells, the cells, and whether their labels may be exchanged."""
        levels = dict(zip(self.names, self.levels, strict=True))
        found = []
        for group in self.together:
            members = [name for name in self.names if name in group]
            found.append((levels[members[0]], [cell for name in members for cell in self.open_cells(name)], True))
        taken = {name for group in self.together for name in group}
        return found + [(levels[name], self.open_cells(name), False) for name in self.names if name not in taken]

    def assignments(self) -> Iterator[tuple[dict[str, Array], float]]:
        """Each assignment with the log of the number of relabellings that it stands for."""
        cells = self.cells()
        spaces = [
            in_order(levels, len(members)) if exchanged else every(levels, len(members))
            for levels, members, exchanged in cells
        ]
        shapes = dict(zip(self.names, self.shapes, strict=True))
        for chosen in product(*(list(space) for space in spaces)):
            flat = {name: self.begun(name, shape) for name, shape in shapes.items()}
            weight = 0.0
            for (_, members, _), (values, log_weight) in zip(cells, chosen, strict=True):
                weight += log_weight
                for (name, at), value in zip(members, values, strict=True):
                    flat[name][at] = value
            yield {name: flat[name].reshape(shape) for name, shape in shapes.items()}, weight

    def begun(self, name: str, shape: tuple[int, ...]) -> Array:
        """What is known of a variable, flat."""
        known = np.ravel(self.given[name]) if name in self.given else np.zeros(prod(shape, start=1))
        return np.array(known, dtype=np.int64)


def every(levels: int, count: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """All assignments, each with the log weight zero."""
    for values in product(range(levels), repeat=count):
        yield values, 0.0


def in_order(levels: int, count: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Assignments in which each label comes first after all smaller ones, and the log number of their relabellings."""

    def grow(values: tuple[int, ...], used: int) -> Iterator[tuple[tuple[int, ...], float]]:
        if len(values) == count:
            yield values, float(np.sum(np.log(np.arange(levels, levels - used, -1))))
            return
        for value in range(min(used + 1, levels)):
            yield from grow((*values, value), max(used, value + 1))

    yield from grow((), 0)


def orbits(count: int, levels: int) -> int:
    """How many assignments with labels in order there are: ways to part `count` cells into at most `levels` sets."""
    ways = [1] + [0] * levels
    for _ in range(count):
        if sum(ways) > COUNTLESS:
            break
        ways = [0, *(used * ways[used] + ways[used - 1] for used in range(1, levels + 1))]
    return sum(ways)


def enumerated(listed: Listing, log_evidence: Callable[..., float]) -> float:
    """The log of the sum over all assignments."""
    logs = [weight + log_evidence(values) for values, weight in listed.assignments()]
    return float(np.logaddexp.reduce(np.sort(logs)))
