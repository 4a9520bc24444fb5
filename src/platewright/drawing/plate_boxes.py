"""Plates as boxes on a grid of rows and places, before anything has a size.

    place    0   1   2   3            user: rows 0-1, places 0-1
    row 0    u       v                item: rows 0-1, places 1-2     crossed: r lies in both
    row 1        r       mu           mu lies in neither

The law: a box never holds a node that is not on its plate. A plate whose single box would break the law is drawn as
several boxes with one label and one colour; that happens only when plates overlap three or more ways.
"""

from __future__ import annotations

from typing import Iterable, NamedTuple, Sequence

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
    for plate, members in enumerate(skeleton.plates):
        if not members:
            continue
        strangers = [node for node in range(skeleton.count) if node not in members]
        whole = box_around(plate, members, rows, places)
        if not holds_any(whole, strangers, rows, places):
            boxes.append(whole)
            continue
        across = runs_of(plate, sorted(members, key=lambda node: places[node]), strangers, rows, places)
        down = runs_of(plate, sorted(members, key=lambda node: (rows[node], places[node])), strangers, rows, places)
        boxes.extend(down if len(down) < len(across) else across)
    return boxes


def box_around(plate: int, nodes: Iterable[int], rows: Sequence[int], places: Sequence[int]) -> Box:
    """The smallest box that holds these nodes."""
    held = frozenset(nodes)
    across = [places[node] for node in held]
    down = [rows[node] for node in held]
    return Box(plate, held, min(across), max(across), min(down), max(down))


def holds_any(box: Box, nodes: Iterable[int], rows: Sequence[int], places: Sequence[int]) -> bool:
    """Whether any of these nodes lies in the box."""
    _, _, left, right, top, bottom = box
    return any(left <= places[node] <= right and top <= rows[node] <= bottom for node in nodes)


def runs_of(
    plate: int, members: Sequence[int], strangers: Sequence[int], rows: Sequence[int], places: Sequence[int]
) -> list[Box]:
    """Boxes around the longest runs of members that hold no stranger; a run of one always does."""
    boxes = [box_around(plate, members[:1], rows, places)]
    for node in members[1:]:
        grown = box_around(plate, boxes[-1].nodes | {node}, rows, places)
        if holds_any(grown, strangers, rows, places):
            boxes.append(box_around(plate, [node], rows, places))
        else:
            boxes[-1] = grown
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
