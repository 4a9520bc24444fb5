"""What is wrong with an arrangement, as numbers to be made small.

An arrangement gives each node a row and a place: one order of all nodes from left to right, so that nodes of different
rows can be compared too. Arcs are straight lines between (place, row) points.

The first number counts the boxes beyond one a plate; nothing else may be bought with it. The second adds, in falling
weight: boxes that meet without sharing a node, arcs across nodes, arcs across arcs, arcs across plates that neither
end is on, children of one parent in different rows, and length.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import inf

from platewright.drawing.layers import Skeleton
from platewright.drawing.plate_boxes import Box, broken_plates, do_meet, plate_boxes

FALSE_MEETING = 200.0
ACROSS_NODE = 8.0
ACROSS_ARC = 7.0
ACROSS_PLATE = 3.0
SIDEWAYS = 0.8
DOWNWARDS = 2.0
BOX_WIDTH = 0.3
BOX_HEIGHT = 0.8
ROW = 1.0
TWINS_APART = 4.5
BEFORE_DECLARED = 0.15


def penalty(
    skeleton: Skeleton, rows: Sequence[int], places: Sequence[int], most_boxes: float = inf
) -> tuple[int, float]:
    """How bad an arrangement is: boxes too many, then the weighted sum of everything else.

    When there are more than `most_boxes` too many, nobody will ask for the rest, which is then infinite.
    """
    if (broken := broken_plates(skeleton, rows, places)) > most_boxes:
        return broken, inf
    boxes = plate_boxes(skeleton, rows, places)
    too_many = len(boxes) - sum(1 for members in skeleton.plates if members)
    total = ROW * (max(rows) - min(rows)) if rows else 0.0
    total += FALSE_MEETING * false_meetings(boxes)
    total += ACROSS_ARC * arc_crossings(skeleton.arcs, rows, places)
    total += TWINS_APART * sum(1 for first, second in skeleton.twins if rows[first] != rows[second])
    for box in boxes:
        total += BOX_WIDTH * (box.right - box.left) + BOX_HEIGHT * (box.bottom - box.top)
    for arc in skeleton.arcs:
        total += arc_penalty(arc, boxes, rows, places)
    return too_many, total + BEFORE_DECLARED * inversions(rows, places)


def false_meetings(boxes: Sequence[Box]) -> int:
    """Pairs of boxes that meet though no node is on both."""
    return sum(1 for first, second in combinations(boxes, 2) if do_meet(first, second) and not first[1] & second[1])


def arc_crossings(arcs: Sequence[tuple[int, int]], rows: Sequence[int], places: Sequence[int]) -> int:
    """Pairs of arcs that cross away from their ends."""
    lines = [(source, target, places[source], rows[source], places[target], rows[target]) for source, target in arcs]
    crossings = 0
    for (a, b, ax, ay, bx, by), (c, d, cx, cy, dx, dy) in combinations(lines, 2):
        if a in (c, d) or b in (c, d):
            continue
        run, rise = bx - ax, by - ay
        if (run * (cy - ay) - rise * (cx - ax)) * (run * (dy - ay) - rise * (dx - ax)) >= 0:
            continue
        run, rise = dx - cx, dy - cy
        if (run * (ay - cy) - rise * (ax - cx)) * (run * (by - cy) - rise * (bx - cx)) < 0:
            crossings += 1
    return crossings


def arc_penalty(arc: tuple[int, int], boxes: Sequence[Box], rows: Sequence[int], places: Sequence[int]) -> float:
    """The length of one arc, and what it runs across in the rows between its ends."""
    source, target = arc
    left, right = sorted((places[source], places[target]))
    if rows[source] == rows[target]:
        between = sum(1 for node, row in enumerate(rows) if row == rows[source] and left < places[node] < right)
        return SIDEWAYS * (right - left) + ACROSS_NODE * between
    upper, lower = (source, target) if rows[source] < rows[target] else (target, source)
    height = rows[lower] - rows[upper]
    total = SIDEWAYS * (right - left) + DOWNWARDS * (height - 1)
    for row in range(rows[upper] + 1, rows[lower]):
        place = places[upper] + (places[lower] - places[upper]) * (row - rows[upper]) / height
        total += ACROSS_NODE * sum(
            1 for node, other in enumerate(rows) if other == row and abs(places[node] - place) < 0.7
        )
        total += ACROSS_PLATE * sum(
            1
            for _, nodes, first, last, top, bottom in boxes
            if top <= row <= bottom and first <= place <= last and source not in nodes and target not in nodes
        )
    return total


def inversions(rows: Sequence[int], places: Sequence[int]) -> int:
    """Pairs in one row that stand against the order in which they were declared."""
    return sum(
        1
        for first, second in combinations(range(len(rows)), 2)
        if rows[first] == rows[second] and places[first] > places[second]
    )
