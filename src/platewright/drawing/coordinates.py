"""From rows and places to points: as straight and as narrow as the arrangement allows.

Down the page each row has one height, and the gap between rows makes room for the sides of boxes and their labels.
Across the page, every rule (a node keeps its distance, a box holds its nodes and keeps others out) has the form
x_b - x_a >= gap, and arcs pull their ends together:

    minimise  sum over arcs of (x_source - x_target)^2    subject to the rules

Each round moves every point towards the mean of its neighbours and then back to the nearest legal positions
(Hildreth's method: one multiplier a rule). A last sweep from left to right makes the rules hold exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import inf
from typing import Sequence

from platewright.drawing.layers import Skeleton
from platewright.drawing.ordering import Arrangement
from platewright.drawing.plate_boxes import Box, do_meet, outwards, plate_boxes, share_rows

NODE_GAP = 26.0
BOX_PAD = 16.0
BOX_GAP = 18.0
BOX_STEP = 10.0
ROW_GAP = 50.0
TOP_PAD = 14.0
BOTTOM_PAD = 28.0
TOP_STEP = 10.0
BOTTOM_STEP = 22.0
CLEAR = 20.0
ROUNDS = 80
PASSES = 8
UPRIGHT = 9.0
STIFF = 60.0
CLEARING_GAP = 16.0
CLEARING_FORCE = 400.0

Rule = tuple[int, int, float]
Spring = tuple[int, int, float]
Terms = tuple[tuple[int, float], ...]
Clearing = tuple[Terms, float]


@dataclass(frozen=True)
class Rectangle:
    """A rectangle on the page, in pixels."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Coordinates:
    """The centre of each node, and the rectangle of each box."""

    centres: tuple[tuple[float, float], ...]
    boxes: tuple[tuple[Box, Rectangle], ...]


def coordinates(
    skeleton: Skeleton,
    arrangement: Arrangement,
    sizes: Sequence[tuple[float, float]],
    label_widths: Sequence[float],
) -> Coordinates:
    """Points for an arrangement of nodes of these sizes and plates with labels of these widths."""
    boxes = outwards(plate_boxes(skeleton, arrangement.rows, arrangement.places))
    widths = [width for width, _ in sizes]
    springs = springs_of(skeleton, arrangement, boxes)
    rules = rules_of(arrangement, boxes, widths, label_widths)
    order = sweep_order(arrangement, boxes)
    clearings = clearings_of(skeleton, arrangement, widths)
    rough = solved(springs, rules, clearings, order, [0.0] * len(order))
    across = solved(stiffened(springs, rough), rules, clearings, order, rough)
    tops = side_levels(boxes, "top")
    bottoms = side_levels(boxes, "bottom")
    heights = row_heights(arrangement.rows, [height for _, height in sizes])
    down = row_centres(heights, boxes, tops, bottoms)
    count = skeleton.count
    rectangles = tuple(
        Rectangle(
            across[count + 2 * number],
            down[box.top] - heights[box.top] / 2 - TOP_PAD - TOP_STEP * tops[number],
            across[count + 2 * number + 1],
            down[box.bottom] + heights[box.bottom] / 2 + BOTTOM_PAD + BOTTOM_STEP * bottoms[number],
        )
        for number, box in enumerate(boxes)
    )
    centres = tuple((across[node], down[arrangement.rows[node]]) for node in range(count))
    return Coordinates(centres, tuple(zip(boxes, rectangles, strict=True)))


def side_levels(boxes: Sequence[Box], side: str) -> list[int]:
    """How many boxes lie inside each box at its top or bottom side; `boxes` come inner first."""
    levels: list[int] = []
    for box in boxes:
        inside = [
            level
            for other, level in zip(boxes, levels, strict=False)
            if getattr(other, side) == getattr(box, side) and do_meet(other, box)
        ]
        levels.append(max(inside, default=-1) + 1)
    return levels


def row_heights(rows: Sequence[int], heights: Sequence[float]) -> list[float]:
    """The height of the tallest node of each row."""
    tallest = [0.0] * (max(rows, default=-1) + 1)
    for row, height in zip(rows, heights, strict=True):
        tallest[row] = max(tallest[row], height)
    return tallest


