"""Pictures whose layout everyone knows."""

from __future__ import annotations

import random

import pytest

from platewright.drawing.layout import Layout, lay_out
from platewright.drawing.picture import Picture, PictureArc, PictureNode, PicturePlate
from platewright.drawing.routes import curve_point
from platewright.drawing.shapes import is_inside


def node(name: str, *plates: str) -> PictureNode:
    return PictureNode(name, name, "random", False, plates)


def point(layout: Layout, name: str) -> tuple[float, float]:
    return next((placed.shape.x, placed.shape.y) for placed in layout.nodes if placed.node.name == name)


def undirected(first: str, second: str) -> PictureArc:
    return PictureArc(first, second, directed=False)


def test_the_parameter_of_a_coin_stands_straight_above_the_tosses() -> None:
    picture = Picture(
        (node("theta"), node("heads", "toss")), (PictureArc("theta", "heads"),), (PicturePlate("toss", "N"),)
    )
    layout = lay_out(picture)
    (theta_x, theta_y), (heads_x, heads_y) = point(layout, "theta"), point(layout, "heads")
    assert abs(theta_x - heads_x) < 1
    assert theta_y < layout.plates[0].rectangles[0].top < heads_y


def test_a_rating_lies_where_user_and_item_cross() -> None:
    nodes = (node("mu"), node("u", "user"), node("v", "item"), node("r", "user", "item"))
    arcs = tuple(PictureArc(parent, "r") for parent in ("mu", "u", "v"))
    layout = lay_out(Picture(nodes, arcs, (PicturePlate("user", "U"), PicturePlate("item", "I"))))
    (user,), (item,) = (placed.rectangles for placed in layout.plates)
    assert max(user.left, item.left) < point(layout, "r")[0] < min(user.right, item.right)


def test_an_inner_plate_lies_wholly_inside_the_outer_one() -> None:
    nodes = (node("theta", "doc"), node("z", "doc", "word"), node("w", "doc", "word"))
    arcs = (PictureArc("theta", "z"), PictureArc("z", "w"))
    layout = lay_out(Picture(nodes, arcs, (PicturePlate("doc", "D"), PicturePlate("word", "W"))))
    (outer,), (inner,) = (placed.rectangles for placed in layout.plates)
    assert outer.left < inner.left < inner.right < outer.right
    assert outer.top < inner.top < inner.bottom < outer.bottom


def test_a_grid_of_neighbours_is_drawn_as_a_grid() -> None:
    names = [[f"s{row}{column}" for column in range(4)] for row in range(4)]
    arcs = [undirected(names[row][column], names[row][column + 1]) for row in range(4) for column in range(3)]
    arcs += [undirected(names[row][column], names[row + 1][column]) for row in range(3) for column in range(4)]
    layout = lay_out(Picture(tuple(node(name) for row in names for name in row), tuple(arcs)))
    assert all(placed.route.is_straight for placed in layout.arcs)
    assert len({placed.shape.y for placed in layout.nodes}) == 4
    assert len({round(placed.shape.x) for placed in layout.nodes}) == 4


def test_an_undirected_path_stays_in_one_row_below_its_parents() -> None:
    nodes = tuple(node(name) for name in "abcd")
    layout = lay_out(Picture(nodes, (PictureArc("a", "c"), undirected("b", "c"), undirected("c", "d"))))
    assert point(layout, "b")[1] == point(layout, "c")[1] == point(layout, "d")[1] > point(layout, "a")[1]


def test_arcs_in_both_directions_do_not_lie_on_each_other() -> None:
    layout = lay_out(Picture((node("a"), node("b")), (PictureArc("a", "b"), PictureArc("b", "a"))))
    first, second = (placed.route for placed in layout.arcs)
    assert abs(first.control[0] - second.control[0]) > 20


def test_a_long_arc_passes_beside_the_node_between_its_ends() -> None:
    nodes = tuple(node(name) for name in "abc")
    layout = lay_out(Picture(nodes, (PictureArc("a", "b"), PictureArc("b", "c"), PictureArc("a", "c"))))
    assert abs(point(layout, "b")[0] - point(layout, "a")[0]) > 27


def test_a_picture_of_nothing_has_a_layout() -> None:
    assert lay_out(Picture(())) == Layout((), (), ())
    assert lay_out(Picture((), (), (PicturePlate("p", "N"),))).plates[0].rectangles == ()


@pytest.mark.parametrize("seed", [1, 10])
def test_an_arc_of_a_large_network_runs_behind_no_node(seed: int) -> None:
    """An arc behind a node looks like two others; these networks had some while curves bent in their middle only."""
    draw = random.Random(seed)
    names: list[str] = []
    arcs: list[PictureArc] = []
    for number in range(25 + seed):
        parents = draw.sample(names, min(len(names), draw.choice([0, 1, 1, 2])))
        arcs += [PictureArc(parent, f"v{number}") for parent in parents]
        names.append(f"v{number}")
    layout = lay_out(Picture(tuple(node(name) for name in names), tuple(arcs)))
    for placed in layout.arcs:
        ends = (placed.arc.source, placed.arc.target)
        others = [other.shape for other in layout.nodes if other.node.name not in ends]
        points = [curve_point(placed.route, step / 100) for step in range(101)]
        assert not any(is_inside(shape, x, y) for shape in others for x, y in points), ends
