"""The rows of a picture: directed arcs go down, undirected neighbours stay together.

    a   b            row 0
     \\ /
      c - d - e      row 1: one unit, moved as a whole
          |
          f          row 2

A unit is an undirected component (Buntine's chain component), most often a single node. Arcs between units are put in
rows by the longest path; an arc that would close a cycle is left out of the count and may be drawn upwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from platewright.drawing.lattice import lattice_cells
from platewright.drawing.picture import Picture


@dataclass(frozen=True)
class Skeleton:
    """A picture in numbers: nodes by index, plates as sets of indices, and the units that share their rows."""

    count: int
    plates: tuple[frozenset[int], ...]
    arcs: tuple[tuple[int, int], ...]
    downward: tuple[tuple[int, int], ...]
    units: tuple[tuple[int, ...], ...]
    columns: tuple[int, ...]
    rows: tuple[int, ...]
    twins: tuple[tuple[int, int], ...]


def skeleton_of(picture: Picture) -> Skeleton:
    """The numbers of a checked picture, with the rows of the longest path."""
    index = {node.name: position for position, node in enumerate(picture.nodes)}
    count = len(picture.nodes)
    arcs = tuple((index[arc.source], index[arc.target]) for arc in picture.arcs)
    directed = [arc for arc, drawn in zip(arcs, picture.arcs, strict=True) if drawn.directed]
    neighbours: dict[int, list[int]] = {node: [] for node in range(count)}
    for (source, target), drawn in zip(arcs, picture.arcs, strict=True):
        if not drawn.directed:
            neighbours[source].append(target)
            neighbours[target].append(source)
    units = undirected_components(count, neighbours)
    cells: dict[int, tuple[int, int]] = {}
    for unit in units:
        cells |= lattice_cells(unit, neighbours)
    unit_of = {node: number for number, unit in enumerate(units) for node in unit}
    downward = acyclic_arcs(directed, unit_of, len(units))
    bases = longest_paths(downward, unit_of, cells, len(units))
    rows = tuple(bases[unit_of[node]] + cells[node][0] for node in range(count))
    plates = tuple(
        frozenset(index[node.name] for node in picture.nodes if plate.name in node.plates) for plate in picture.plates
    )
    return Skeleton(
        count=count,
        plates=plates,
        arcs=arcs,
        downward=tuple(downward),
        units=units,
        columns=tuple(cells[node][1] for node in range(count)),
        rows=rows,
        twins=tuple(
            (first, second)
            for first, second in combinations(range(count), 2)
            if rows[first] == rows[second] and are_twins(first, second, downward, plates)
        ),
    )


def are_twins(first: int, second: int, downward: Sequence[tuple[int, int]], plates: Sequence[frozenset[int]]) -> bool:
    """Whether two nodes share a parent and all plates, so that they belong side by side."""
    if any((first in members) != (second in members) for members in plates):
        return False
    first_parents = {source for source, target in downward if target == first}
    return any(source in first_parents for source, target in downward if target == second)


def undirected_components(count: int, neighbours: dict[int, list[int]]) -> tuple[tuple[int, ...], ...]:
    """Nodes joined by undirected arcs, in declared order."""
    seen: set[int] = set()
    units = []
    for start in range(count):
        if start in seen:
            continue
        unit = {start}
        waiting = [start]
        while waiting:
            for other in neighbours[waiting.pop()]:
                if other not in unit:
                    unit.add(other)
                    waiting.append(other)
        seen |= unit
        units.append(tuple(sorted(unit)))
    return tuple(units)


def acyclic_arcs(directed: list[tuple[int, int]], unit_of: dict[int, int], count: int) -> list[tuple[int, int]]:
    """The arcs between units, less those that would close a cycle with earlier ones."""
    reached: list[set[int]] = [{unit} for unit in range(count)]
    kept = []
    for source, target in directed:
        above, below = unit_of[source], unit_of[target]
        if above in reached[below]:
            continue
        kept.append((source, target))
        for unit in range(count):
            if above in reached[unit]:
                reached[unit] |= reached[below]
    return kept


def longest_paths(
    downward: list[tuple[int, int]], unit_of: dict[int, int], cells: dict[int, tuple[int, int]], count: int
) -> list[int]:
    """The first row of each unit: every arc goes down by one row or more."""
    bases = [0] * count
    changed = True
    while changed:
        changed = False
        for source, target in downward:
            needed = bases[unit_of[source]] + cells[source][0] + 1 - cells[target][0]
            if bases[unit_of[target]] < needed:
                bases[unit_of[target]] = needed
                changed = True
    return bases