def row_centres(
    heights: Sequence[float], boxes: Sequence[Box], tops: Sequence[int], bottoms: Sequence[int]
) -> list[float]:
    """The height of each row on the page."""
    above = [0.0] * len(heights)
    below = [0.0] * len(heights)
    for box, top, bottom in zip(boxes, tops, bottoms, strict=True):
        above[box.top] = max(above[box.top], TOP_PAD + TOP_STEP * top)
        below[box.bottom] = max(below[box.bottom], BOTTOM_PAD + BOTTOM_STEP * bottom)
    centres: list[float] = []
    for row, height in enumerate(heights):
        if not row:
            centres.append(height / 2)
            continue
        gap = max(ROW_GAP, below[row - 1] + above[row] + CLEAR)
        centres.append(centres[-1] + heights[row - 1] / 2 + gap + height / 2)
    return centres


def rules_of(
    arrangement: Arrangement, boxes: Sequence[Box], widths: Sequence[float], label_widths: Sequence[float]
) -> list[Rule]:
    """All distances to keep across the page; box number k has its sides at `count + 2 k` and the next."""
    rows, places = arrangement.rows, arrangement.places
    count = len(rows)
    rules: list[Rule] = []
    order = sorted(range(count), key=lambda node: (rows[node], places[node]))
    for first, second in zip(order, order[1:], strict=False):
        if rows[first] == rows[second]:
            rules.append((first, second, (widths[first] + widths[second]) / 2 + NODE_GAP))
    for number, box in enumerate(boxes):
        left, right = count + 2 * number, count + 2 * number + 1
        rules.append((left, right, label_widths[box.plate]))
        for node in range(count):
            half = widths[node] / 2
            if node in box.nodes:
                rules += [(left, node, half + BOX_PAD), (node, right, half + BOX_PAD)]
            elif box.top <= rows[node] <= box.bottom:
                rules.append((node, left, half + BOX_GAP) if places[node] < box.left else (right, node, half + BOX_GAP))
    for inner, outer in combinations(range(len(boxes)), 2):
        rules += pair_rules(inner, outer, boxes, count)
    return rules


def pair_rules(inner: int, outer: int, boxes: Sequence[Box], count: int) -> list[Rule]:
    """The distances between the sides of two boxes; where both sides start at one place, `outer` goes outside."""
    first, second = boxes[inner], boxes[outer]
    if not share_rows(first, second):
        return []
    first_left, second_left = count + 2 * inner, count + 2 * outer
    first_right, second_right = first_left + 1, second_left + 1
    if first.right < second.left:
        return [(first_right, second_left, BOX_GAP)]
    if second.right < first.left:
        return [(second_right, first_left, BOX_GAP)]
    lefts = (first_left, second_left) if first.left < second.left else (second_left, first_left)
    rights = (second_right, first_right) if first.right > second.right else (first_right, second_right)
    return [(*lefts, BOX_STEP), (*rights, BOX_STEP)]


def clearings_of(skeleton: Skeleton, arrangement: Arrangement, widths: Sequence[float]) -> list[Clearing]:
    """Wishes that a long straight arc passes beside each node of the rows between its ends."""
    rows, places = arrangement.rows, arrangement.places
    clearings: list[Clearing] = []
    for source, target in skeleton.arcs:
        upper, lower = (source, target) if rows[source] < rows[target] else (target, source)
        for node in range(skeleton.count):
            if not rows[upper] < rows[node] < rows[lower]:
                continue
            share = (rows[node] - rows[upper]) / (rows[lower] - rows[upper])
            place = (1 - share) * places[upper] + share * places[lower]
            side = 1.0 if places[node] >= place else -1.0
            factors = ((node, side), (upper, -side * (1 - share)), (lower, -side * share))
            clearings.append((factors, widths[node] / 2 + CLEARING_GAP))
    return clearings


def sweep_order(arrangement: Arrangement, boxes: Sequence[Box]) -> list[int]:
    """All points from left to right: every rule goes forwards in this order, so the rules never contradict."""
    count = len(arrangement.places)
    keys = [(place, 1, 0) for place in arrangement.places]
    for number, box in enumerate(boxes):
        keys += [(box.left, 0, -number), (box.right, 2, number)]
    return sorted(range(count + 2 * len(boxes)), key=lambda point: keys[point])


