"""From rows and places to points: as straight and as narrow as the arrangement allows.

Down the page each row has one height, and the gap between rows makes room for the sides of boxes and their labels.
Across the page the points settle under the rules of `spacing`, twice: the second time arcs that came out nearly
upright are held upright.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from platewright.drawing.layers import Skeleton
from platewright.drawing.ordering import Arrangement
from platewright.drawing.plate_boxes import Box, do_meet, outwards, plate_boxes
from platewright.drawing.settling import solved, stiffened
from platewright.drawing.spacing import clearings_of, rules_of, springs_of, sweep_order

ROW_GAP = 50.0
TOP_PAD = 14.0
BOTTOM_PAD = 28.0
TOP_STEP = 10.0
BOTTOM_STEP = 22.0
CLEAR = 20.0


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
