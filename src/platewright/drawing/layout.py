"""Where everything goes: picture -> layout, every node in all of its plates and in no other.

    picture --layers--> rows --ordering--> places --plate_boxes--> boxes --coordinates--> points --routes--> lines

Nested, disjoint and crossed plates are one rectangle each. When plates overlap three or more ways one rectangle may
have to hold a stranger; such a plate is drawn as several rectangles with the same label and colour instead.
The layout depends on the picture only: the same picture has the same layout, to the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import hypot

from platewright.drawing.coordinates import Coordinates, Rectangle, coordinates
from platewright.drawing.layers import Skeleton, skeleton_of
from platewright.drawing.lettering import shortened, text_width
from platewright.drawing.ordering import arrangements
from platewright.drawing.picture import Picture, PictureArc, PictureNode, PicturePlate, check_picture
from platewright.drawing.routes import Route, do_cross, route_arcs
from platewright.drawing.shapes import Shape, is_round, node_size

PLATE_LABEL_SIZE = 12.0
LABEL_MARGIN = 10.0


@dataclass(frozen=True)
class PlacedNode:
    """A node and its outline on the page."""

    node: PictureNode
    shape: Shape


@dataclass(frozen=True)
class PlacedArc:
    """An arc and its line on the page."""

    arc: PictureArc
    route: Route


@dataclass(frozen=True)
class PlacedPlate:
    """A plate and its rectangles on the page, most often one."""

    plate: PicturePlate
    rectangles: tuple[Rectangle, ...]


@dataclass(frozen=True)
class Layout:
    """A picture with a place for everything; plates without nodes have no rectangle."""

    nodes: tuple[PlacedNode, ...]
    arcs: tuple[PlacedArc, ...]
    plates: tuple[PlacedPlate, ...]


def lay_out(picture: Picture) -> Layout:
    """The best of the candidate layouts of a picture."""
    check_picture(picture)
    skeleton = skeleton_of(picture)
    sizes = [node_size(node) for node in picture.nodes]
    label_widths = [text_width(plate_label(plate), PLATE_LABEL_SIZE) + 2 * LABEL_MARGIN for plate in picture.plates]
    candidates = []
    for arrangement in arrangements(skeleton):
        points = coordinates(skeleton, arrangement, sizes, label_widths)
        candidates.append(placed(picture, skeleton, points))
    return min(candidates, key=untidiness)


def plate_label(plate: PicturePlate) -> str:
    """The words at the foot of a plate."""
    name = shortened(plate.label or plate.name)
    return f"{name}: {shortened(plate.size)}" if plate.size else name


def placed(picture: Picture, skeleton: Skeleton, points: Coordinates) -> Layout:
    """The layout that these coordinates make."""
    shapes = [
        Shape(x, y, *node_size(node), is_round(node), node.kind == "utility")
        for node, (x, y) in zip(picture.nodes, points.centres, strict=True)
    ]
    routes = route_arcs(skeleton.arcs, shapes)
    return Layout(
        nodes=tuple(PlacedNode(node, shape) for node, shape in zip(picture.nodes, shapes, strict=True)),
        arcs=tuple(PlacedArc(arc, route) for arc, route in zip(picture.arcs, routes, strict=True)),
        plates=tuple(
            PlacedPlate(plate, tuple(rectangle for box, rectangle in points.boxes if box.plate == number))
            for number, plate in enumerate(picture.plates)
        ),
    )


def untidiness(layout: Layout) -> tuple[int, int]:
    """What is left to be wished for: first plates in pieces, then curves, crossings and length.

    In steps of ten pixels, so that between like layouts the better arrangement, which comes first, is taken.
    """
    pieces = sum(len(plate.rectangles) for plate in layout.plates)
    routes = [placed_arc.route for placed_arc in layout.arcs]
    curves = sum(1 for route in routes if not route.is_straight)
    crossings = sum(1 for first, second in combinations(routes, 2) if do_cross(first, second))
    length = sum(hypot(end[0] - start[0], end[1] - start[1]) for start, _, end, _ in routes)
    return pieces, round((80 * curves + 80 * crossings + length + spread(layout.nodes)) / 10)


def spread(nodes: Sequence[PlacedNode]) -> float:
    """Half the way around the page."""
    if not nodes:
        return 0.0
    across = [placed_node.shape.x for placed_node in nodes]
    down = [placed_node.shape.y for placed_node in nodes]
    return max(across) - min(across) + max(down) - min(down)