def springs_of(skeleton: Skeleton, arrangement: Arrangement, boxes: Sequence[Box]) -> list[Spring]:
    """What pulls together: arcs between rows strongly, arcs in a row and the sides of boxes weakly."""
    rows = arrangement.rows
    count = skeleton.count
    regions = [frozenset(plate for plate, members in enumerate(skeleton.plates) if node in members) for node in range(count)]
    springs = [
        (first, second, 0.1 if rows[first] == rows[second] else 3.0 if regions[first] == regions[second] else 1.0)
        for first, second in skeleton.arcs
    ]
    for number, box in enumerate(boxes):
        left = count + 2 * number
        springs += [(left, left + 1, 0.05)]
        springs += [(side, node, 0.02) for node in sorted(box.nodes) for side in (left, left + 1)]
    order = sorted(range(count), key=lambda node: arrangement.places[node])
    springs += [(first, second, 0.01) for first, second in zip(order, order[1:], strict=False)]
    return springs


def stiffened(springs: Sequence[Spring], points: Sequence[float]) -> list[Spring]:
    """The springs, with those that are nearly upright made stiff, so that they become upright."""
    return [
        (first, second, weight * STIFF if weight >= 1 and abs(points[first] - points[second]) < UPRIGHT else weight)
        for first, second, weight in springs
    ]


def solved(
    springs: Sequence[Spring],
    rules: Sequence[Rule],
    clearings: Sequence[Clearing],
    order: Sequence[int],
    start: Sequence[float],
) -> list[float]:
    """Positions that obey every rule, make most clearings and stretch the springs little."""
    forwards: dict[int, list[tuple[int, float]]] = {point: [] for point in order}
    for first, second, gap in rules:
        forwards[first].append((second, gap))
    points = pushed(start, forwards, order)
    weights = [1e-9] * len(order)
    for first, second, weight in springs:
        weights[first] += weight
        weights[second] += weight
    ease = [1 / weight for weight in weights]
    terms: list[tuple[Terms, float, float]] = [
        (((first, -1.0), (second, 1.0)), gap, inf) for first, second, gap in rules
    ]
    terms += [(clearing, gap, CLEARING_FORCE) for clearing, gap in clearings]
    forces = [0.0] * len(terms)
    for _ in range(ROUNDS):
        pulls = [0.0] * len(order)
        for first, second, weight in springs:
            pulls[first] += weight * (points[second] - points[first])
            pulls[second] += weight * (points[first] - points[second])
        wanted = [point + 0.5 * pull * give for point, pull, give in zip(points, pulls, ease, strict=True)]
        points, forces = nearest_legal(wanted, terms, ease, forces)
    points = pushed([round(point, 1) for point in points], forwards, order)
    return [round(point, 1) for point in points]


def nearest_legal(
    wanted: Sequence[float],
    terms: Sequence[tuple[Terms, float, float]],
    ease: Sequence[float],
    forces: Sequence[float],
) -> tuple[list[float], list[float]]:
    """Positions close to `wanted` that (nearly) obey `terms`, and the forces to start the next round with.

    Each term says: sum of factor * position >= gap, and no more than `most` force is spent on it.
    """
    points, spent = list(wanted), list(forces)
    for (factors, _, _), force in zip(terms, spent, strict=True):
        for point, factor in factors:
            points[point] += factor * force * ease[point]
    gives = [sum(factor * factor * ease[point] for point, factor in factors) for factors, _, _ in terms]
    for _ in range(PASSES):
        for number, (factors, gap, most) in enumerate(terms):
            lacking = gap - sum(factor * points[point] for point, factor in factors)
            step = min(max(lacking / gives[number], -spent[number]), most - spent[number])
            if step:
                spent[number] += step
                for point, factor in factors:
                    points[point] += factor * step * ease[point]
    return points, spent


def pushed(
    points: Sequence[float], forwards: dict[int, list[tuple[int, float]]], order: Sequence[int]
) -> list[float]:
    """The positions after whatever is too close has been pushed to the right."""
    found = list(points)
    for first in order:
        for second, gap in forwards[first]:
            found[second] = max(found[second], found[first] + gap)
    return found
