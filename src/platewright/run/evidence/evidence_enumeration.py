"""Evidence by listing all values of the discrete unknowns: the exact log evidence of each, then the log of their sum.

Labels that the model cannot tell apart are listed once: of all relabellings of an assignment the one in which labels
appear in order stands for the others, with their number as its weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from platewright.errors import SizeError
from platewright.family import Array
from platewright.operations.split_partly_known import observed_name, seen_name
from platewright.recognition.exchangeable import Symmetry, find_symmetries
from platewright.run.evidence.evidence import Evidence
from platewright.run.evidence.evidence_given import evidence_given
from platewright.schemas.evidence import EvidencePlan

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
    symmetries: tuple[Symmetry, ...]
    """Groups that exchange all labels of a plate."""
    given: Mapping[str, Array]
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
        found = prod(levels ** len(members) for levels, members, symmetry in cells if symmetry is None)
        for levels, members, symmetry in cells:
            if symmetry is not None:
                found *= _orbits(len(members), levels)
        return found

    def cells(self) -> list[tuple[int, list[tuple[str, int]], Symmetry | None]]:
        """Cells grouped by the symmetry that moves their labels; those without one by variable."""
        found: list[tuple[int, list[tuple[str, int]], Symmetry | None]] = []
        taken: set[str] = set()
        for symmetry in self.symmetries:
            members = [cell for name in self.names if name in symmetry.levelled for cell in self.open_cells(name)]
            taken |= set(symmetry.levelled)
            found.append((symmetry.size, members, symmetry))
        for name, levels in zip(self.names, self.levels, strict=True):
            if name not in taken:
                found.append((levels, self.open_cells(name), None))
        return found

    def assignments(self) -> Iterator[tuple[dict[str, Array], float]]:
        """Each assignment with the log of the number of relabellings that it stands for."""
        cells = self.cells()
        spaces = [
            _every(levels, len(members)) if symmetry is None else _in_order(levels, len(members))
            for levels, members, symmetry in cells
        ]
        shapes = dict(zip(self.names, self.shapes, strict=True))
        for chosen in product(*(list(space) for space in spaces)):
            flat = {name: self._begun(name, shape) for name, shape in shapes.items()}
            weight = 0.0
            for (_, members, _), (values, log_weight) in zip(cells, chosen, strict=True):
                weight += log_weight
                for (name, at), value in zip(members, values, strict=True):
                    flat[name][at] = value
            yield {name: flat[name].reshape(shape) for name, shape in shapes.items()}, weight

    def _begun(self, name: str, shape: tuple[int, ...]) -> Array:
        """What is known of a variable, flat."""
        known = np.ravel(self.given[name]) if name in self.given else np.zeros(prod(shape, start=1))
        return np.array(known, dtype=np.int64)


def _every(levels: int, count: int) -> Iterator[tuple[tuple[int, ...], float]]:
    for values in product(range(levels), repeat=count):
        yield values, 0.0


def _in_order(levels: int, count: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Assignments in which each label comes first after all smaller ones, and the log number of their relabellings."""

    def grow(values: tuple[int, ...], used: int) -> Iterator[tuple[tuple[int, ...], float]]:
        if len(values) == count:
            yield values, float(np.sum(np.log(np.arange(levels, levels - used, -1))))
            return
        for value in range(min(used + 1, levels)):
            yield from grow((*values, value), max(used, value + 1))

    yield from grow((), 0)


def _orbits(count: int, levels: int) -> int:
    """How many assignments with labels in order there are: ways to part `count` cells into at most `levels` sets."""
    ways = [1] + [0] * levels
    for _ in range(count):
        if sum(ways) > COUNTLESS:
            break
        ways = [0, *(used * ways[used] + ways[used - 1] for used in range(1, levels + 1))]
    return sum(ways)


def listing(plan: EvidencePlan, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> Listing:
    """What enumeration would list on given data."""
    nodes = plan.graph.nodes
    shapes = tuple(tuple(sizes[axis.plate] for axis in nodes[name].axes) for name in plan.hidden)
    levels = tuple(
        sizes[str(node.domain.levels)] if node.domain.kind == "levels" else int(node.domain.upper) + 1
        for node in (nodes[name] for name in plan.hidden)
    )
    found = find_symmetries(plan.graph, plan.factors, sizes)
    whole = tuple(symmetry for symmetry in found if len(symmetry.classes) == 1 and symmetry.order > 1
                  and len(symmetry.classes[0]) == symmetry.size)  # fmt: skip
    given = {
        name: np.where(columns[observed_name(name)] != 0, columns[seen_name(name)], -1)
        for name in plan.hidden
        if seen_name(name) in columns
    }
    return Listing(plan.hidden, shapes, levels, whole, given)


def shown_count(count: int) -> str:
    """A number in full while it can be read, else its size."""
    return f"{count:,}" if count <= COUNTLESS else "more than 10^18"


def enumerated(
    plan: EvidencePlan, columns: Mapping[str, Array], sizes: Mapping[str, int], *, most: int = MOST_ASSIGNMENTS
) -> Evidence:
    """The evidence by enumeration; refused where there are too many assignments."""
    listed = listing(plan, columns, sizes)
    if listed.count > most:
        raise SizeError(
            f"{shown_count(listed.count)} assignments of {', '.join(plan.hidden)} would have to be listed",
            expected=f"at most {most:,}",
            hint='by="chib" or by="annealed", which estimate the evidence; most= raises the limit',
        )
    log_evidence = evidence_given(plan, columns, sizes)
    logs = [weight + log_evidence(values) for values, weight in listed.assignments()]
    detail = f"{listed.count:,} assignments of {', '.join(plan.hidden)}"
    if listed.count != listed.total:
        detail += f", which stand for {listed.total:,} relabelled ones"
    return Evidence(float(np.logaddexp.reduce(np.sort(logs))), "enumeration", 0.0, detail, plan.proper)
