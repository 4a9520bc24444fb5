"""The shape of a node: how much room it takes and where a line to its centre meets its edge.

random, undirected     ellipse               deterministic   double ellipse
input                  dashed ellipse        statistic       filled square, widened to its label
constant               small rectangle
action                 square, widened        utility         diamond
"""

from __future__ import annotations

from math import hypot
from typing import NamedTuple

from platewright.drawing.lettering import shortened, text_width
from platewright.drawing.picture import PictureNode

LABEL_SIZE = 14.0
SMALL_LABEL_SIZE = 12.0
ELLIPSE_HEIGHT = 40.0
ELLIPSE_WIDTH = 54.0
RECTANGLE_HEIGHT = 24.0
DOUBLE_GAP = 3.5
# an ellipse 40 high is still 0.92 of its width at the top and bottom of a line of text 16 high
CHORD = 0.92
DIAMOND_HEIGHT = 56.0
# a diamond 56 high is 0.75 of its width 7 above and below its middle
DIAMOND_CHORD = 0.75


class Shape(NamedTuple):
    """A node's outline around its centre."""

    x: float
    y: float
    width: float
    height: float
    is_round: bool
    is_diamond: bool = False


def is_round(node: PictureNode) -> bool:
    """Whether the node is drawn as an ellipse."""
    return node.kind not in ("statistic", "constant", "action", "utility")


def label_size(node: PictureNode) -> float:
    """The size of the letters in the node."""
    return SMALL_LABEL_SIZE if node.kind in ("statistic", "constant") else LABEL_SIZE


def node_label(node: PictureNode) -> str:
    """The label as drawn: on one line, and cut when it is very long."""
    return shortened(node.label or node.name)


def node_size(node: PictureNode) -> tuple[float, float]:
    """Width and height of the outline; the label always fits inside."""
    width = text_width(node_label(node), label_size(node))
    if node.kind == "action":
        return max(ELLIPSE_HEIGHT, round(width + 18)), ELLIPSE_HEIGHT
    if node.kind == "utility":
        return max(DIAMOND_HEIGHT, round((width + 6) / DIAMOND_CHORD)), DIAMOND_HEIGHT
    if not is_round(node):
        return max(RECTANGLE_HEIGHT, round(width + 14)), RECTANGLE_HEIGHT
    inner = DOUBLE_GAP if node.kind == "deterministic" else 0.0
    return max(ELLIPSE_WIDTH, round((width + 8) / CHORD + 2 * inner)), ELLIPSE_HEIGHT


def edge_point(shape: Shape, x: float, y: float, gap: float = 0.0) -> tuple[float, float]:
    """Where the line from the centre towards (x, y) leaves the shape, `gap` further out."""
    across, down = x - shape.x, y - shape.y
    length = hypot(across, down)
    if not length:
        return shape.x, shape.y
    reach = length * edge_share(shape, across, down) + gap
    return shape.x + across * reach / length, shape.y + down * reach / length


def edge_share(shape: Shape, across: float, down: float) -> float:
    """The share of the step (across, down) from the centre that lies inside the shape."""
    horizontal, vertical = abs(across) / (shape.width / 2), abs(down) / (shape.height / 2)
    if shape.is_diamond:
        return 1 / (horizontal + vertical)
    if shape.is_round:
        return 1 / hypot(horizontal, vertical)
    return 1 / max(horizontal, vertical)


def is_inside(shape: Shape, x: float, y: float, margin: float = 0.0) -> bool:
    """Whether a point lies within the shape grown by a margin."""
    horizontal = abs(x - shape.x) / (shape.width / 2 + margin)
    vertical = abs(y - shape.y) / (shape.height / 2 + margin)
    if shape.is_diamond:
        return horizontal + vertical < 1
    if shape.is_round:
        return hypot(horizontal, vertical) < 1
    return max(horizontal, vertical) < 1
