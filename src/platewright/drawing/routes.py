"""The line of an arc: straight where nothing is in the way, else the flattest curve that clears every node.

    a ---> b           a --.  c  .--> b
                            `---'

A route is a quadratic curve from edge to edge through a control point beside the middle; on a straight route the
control point is the middle. Among many nodes a curve may bend nearer to one end, and pass closer to nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import hypot
from typing import NamedTuple

from platewright.drawing.shapes import Shape, edge_point, is_inside

Point = tuple[float, float]
SAMPLES = 30
CLEARANCE = 5.0
CLOSE = 1.0
BENDS = (0.0, 24.0, -24.0, 48.0, -48.0, 76.0, -76.0, 110.0, -110.0, 150.0, -150.0, 210.0, -210.0, 300.0, -300.0)
PLACES = (0.5, 0.25, 0.75)
"""Shares of the way at which a curve may bend."""
TWIN_BENDS = tuple(bend for bend in BENDS if bend > 0)
END_GAP = 1.5


class Route(NamedTuple):
    """The drawn line of an arc."""

    start: Point
    control: Point
    end: Point
    is_straight: bool


def route_arcs(arcs: Sequence[tuple[int, int]], shapes: Sequence[Shape]) -> list[Route]:
    """A route for each arc; two arcs between the same nodes bend away from each other."""
    pairs = [frozenset(arc) for arc in arcs]
    return [
        best_route(source, target, shapes, TWIN_BENDS if pairs.count(pair) > 1 else BENDS)
        for (source, target), pair in zip(arcs, pairs, strict=True)
    ]


def best_route(source: int, target: int, shapes: Sequence[Shape], bends: Sequence[float]) -> Route:
    """The first of the curves that meets no other node, or the one that meets fewest."""
    others = [shape for number, shape in enumerate(shapes) if number not in (source, target)]
    fewest, best = len(others) + 1, None
    for place, clearance in ((PLACES[0], CLEARANCE), *product(PLACES, (CLOSE,))):
        for bend in bends:
            route = bent_route(shapes[source], shapes[target], bend, place)
            if not (hits := nodes_hit(route, others, clearance)):
                return route
            if hits < fewest:
                fewest, best = hits, route
    return best or bent_route(shapes[source], shapes[target], 0.0)


def bent_route(source: Shape, target: Shape, bend: float, place: float = 0.5) -> Route:
    """The curve whose control point lies `bend` to the right of a place on the way, seen from the source."""
    across, down = target.x - source.x, target.y - source.y
    length = hypot(across, down) or 1.0
    middle = (source.x + place * across, source.y + place * down)
    control = (middle[0] - down / length * bend, middle[1] + across / length * bend)
    start = edge_point(source, *control)
    end = edge_point(target, *control, gap=END_GAP)
    return Route(start, control, end, bend == 0.0)


def nodes_hit(route: Route, shapes: Sequence[Shape], clearance: float = CLEARANCE) -> int:
    """How many shapes the route runs through or close by."""
    points = [curve_point(route, step / SAMPLES) for step in range(SAMPLES + 1)]
    (left, right), (top, bottom) = ((min(ends), max(ends)) for ends in zip(*points))
    return sum(
        1
        for shape in shapes
        if left - clearance < shape.x + shape.width / 2
        and shape.x - shape.width / 2 < right + clearance
        and top - clearance < shape.y + shape.height / 2
        and shape.y - shape.height / 2 < bottom + clearance
        and any(is_inside(shape, x, y, clearance) for x, y in points)
    )


def curve_point(route: Route, share: float) -> Point:
    """The point that lies this share of the way along the route."""
    (start_x, start_y), (control_x, control_y), (end_x, end_y), is_straight = route
    rest = 1 - share
    if is_straight:
        return rest * start_x + share * end_x, rest * start_y + share * end_y
    first, middle, last = rest * rest, 2 * rest * share, share * share
    return (
        first * start_x + middle * control_x + last * end_x,
        first * start_y + middle * control_y + last * end_y,
    )


def do_cross(first: Route, second: Route) -> bool:
    """Whether the straight lines between the ends of two routes cross."""
    (ax, ay), (bx, by) = first.start, first.end
    (cx, cy), (dx, dy) = second.start, second.end

    def side(px: float, py: float, qx: float, qy: float, rx: float, ry: float) -> float:
        return (qx - px) * (ry - py) - (qy - py) * (rx - px)

    apart = side(ax, ay, bx, by, cx, cy) * side(ax, ay, bx, by, dx, dy) < 0
    return apart and side(cx, cy, dx, dy, ax, ay) * side(cx, cy, dx, dy, bx, by) < 0
