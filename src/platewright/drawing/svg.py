"""A picture as SVG text: standalone, without scripts or references, the same bytes for the same picture.

Random nodes are ellipses, grey when known; deterministic nodes are double ellipses; inputs are dashed; statistics are
filled; constants are small rectangles; actions are squares and utilities diamonds.
Optional arcs are dashed and undirected arcs have no head. There are no ids, so many pictures may stand in one page.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import hypot

from platewright.drawing.coordinates import Rectangle
from platewright.drawing.layout import (
    LABEL_MARGIN,
    PLATE_LABEL_SIZE,
    Layout,
    PlacedArc,
    PlacedNode,
    PlacedPlate,
    lay_out,
    plate_label,
)
from platewright.drawing.lettering import clean_text, shortened, text_width
from platewright.drawing.picture import Picture
from platewright.drawing.routes import Route, curve_point
from platewright.drawing.shapes import DOUBLE_GAP, label_size, node_label

INK = "#1f2933"
LINE = "#3b4754"
PAPER = "#ffffff"
KNOWN = "#d5d9de"
FAINT = "#f4f5f6"
PLATE_COLOURS = ("#4a6785", "#8a5a44", "#4b7a63", "#76588a", "#8a7335", "#4f7f8c")
FONT = "'Source Sans 3', 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"
HALO = f' stroke="{PAPER}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"'
"""Around the label of a plate, so that an arc which must pass behind it leaves it readable."""
MARGIN = 18.0
TITLE_SIZE = 15.0
TITLE_ROOM = 34.0
HEAD_LENGTH = 9.0
HEAD_WIDTH = 7.0


def picture_svg(picture: Picture) -> str:
    """The SVG text of a picture; raises `ValueError` when the picture is not legal."""
    return layout_svg(lay_out(picture), picture.title)


def layout_svg(layout: Layout, title: str = "") -> str:
    """The SVG text of a layout."""
    frame = frame_of(layout, title)
    width, height = frame.right - frame.left, frame.bottom - frame.top
    view = " ".join(number(value) for value in (frame.left, frame.top, width, height))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}"'
        f' viewBox="{view}" role="img" font-family="{escape(FONT)}">',
        f"<title>{escape(clean_text(title) or 'plate diagram')}</title>",
        rectangle_svg(frame, f'fill="{PAPER}"'),
    ]
    if title:
        middle = (frame.left + frame.right) / 2
        lines.append(text_svg(shortened(title, 80), middle, frame.top + 24, TITLE_SIZE, INK, "middle", "600"))
    routes = [placed.route for placed in layout.arcs]
    numbered = sorted(enumerate(layout.plates), key=lambda pair: -largest_area(pair[1]))
    for place, plate in numbered:
        lines += plate_svg(plate, plate_colour(plate, place))
    for arc in layout.arcs:
        lines += arc_svg(arc)
    for place, plate in numbered:
        lines += plate_labels_svg(plate, layout.plates, routes, plate_colour(plate, place))
    for node in layout.nodes:
        lines += node_svg(node)
    return "\n".join([*lines, "</svg>"]) + "\n"


def side_by_side(left: str, right: str, title: str) -> str:
    """Two pictures in one, with an arrow from the first to the second."""
    (one, high), (two, low) = _measures(left), _measures(right)
    height, gap = max(high, low), 56.0
    middle = height / 2
    arrow = (
        f'<path d="M {number(one + 10)} {number(middle)} H {number(one + gap - 12)}" stroke="{LINE}" '
        f'stroke-width="2" fill="none"/>',
        f'<path d="M {number(one + gap - 20)} {number(middle - 6)} L {number(one + gap - 10)} {number(middle)} '
        f'L {number(one + gap - 20)} {number(middle + 6)}" stroke="{LINE}" stroke-width="2" fill="none"/>',
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(one + gap + two)}" height="{number(height)}" '
        f'role="img" font-family="{escape(FONT)}">',
        f"<title>{escape(clean_text(title))}</title>",
        f'<svg y="{number((height - high) / 2)}"{left.removeprefix("<svg").rstrip()}',
        *arrow,
        f'<svg x="{number(one + gap)}" y="{number((height - low) / 2)}"{right.removeprefix("<svg").rstrip()}',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _measures(svg: str) -> tuple[float, float]:
    """Width and height, as the first line of our own pictures says them."""
    words = dict(part.split("=", 1) for part in svg.split(">", 1)[0].split() if part.count("=") == 1)
    return float(words["width"].strip('"')), float(words["height"].strip('"'))


def frame_of(layout: Layout, title: str) -> Rectangle:
    """The page: everything drawn, a margin, and room for the title."""
    across, down = [0.0], [0.0]
    for node in layout.nodes:
        across += [node.shape.x - node.shape.width / 2, node.shape.x + node.shape.width / 2]
        down += [node.shape.y - node.shape.height / 2, node.shape.y + node.shape.height / 2]
    for rectangle in (rectangle for plate in layout.plates for rectangle in plate.rectangles):
        across += [rectangle.left, rectangle.right]
        down += [rectangle.top, rectangle.bottom]
    for x, y in (curve_point(arc.route, step / 8) for arc in layout.arcs for step in range(9)):
        across.append(x)
        down.append(y)
    if layout.nodes:
        across, down = across[1:], down[1:]
    left, right = min(across) - MARGIN, max(across) + MARGIN
    lacking = max(0.0, text_width(shortened(title, 80), TITLE_SIZE) + 2 * MARGIN - (right - left)) / 2
    top = min(down) - MARGIN - (TITLE_ROOM - MARGIN / 2 if title else 0.0)
    return Rectangle(left - lacking, top, right + lacking, max(down) + MARGIN)


def largest_area(plate: PlacedPlate) -> float:
    """The area of the largest rectangle; larger plates are painted first."""
    return max(((side.right - side.left) * (side.bottom - side.top) for side in plate.rectangles), default=0.0)


def plate_colour(plate: PlacedPlate, place: int) -> str:
    """The colour that a plate has in all pictures it is in, or else that of its place in this one."""
    number = place if plate.plate.colour is None else plate.plate.colour
    return PLATE_COLOURS[number % len(PLATE_COLOURS)]


def plate_svg(plate: PlacedPlate, colour: str) -> list[str]:
    """The rectangles of a plate."""
    style = f'rx="9" fill="{colour}" fill-opacity="0.05" stroke="{colour}" stroke-width="1.3"'
    return [rectangle_svg(rectangle, style) for rectangle in plate.rectangles]


def plate_labels_svg(
    plate: PlacedPlate, plates: Sequence[PlacedPlate], routes: Sequence[Route], colour: str
) -> list[str]:
    """The label at the bottom left of each rectangle; at the bottom right when only that corner is free."""
    others = [rectangle for other in plates if other is not plate for rectangle in other.rectangles]
    label = plate_label(plate.plate)
    width = text_width(label, PLATE_LABEL_SIZE)
    lines = []
    for rectangle in plate.rectangles:
        baseline = rectangle.bottom - 9
        left, right = rectangle.left + LABEL_MARGIN, rectangle.right - LABEL_MARGIN
        on_left = Rectangle(left, baseline - 11, left + width, baseline + 3)
        on_right = Rectangle(right - width, baseline - 11, right, baseline + 3)
        if is_free(on_left, rectangle, others, routes) or not is_free(on_right, rectangle, others, routes):
            lines.append(text_svg(label, left, baseline, PLATE_LABEL_SIZE, colour, "start", "500", HALO))
        else:
            lines.append(text_svg(label, right, baseline, PLATE_LABEL_SIZE, colour, "end", "500", HALO))
    return lines


def is_free(spot: Rectangle, around: Rectangle, others: Sequence[Rectangle], routes: Sequence[Route]) -> bool:
    """Whether no arc runs through the spot, and it lies in no plate that crosses the one around it."""
    for other in others:
        holds_around = other.left < around.left and around.right < other.right
        if not holds_around and has_common_point(spot, other):
            return False
    points = [curve_point(route, step / 40) for route in routes for step in range(41)]
    return not any(spot.left < x < spot.right and spot.top < y < spot.bottom for x, y in points)


def has_common_point(first: Rectangle, second: Rectangle) -> bool:
    """Whether two rectangles overlap."""
    beside = first.right < second.left or second.right < first.left
    return not beside and first.top < second.bottom and second.top < first.bottom


def arc_svg(placed: PlacedArc) -> list[str]:
    """The line of an arc and, when it is directed, its head."""
    (start_x, start_y), (control_x, control_y), (end_x, end_y), is_straight = placed.route
    from_x, from_y = (start_x, start_y) if is_straight else (control_x, control_y)
    length = hypot(end_x - from_x, end_y - from_y) or 1.0
    along_x, along_y = (end_x - from_x) / length, (end_y - from_y) / length
    back = HEAD_LENGTH if placed.arc.directed else 0.0
    tail_x, tail_y = end_x - along_x * back, end_y - along_y * back
    # the line ends inside the head, so that its blunt end does not show at the tip
    stop_x, stop_y = tail_x + along_x * min(back, 1.0), tail_y + along_y * min(back, 1.0)
    curve = "L" if is_straight else f"Q {number(control_x)} {number(control_y)}"
    dashes = ' stroke-dasharray="5 4"' if placed.arc.optional else ""
    stroke = 1.3 if placed.arc.weight is None else 0.6 + 3.4 * placed.arc.weight
    lines = [
        f'<path d="M {number(start_x)} {number(start_y)} {curve} {number(stop_x)} {number(stop_y)}"'
        f' fill="none" stroke="{LINE}" stroke-width="{number(stroke)}"{dashes}/>'
    ]
    if placed.arc.directed:
        half_x, half_y = -along_y * HEAD_WIDTH / 2, along_x * HEAD_WIDTH / 2
        corners = [(end_x, end_y), (tail_x + half_x, tail_y + half_y), (tail_x - half_x, tail_y - half_y)]
        points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
        lines.append(f'<polygon points="{points}" fill="{LINE}"/>')
    return lines


def node_svg(placed: PlacedNode) -> list[str]:
    """The outline and the label of a node; the full label is shown on hovering."""
    node, shape = placed.node, placed.shape
    label_colour = PAPER if node.kind == "statistic" else INK
    baseline = shape.y + label_size(node) * 0.35
    label = text_svg(node_label(node), shape.x, baseline, label_size(node), label_colour, "middle", "400")
    return ["<g>", f"<title>{escape(clean_text(node.label or node.name))}</title>", *outline_svg(placed), label, "</g>"]


def outline_svg(placed: PlacedNode) -> list[str]:
    """The outline that tells the kind of the node, shaded when it is known."""
    node, shape = placed.node, placed.shape
    fill = KNOWN if node.known or node.kind == "input" else PAPER
    outline = f'stroke="{INK}" stroke-width="1.3"'
    box = Rectangle(
        shape.x - shape.width / 2, shape.y - shape.height / 2, shape.x + shape.width / 2, shape.y + shape.height / 2
    )
    match node.kind:
        case "statistic":
            return [rectangle_svg(box, f'rx="2" fill="{INK}"')]
        case "constant":
            return [rectangle_svg(box, f'rx="3" fill="{FAINT}" stroke="{INK}" stroke-width="0.9"')]
        case "action":
            return [rectangle_svg(box, f'fill="{PAPER}" {outline}')]
        case "utility":
            corners = ((shape.x, box.top), (box.right, shape.y), (shape.x, box.bottom), (box.left, shape.y))
            points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
            return [f'<polygon points="{points}" fill="{PAPER}" {outline}/>']
        case "input":
            return [ellipse_svg(placed, 0.0, f'fill="{fill}" {outline} stroke-dasharray="4 3"')]
        case "deterministic":
            inner = ellipse_svg(placed, DOUBLE_GAP, f'fill="none" stroke="{INK}" stroke-width="1"')
            return [ellipse_svg(placed, 0.0, f'fill="{fill}" {outline}'), inner]
    return [ellipse_svg(placed, 0.0, f'fill="{fill}" {outline}')]


def ellipse_svg(placed: PlacedNode, inset: float, style: str) -> str:
    """One ellipse, `inset` inside the outline of the node."""
    shape = placed.shape
    return (
        f'<ellipse cx="{number(shape.x)}" cy="{number(shape.y)}"'
        f' rx="{number(shape.width / 2 - inset)}" ry="{number(shape.height / 2 - inset)}" {style}/>'
    )


def rectangle_svg(rectangle: Rectangle, style: str) -> str:
    """One rectangle."""
    width, height = rectangle.right - rectangle.left, rectangle.bottom - rectangle.top
    return (
        f'<rect x="{number(rectangle.left)}" y="{number(rectangle.top)}"'
        f' width="{number(width)}" height="{number(height)}" {style}/>'
    )


def text_svg(text: str, x: float, y: float, size: float, colour: str, anchor: str, weight: str, style: str = "") -> str:
    """One line of text; whatever it holds, it stays text."""
    return (
        f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" font-weight="{weight}"'
        f' text-anchor="{anchor}" fill="{colour}"{style}>{escape(clean_text(text))}</text>'
    )


def number(value: float) -> str:
    """A coordinate with at most one digit after the point, and no negative zero."""
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")
