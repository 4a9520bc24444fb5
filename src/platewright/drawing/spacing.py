"""What must hold across the page, and what is wished for.

A rule (a, b, gap) says x_b - x_a >= gap: nodes of a row keep their distance, a box holds its nodes and keeps others
out, the sides of boxes do not touch. A spring (a, b, weight) pulls two points together. A clearing is a wish that
a long arc passes beside a node. Points are the nodes, then the left and right side of each box.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from platewright.drawing.layers import Skeleton
from platewright.drawing.ordering import Arrangement
from platewright.drawing.plate_boxes import Box, share_rows
from platewright.drawing.settling import Clearing, Rule, Spring

NODE_GAP = 26.0
BOX_PAD = 16.0
BOX_GAP = 18.0
BOX_STEP = 10.0
CLEARING_GAP = 16.0
IN_REGION, BETWEEN_REGIONS, IN_ROW = 3.0, 1.0, 0.1
BOX_SIDES, BOX_NODE, NEXT_PLACE = 0.05, 0.02, 0.01


def rules_of(
    arrangement: Arrangement, boxes: Sequence[Box], widths: Sequence[float], label_widths: Sequence[float]
) -> list[Rule]:
    """All distances to keep across the page; box number k has its sides at `count + 2 k` and the next."""
    rows, places = arrangement.rows, arrangement.places
    count = len(rows)
    rules: list[Rule] = []
    order = sorted(range(count), key=lambda node: (rows[node], places[node]))
    for first, second in pairwise(order):
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


def springs_of(skeleton: Skeleton, arrangement: Arrangement, boxes: Sequence[Box]) -> list[Spring]:
    """What pulls together: arcs between rows strongly, arcs in a row and the sides of boxes weakly."""
    rows = arrangement.rows
    count = skeleton.count
    regions = [
        frozenset(plate for plate, members in enumerate(skeleton.plates) if node in members) for node in range(count)
    ]
    springs = [
        (
            first,
            second,
            IN_ROW
            if rows[first] == rows[second]
            else IN_REGION
            if regions[first] == regions[second]
            else BETWEEN_REGIONS,
        )
        for first, second in skeleton.arcs
    ]
    for number, box in enumerate(boxes):
        left = count + 2 * number
        springs += [(left, left + 1, BOX_SIDES)]
        springs += [(side, node, BOX_NODE) for node in sorted(box.nodes) for side in (left, left + 1)]
    order = sorted(range(count), key=lambda node: arrangement.places[node])
    springs += [(first, second, NEXT_PLACE) for first, second in pairwise(order)]
    return springs


def sweep_order(arrangement: Arrangement, boxes: Sequence[Box]) -> list[int]:
    """All points from left to right: every rule goes forwards in this order, so the rules never contradict."""
    count = len(arrangement.places)
    keys = [(place, 1, 0) for place in arrangement.places]
    for number, box in enumerate(boxes):
        keys += [(box.left, 0, -number), (box.right, 2, number)]
    return sorted(range(count + 2 * len(boxes)), key=lambda point: keys[point])
