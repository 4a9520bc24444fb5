"""The law of plates: a node lies inside a rectangle of each of its plates, and outside every other rectangle."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as some

from platewright.drawing.coordinates import Rectangle
from platewright.drawing.layout import Layout, PlacedNode, lay_out
from platewright.drawing.picture import Picture, PictureArc, PictureNode, PicturePlate

PLATES = ("p", "q", "r", "s")


@some.composite
def pictures(draw: some.DrawFn, plates: tuple[str, ...] = PLATES) -> Picture:
    """Up to twelve nodes on random plates, with random arcs of both kinds, cycles included."""
    count = draw(some.integers(1, 12))
    names = [f"n{place}" for place in range(count)]
    labels = some.text(max_size=12)
    nodes = tuple(
        PictureNode(
            name,
            draw(labels),
            draw(some.sampled_from(("random", "deterministic", "input", "undirected", "statistic", "constant"))),
            draw(some.booleans()),
            tuple(sorted(draw(some.sets(some.sampled_from(plates))))),
        )
        for name in names
    )
    pairs = list(combinations(names, 2))
    chosen = draw(some.lists(some.sampled_from(pairs), max_size=14, unique=True)) if pairs else []
    arcs = tuple(
        PictureArc(*(pair if draw(some.booleans()) else pair[::-1]), draw(some.booleans()), draw(some.booleans()))
        for pair in chosen
    )
    return Picture(nodes, arcs, tuple(PicturePlate(plate, plate.upper()) for plate in plates))


def holds(rectangle: Rectangle, placed: PlacedNode) -> bool:
    shape = placed.shape
    across = rectangle.left < shape.x - shape.width / 2 and shape.x + shape.width / 2 < rectangle.right
    return across and rectangle.top < shape.y - shape.height / 2 and shape.y + shape.height / 2 < rectangle.bottom


def touches(rectangle: Rectangle, placed: PlacedNode) -> bool:
    shape = placed.shape
    across = rectangle.left < shape.x + shape.width / 2 and shape.x - shape.width / 2 < rectangle.right
    return across and rectangle.top < shape.y + shape.height / 2 and shape.y - shape.height / 2 < rectangle.bottom


def check_law(layout: Layout) -> None:
    for placed_plate in layout.plates:
        for placed in layout.nodes:
            if placed_plate.plate.name in placed.node.plates:
                assert any(holds(rectangle, placed) for rectangle in placed_plate.rectangles)
            else:
                assert not any(touches(rectangle, placed) for rectangle in placed_plate.rectangles)


@settings(max_examples=80, deadline=None)
@given(pictures())
def test_a_node_lies_in_all_its_plates_and_in_no_other(picture: Picture) -> None:
    check_law(lay_out(picture))


@settings(max_examples=40, deadline=None)
@given(pictures())
def test_nodes_do_not_overlap(picture: Picture) -> None:
    shapes = [placed.shape for placed in lay_out(picture).nodes]
    for first, second in combinations(shapes, 2):
        across = abs(first.x - second.x) >= (first.width + second.width) / 2
        assert across or abs(first.y - second.y) >= (first.height + second.height) / 2


@settings(max_examples=15, deadline=None)
@given(pictures())
def test_the_same_picture_has_the_same_layout(picture: Picture) -> None:
    assert lay_out(picture) == lay_out(picture)


@settings(max_examples=60, deadline=None)
@given(pictures(plates=("p", "q")))
def test_two_plates_are_two_rectangles_however_they_cross(picture: Picture) -> None:
    layout = lay_out(picture)
    for placed_plate in layout.plates:
        has_nodes = any(placed_plate.plate.name in node.plates for node in picture.nodes)
        assert len(placed_plate.rectangles) == int(has_nodes)


@settings(max_examples=40, deadline=None)
@given(some.lists(some.sampled_from([(), ("p",), ("p", "q"), ("p", "q", "r"), ("s",)]), min_size=1, max_size=10))
def test_nested_and_disjoint_plates_are_one_rectangle_each(regions: list[tuple[str, ...]]) -> None:
    nodes = tuple(PictureNode(f"n{place}", "x", "random", False, plates) for place, plates in enumerate(regions))
    layout = lay_out(Picture(nodes, (), tuple(PicturePlate(plate, "3") for plate in PLATES)))
    assert all(len(placed_plate.rectangles) <= 1 for placed_plate in layout.plates)
    check_law(layout)


@settings(max_examples=40, deadline=None)
@given(pictures(plates=("p", "q")))
def test_forward_arcs_go_down(picture: Picture) -> None:
    names = [node.name for node in picture.nodes]
    forward = tuple(
        PictureArc(*sorted((arc.source, arc.target), key=names.index), optional=arc.optional) for arc in picture.arcs
    )
    layout = lay_out(Picture(picture.nodes, forward, picture.plates))
    height = {placed.node.name: placed.shape.y for placed in layout.nodes}
    assert all(height[arc.source] < height[arc.target] for arc in forward)
