"""Plates as boxes on a grid of rows and places, before anything has a size.

    place    0   1   2   3            user: rows 0-1, places 0-1
    row 0    u       v                item: rows 0-1, places 1-2     crossed: r lies in both
    row 1        r       mu           mu lies in neither

The law: a box never holds a node that is not on its plate. A plate whose single box would break the law is drawn as
several boxes with one label and one colour; that happens only when plates overlap three or more ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from platewright.drawing.layers import Skeleton


class Box(NamedTuple):
    """One box of a plate: its nodes and the places and rows that it spans, ends included."""

    plate: int
    nodes: frozenset[int]
    left: int
    right: int
    top: int
    bottom: int


def plate_boxes(skeleton: Skeleton, rows: Sequence[int], places: Sequence[int]) -> list[Box]:
    """The boxes of all plates, as few as the law allows for these rows and places."""
    boxes: list[Box] = []
    for whole in whole_boxes(skeleton, rows, places):
        strangers = strangers_in(whole, rows, places)
        if not strangers:
            boxes.append(whole)
            continue
        across = sorted(whole.nodes, key=lambda node: places[node])
        down = sorted(whole.nodes, key=lambda node: (rows[node], places[node]))
        runs = [runs_of(whole.plate, members, strangers, rows, places) for members in (across, down)]
        boxes += runs[1] if len(runs[1]) < len(runs[0]) else runs[0]
    return boxes


def broken_plates(skeleton: Skeleton, rows: Sequence[int], places: Sequence[int]) -> int:
    """How many plates cannot be one box for these rows and places."""
    return sum(1 for whole in whole_boxes(skeleton, rows, places) if strangers_in(whole, rows, places))


def whole_boxes(skeleton: Skeleton, rows: Sequence[int], places: Sequence[int]) -> list[Box]:
    """For each plate that has nodes the one box around them, whether or not it holds strangers."""
    boxes = []
    for plate, members in enumerate(skeleton.plates):
        if members:
            across = [places[node] for node in members]
            down = [rows[node] for node in members]
            boxes.append(Box(plate, members, min(across), max(across), min(down), max(down)))
    return boxes


def strangers_in(box: Box, rows: Sequence[int], places: Sequence[int]) -> list[int]:
    """The nodes that lie in the box and are not on its plate, when it is the one box of its plate."""
    _, nodes, left, right, top, bottom = box
    return [
        node
        for node, place in enumerate(places)
        if left <= place <= right and top <= rows[node] <= bottom and node not in nodes
    ]


def runs_of(
    plate: int, members: Sequence[int], strangers: Sequence[int], rows: Sequence[int], places: Sequence[int]
) -> list[Box]:
    """Boxes around the longest runs of members that hold no stranger; a run of one always does."""
    boxes: list[Box] = []
    for node in members:
        place, row = places[node], rows[node]
        if boxes:
            _, nodes, left, right, top, bottom = boxes[-1]
            left, right = min(left, place), max(right, place)
            top, bottom = min(top, row), max(bottom, row)
            if not any(left <= places[other] <= right and top <= rows[other] <= bottom for other in strangers):
                boxes[-1] = Box(plate, nodes | {node}, left, right, top, bottom)
                continue
        boxes.append(Box(plate, frozenset((node,)), place, place, row, row))
    return boxes


def do_meet(first: Box, second: Box) -> bool:
    """Whether two boxes have a cell in common."""
    return share_rows(first, second) and first.left <= second.right and second.left <= first.right


def share_rows(first: Box, second: Box) -> bool:
    """Whether two boxes span a row in common."""
    return first.top <= second.bottom and second.top <= first.bottom


def outwards(boxes: Iterable[Box]) -> list[Box]:
    """Inner boxes first: where two boxes share a side, the later one is drawn around the earlier one."""
    return sorted(boxes, key=lambda box: (len(box.nodes), -box.plate, box.left, box.top))
