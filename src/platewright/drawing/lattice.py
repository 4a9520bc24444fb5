"""Rows and columns for one undirected component, so that a field of neighbours is drawn as one.

    a - b - c            (0,0) (0,1) (0,2)
    |   |   |    ->
    d - e - f            (1,0) (1,1) (1,2)

With `near` and `far` two corners at distance D, a node at distances p and q from them lies in row (p + q - D) / 2 and
column (p - q + D) / 2. When no pair of corners gives every arc length one, rows are distances from the first node.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import combinations

Neighbours = Mapping[int, Sequence[int]]
MOST_CORNERS = 12


def lattice_cells(component: Sequence[int], neighbours: Neighbours) -> dict[int, tuple[int, int]]:
    """The (row, column) of each node of an undirected component; a path is one row, a grid is a grid."""
    fewest = min(len(neighbours[node]) for node in component)
    corners = [node for node in component if len(neighbours[node]) == fewest][:MOST_CORNERS]
    found = [cells for pair in combinations(corners, 2) if (cells := exact_cells(component, neighbours, *pair))]
    if not found:
        return distance_cells(component, neighbours)
    return min(found, key=lambda cells: max(row for row, _ in cells.values()))


def exact_cells(
    component: Sequence[int], neighbours: Neighbours, near: int, far: int
) -> dict[int, tuple[int, int]] | None:
    """The cells measured from two corners; none when two nodes meet or an arc is not of length one."""
    from_near = distances(near, neighbours)
    from_far = distances(far, neighbours)
    apart = from_near[far]
    cells = {}
    for node in component:
        row, odd = divmod(from_near[node] + from_far[node] - apart, 2)
        if odd:
            return None
        cells[node] = (row, from_near[node] - row)
    if len(set(cells.values())) < len(cells):
        return None
    for node in component:
        for other in neighbours[node]:
            if abs(cells[node][0] - cells[other][0]) + abs(cells[node][1] - cells[other][1]) != 1:
                return None
    return cells


def distance_cells(component: Sequence[int], neighbours: Neighbours) -> dict[int, tuple[int, int]]:
    """Rows by distance from the first node, columns in order of discovery."""
    columns: dict[int, int] = {}
    cells = {}
    for node, row in distances(component[0], neighbours).items():
        cells[node] = (row, columns.get(row, 0))
        columns[row] = columns.get(row, 0) + 1
    return cells


def distances(start: int, neighbours: Neighbours) -> dict[int, int]:
    """The number of arcs from `start` to every node it reaches."""
    found = {start: 0}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for other in neighbours[node]:
            if other not in found:
                found[other] = found[node] + 1
                waiting.append(other)
    return found
